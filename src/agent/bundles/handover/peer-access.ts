// Tested by src/agent/bundles/handover/handover.contract.test.ts
/** Reads and writes of a handover in the cluster, with the agent's own rights and within the local limits. */
import type { Client } from '../../../client/client.ts'
import type { Discovery } from '../../../client/discovery.ts'
import { compact } from '../../../core/compact.ts'
import { isApiError } from '../../../core/errors.ts'
import type { ResourceType, UnknownObject } from '../../../kinds/meta.ts'
import type { LocalLimits } from '../../../plan/apply/local-limits.ts'
import { describeObject } from '../../../plan/objects/object-id.ts'
import type { ObjectId } from '../../../plan/objects/object-id.ts'
import { writableAddress } from '../../cluster/applier.ts'
import { objectAddress, objectIdOf } from '../../cluster/object-address.ts'
import { ObjectFailure, toObjectFailure } from '../../cluster/object-failure.ts'

/** Field manager of the changes that a handover makes to objects of another system. */
const MANAGER = 'flotilla-handover'
const PAGE = 500

/** Ports of the access to another system. */
export interface PeerClusterPorts {
  readonly client: Client
  readonly discovery: Discovery
  readonly localLimits: LocalLimits
}

/** Creates the access. */
export function createPeerAccess({ client, discovery, localLimits }: PeerClusterPorts) {
  async function typeOf(apiVersion: string, kind: string, signal: AbortSignal): Promise<ResourceType | undefined> {
    return discovery.typeOf(apiVersion, kind, signal)
  }

  async function* listAll(
    type: ResourceType,
    options: { readonly labelSelector?: string; readonly namespace?: string; readonly limit?: number },
    signal: AbortSignal,
  ): AsyncIterable<UnknownObject> {
    let token: string | undefined
    do {
      const page = await client.list<UnknownObject>(
        type,
        { limit: PAGE, ...options, ...compact({ continue: token }) },
        signal,
      )
      for (const item of page.items) yield { ...item, apiVersion: apiVersionOf(type), kind: type.kind }
      token = page.continue
    } while (token !== undefined)
  }

  /** Throws when the local limits do not allow the write, or no write with the agent's own rights. */
  function addressToWrite(type: ResourceType, id: ObjectId) {
    if (localLimits.ownRights === false) {
      const why = "this cluster's ceiling has ownRights: false, and a handover needs the rights of the agent"
      throw new ObjectFailure(id, `${describeObject(id)}: ${why}`)
    }
    return writableAddress(localLimits, type, id)
  }

  async function patch(
    object: UnknownObject,
    body: object | undefined,
    signal: AbortSignal,
    fieldManager = MANAGER,
  ): Promise<boolean> {
    if (!body) return false
    const id = objectIdOf(object)
    const type = await typeOf(id.apiVersion, id.kind, signal)
    if (!type) return false
    try {
      await client.patch(type, addressToWrite(type, id), { type: 'merge', body }, { fieldManager, signal })
      return true
    } catch (caught) {
      if (isApiError(caught, 'NotFound')) return false
      throw caught instanceof ObjectFailure ? caught : toObjectFailure(id, caught)
    }
  }

  async function get(id: ObjectId, signal: AbortSignal): Promise<UnknownObject | undefined> {
    const type = await typeOf(id.apiVersion, id.kind, signal)
    if (!type) return undefined
    return client.get<UnknownObject>(type, objectAddress(type, id), signal).catch((caught: unknown) => {
      if (isApiError(caught, 'NotFound')) return undefined
      throw toObjectFailure(id, caught)
    })
  }

  async function remove(object: UnknownObject, signal: AbortSignal): Promise<void> {
    const id: ObjectId = objectIdOf(object)
    const type = await typeOf(id.apiVersion, id.kind, signal)
    const { uid, resourceVersion } = object.metadata
    if (!type || uid === undefined) return
    const address = addressToWrite(type, id)
    await client
      .delete(type, address, { uid, signal, propagationPolicy: 'Orphan', ...compact({ resourceVersion }) })
      .catch((caught: unknown) => {
        if (!isApiError(caught, 'NotFound')) throw toObjectFailure(id, caught)
      })
  }

  return { typeOf, listAll, get, patch, remove }
}

/** The access of a handover to the cluster. */
export type PeerAccess = ReturnType<typeof createPeerAccess>

function apiVersionOf({ group, version }: ResourceType): string {
  return group === '' ? version : `${group}/${version}`
}
