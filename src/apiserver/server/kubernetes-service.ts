import { toError } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { itemsAt, textAt as wordAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { ServerParts } from './context.ts'
import { kubernetesService } from './bootstrap-objects.ts'
import { ensureObject } from '../namespaces/system-namespaces.ts'
import { readObject, storeKey, serializeObject } from '../storage/stored-object.ts'
import { internalAuditLine } from './internal-audit-line.ts'
import type { ResourceRequest } from '../http/request-info.ts'

/**
 * Maintains the Service `kubernetes`, its Endpoints and its EndpointSlice. A kube-apiserver checks them every ten
 * seconds; here the check runs ten seconds after a write to one of these kinds, because every write passes through this
 * server. As in a kube-apiserver, deleted objects are created again and the addresses are corrected, while edits of the
 * Service itself and of the ports of its Endpoints stay.
 */

const LOOK_MS = 10_000
const KEPT: ReadonlySet<string> = new Set(kubernetesService(0).map(({ plural }) => plural))

/** Who looks after them. */
export interface KubernetesServiceController {
  /** Is told of every request for a resource that was served. */
  served(request: Pick<ResourceRequest, 'verb' | 'plural'>): void
  /** Resolves when nothing is under way any more; never rejects. */
  done(): Promise<void>
}

/** Looks after them until the signal is aborted. */
export function startKubernetesService(parts: ServerParts, signal: AbortSignal): KubernetesServiceController {
  let isDue = false
  let looking: Promise<void> | undefined

  async function look(): Promise<void> {
    while (isDue) {
      await parts.clock.sleep(LOOK_MS, signal).catch(() => {})
      if (signal.aborted) return
      isDue = false
      try {
        await mend(parts)
      } catch (caught) {
        isDue = true
        parts.log.error({ err: toError(caught) }, 'service kubernetes could not be reconciled')
      }
    }
    looking = undefined
  }

  return {
    served({ verb, plural }) {
      if (READS.has(verb) || !KEPT.has(plural)) return
      isDue = true
      looking ??= look()
    },
    done: async () => await looking,
  }
}

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

async function mend(parts: ServerParts): Promise<void> {
  let endpoints: UnknownObject | undefined
  for (const { group, plural, object: wanted } of kubernetesService(parts.clock.now())) {
    const kind = parts.registry.find(group, 'v1', plural)
    if (!kind) continue
    await ensureObject(parts, kind, wanted)
    const stored = await readObject(parts.store, kind, wanted.metadata)
    if (!stored || stored.object.metadata.deletionTimestamp) continue
    let next = stored.object
    if (plural === 'endpoints') endpoints = next = mendedEndpoints(next, itemsAt(wanted, 'subsets'))
    else if (plural === 'endpointslices' && endpoints) next = sliceOf(endpoints, next)
    if (jsonEqual(next, stored.object)) continue
    const key = storeKey(kind, wanted.metadata)
    const audit = internalAuditLine(parts, 'system:apiserver', { kind, object: next, verb: 'update' })
    await parts.store.commit({ key, expect: stored.revision, value: serializeObject(next), audit })
  }
}

const SKIP_MIRROR = 'endpointslice.kubernetes.io/skip-mirror'

function mendedEndpoints(object: UnknownObject, wanted: readonly JsonObject[]): UnknownObject {
  const addressesOf = (subset: JsonObject | undefined) =>
    itemsAt(subset, 'addresses')
      .map((address) => wordAt(address, 'ip'))
      .sort()
  const [subset, ...others] = itemsAt(object, 'subsets')
  const isOne = subset !== undefined && others.length === 0
  const isRight = isOne && jsonEqual(addressesOf(subset), addressesOf(wanted[0]))
  const labels = { ...object.metadata.labels, [SKIP_MIRROR]: 'true' }
  return {
    ...object,
    metadata: { ...object.metadata, labels },
    subsets: isRight ? [subset] : isOne ? [{ ...subset, addresses: wanted[0]!['addresses'] }] : wanted,
  }
}

/** The slice as its Endpoints say it; the same when it says so already. */
function sliceOf(endpoints: UnknownObject, slice: UnknownObject): UnknownObject {
  const [subset] = itemsAt(endpoints, 'subsets')
  const said = (field: string, ready: boolean) =>
    itemsAt(subset, field).map((address) => ({ addresses: [address['ip']], conditions: { ready } }))
  const { name } = slice.metadata
  const next: UnknownObject = {
    ...slice,
    metadata: { ...slice.metadata, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [...said('addresses', true), ...said('notReadyAddresses', false)],
    ports: itemsAt(subset, 'ports').map(({ name = '', port, protocol }) => ({ name, port, protocol })),
  }
  if (!jsonEqual(next, slice)) next.metadata.generation = (slice.metadata.generation ?? 0) + 1
  return next
}
