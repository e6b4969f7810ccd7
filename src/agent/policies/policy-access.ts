// Tested by src/agent/policies/policies.contract.test.ts
/**
 * What the evaluation of a policy reads and writes in the cluster: as the executor of its bundle, within the local
 * limits and the limits of the bundle's Project, and never an object that a bundle delivers.
 */
import type { Client } from '../../client/client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { ApiError, isApiError } from '../../core/errors.ts'
import { compact } from '../../core/compact.ts'
import type { ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { readRefusal } from '../../plan/apply/local-limits.ts'
import type { LocalLimits } from '../../plan/apply/local-limits.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import { ClusterRefusal } from '../../plan/policy/policy-ports.ts'
import type { Lookup } from '../../plan/projects/limits.ts'
import { AGENT_NAMESPACE } from '../cluster/agent-objects.ts'
import { isBundleManager, POLICY_MANAGER } from '../cluster/field-manager.ts'
import { objectIdOf } from '../cluster/object-address.ts'
import { ObjectFailure, redactFailure, toObjectFailure } from '../cluster/object-failure.ts'
import { withoutAgent } from '../cluster/read-watches.ts'

/** Ports of the access of one executor and one bundle. */
export interface PolicyAccessPorts {
  readonly client: Client
  readonly discovery: Discovery
  readonly localLimits: LocalLimits
  /** Throws when neither the local limits nor the Project allow a write of the object. */
  readonly checkWrite: (type: ResourceType, id: ObjectId) => void
  /** Why the bundle's Project refuses a lookup; undefined when it allows the lookup. */
  readonly lookupRefusal: (lookup: Lookup) => string | undefined
}

/** The most objects of a kind that one evaluation reads. */
const MOST_LISTED = 5000

/** Creates the access of an executor for a bundle. */
export function createPolicyAccess(ports: PolicyAccessPorts) {
  const { client, discovery, localLimits } = ports

  function refuseRead(type: ResourceType, id: ObjectId): void {
    const namespace = type.scope === 'Namespaced' ? id.namespace : undefined
    if (namespace === AGENT_NAMESPACE) {
      throw new ObjectFailure(id, `namespace ${AGENT_NAMESPACE} belongs to the agent; no policy may read there`)
    }
    const { apiVersion, kind, name } = id
    const isNamespaced = type.scope === 'Namespaced'
    const refusal =
      readRefusal(localLimits, { kind, name, ...compact({ namespace }) }) ??
      ports.lookupRefusal({ apiVersion, kind, namespace, name, isNamespaced })
    if (refusal !== undefined) throw new ObjectFailure(id, refusal)
  }

  async function get(type: ResourceType, namespace: string, name: string, signal: AbortSignal) {
    const id = idOf(type, namespace, name)
    refuseRead(type, id)
    try {
      return await client.get<UnknownObject>(type, addressOf(type, namespace, name), signal)
    } catch (caught) {
      if (isApiError(caught, 'NotFound')) return undefined
      throw toObjectFailure(id, caught)
    }
  }

  /** All objects of a kind, in all namespaces if `namespace` is empty; with a name, the objects of this name. */
  async function list(type: ResourceType, namespace: string, name: string, signal: AbortSignal) {
    const id = idOf(type, namespace, '')
    if (type.scope === 'Namespaced' && namespace === '' && localLimits.namespaces) {
      throw new ObjectFailure(id, `${type.kind} of all namespaces: the local limits allow only some namespaces`)
    }
    if (type.kind === 'Secret' && type.group === '' && namespace === '') {
      throw new ObjectFailure(id, 'Secrets of all namespaces cannot be read; name a namespace')
    }
    refuseRead(type, id)
    const select = {
      limit: MOST_LISTED,
      ...(type.scope === 'Namespaced' && namespace !== '' && { namespace }),
      ...(name !== '' && { fieldSelector: `metadata.name=${name}` }),
    }
    try {
      const page = await client.list<UnknownObject>(type, select, signal)
      if (page.continue) {
        throw new ObjectFailure(id, `${type.kind}: the cluster has more than ${MOST_LISTED} objects; name a namespace`)
      }
      const apiVersion = id.apiVersion
      return withoutAgent(page.items).map((item) => ({ ...item, apiVersion, kind: type.kind }))
    } catch (caught) {
      throw toObjectFailure(id, caught)
    }
  }

  /** Sends a write; a refusal of the cluster or of a limit is a ClusterRefusal. */
  async function write<T>(type: ResourceType, object: UnknownObject, send: () => Promise<T>): Promise<T> {
    try {
      ports.checkWrite(type, objectIdOf(object))
      return await send()
    } catch (caught) {
      throw toRefusal(redactFailure(caught, object))
    }
  }

  const how = { fieldManager: POLICY_MANAGER }
  return {
    typeOf: (apiVersion: string, kind: string, signal: AbortSignal) => discovery.typeOf(apiVersion, kind, signal),
    get,
    list,
    /** The object as the API would have it after an update, which is not stored. */
    async dryRunUpdate(type: ResourceType, object: UnknownObject, signal: AbortSignal): Promise<UnknownObject> {
      // An inform policy needs the right to update for this; the refusal says so.
      return client.update(type, object, { ...how, dryRun: true, signal }).catch((caught: unknown) => {
        throw toRefusal(redactFailure(caught, object))
      })
    },
    update: (type: ResourceType, object: UnknownObject, signal: AbortSignal): Promise<UnknownObject> =>
      write(type, object, async () => {
        refuseDelivered(object)
        return client.update(type, object, { ...how, signal })
      }),
    create: (type: ResourceType, object: UnknownObject, signal: AbortSignal): Promise<UnknownObject> =>
      write(type, object, () => client.create(type, object, { ...how, signal })),
    /** Deletes an object that is known by its UID; true if it is gone. */
    async remove(type: ResourceType, namespace: string, name: string, signal: AbortSignal): Promise<boolean> {
      const live = await get(type, namespace, name, signal)
      if (!live) return true
      return write(type, { ...live, apiVersion: apiVersionOf(type), kind: type.kind }, async () => {
        refuseDelivered(live)
        const precondition = compact({ uid: live.metadata.uid })
        await client.delete(type, addressOf(type, namespace, name), { ...precondition, propagationPolicy: 'Background', signal }) // prettier-ignore
        return (await get(type, namespace, name, signal)) === undefined
      })
    },
  }
}

/** The access of an executor for a bundle. */
export type PolicyAccess = ReturnType<typeof createPolicyAccess>

/** I-05: an object that a bundle delivers has one owner, which is not a policy. */
function refuseDelivered({ metadata, kind }: UnknownObject): void {
  const entry = (metadata.managedFields ?? []).find(
    ({ operation, manager }) => operation === 'Apply' && isBundleManager(manager),
  )
  if (!entry) return
  const where = metadata.namespace === undefined ? '' : `${metadata.namespace}/`
  throw new ClusterRefusal(
    'Other',
    `${kind} ${where}${metadata.name} is delivered by ${entry.manager}, and a policy does not change it; change the bundle`,
  )
}

const REASONS: readonly ClusterRefusal['reason'][] = ['Invalid', 'Conflict', 'NotFound', 'AlreadyExists', 'BadRequest']

function toRefusal(caught: unknown): unknown {
  if (caught instanceof ObjectFailure) return new ClusterRefusal('Other', caught.message)
  if (!(caught instanceof ApiError)) return caught
  // The cluster is overloaded or away: the evaluation is tried again.
  if (['ServiceUnavailable', 'TooManyRequests', 'Timeout', 'InternalError'].includes(caught.reason)) return caught
  const reason = REASONS.find((one) => one === caught.reason) ?? 'Other'
  return new ClusterRefusal(reason, caught.message)
}

function apiVersionOf({ group, version }: ResourceType): string {
  return group === '' ? version : `${group}/${version}`
}

function idOf(type: ResourceType, namespace: string, name: string): ObjectId {
  const isNamed = type.scope === 'Namespaced' && namespace !== ''
  return { apiVersion: apiVersionOf(type), kind: type.kind, name, ...(isNamed && { namespace }) }
}

function addressOf(type: ResourceType, namespace: string, name: string) {
  return type.scope === 'Namespaced' ? { namespace: namespace === '' ? 'default' : namespace, name } : { name }
}
