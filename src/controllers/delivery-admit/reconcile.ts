// Tested by src/sim/fleet/delivery.sim.test.ts
import { compact } from '../../core/compact.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Waiting } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import { nameSome, plural } from '../../core/text/name-some.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import { keyOf } from '../../kinds/meta.ts'
import { REMOVAL_FINALIZER } from '../../kinds/native/bundle.ts'
import { deliveredTo, deliveryEntryId, deliveryEntryName } from '../../kinds/native/delivery.ts'
import type { Delivery } from '../../kinds/native/delivery.ts'
import { admitDelivery, deliveryRevision } from '../../plan/document/delivery.ts'
import type { AdmittedDelivery, DeliveryRevision, DeliveryVariant, DeliveryWait } from '../../plan/document/delivery.ts'
import { rowOf } from '../../plan/fleet/view-rows.ts'
import type { Row } from '../../plan/fleet/view-rows.ts'
import { LIMITS } from '../../wire/limits.ts'
import type { DeliveryAdmitPorts } from './ports.ts'

/** Time after which no document can be under way that was assembled from an older record. */
const SETTLED_MS = 60_000
/** Time after which a missing set is looked for again. */
const SET_RETRY_MS = 30_000

/** Records which clusters get, have or lose the content of a Delivery. */
export function deliveryAdmitReconciler(ports: DeliveryAdmitPorts): Reconciler<Delivery> {
  return {
    name: 'delivery-admit',
    async reconcile(draft: Draft<Delivery>, { clock }: Context): Promise<Result> {
      const delivery = draft.next
      const { metadata, status = {} } = delivery
      const { finalizers = [] } = metadata
      const isOurs = finalizers.includes(REMOVAL_FINALIZER)
      const deleted = metadata.deletionTimestamp !== undefined
      if (deleted && !isOurs) return {}
      if (!deleted && !isOurs) {
        metadata.finalizers = [...finalizers, REMOVAL_FINALIZER]
        return {}
      }
      const revision = deleted ? status.revision : await revisionOf(delivery, ports)
      const now = clock.now()
      const decided = admitDelivery({
        clusters: delivery.spec.clusters,
        deleted,
        policies: delivery.spec.options?.delete ?? {},
        revision,
        admissions: status.admissions ?? [],
        holders: ports.holdersOf(delivery),
        clusterOf: (cluster) => ports.clusterOf(delivery, cluster)?.facts,
        now: formatTime(now),
        isSettled: (admittedAt) => now - (parseTime(admittedAt) ?? 0) >= SETTLED_MS,
        maxEntries: LIMITS.bundles,
      })
      if (deleted && decided.admissions.length === 0) {
        metadata.finalizers = finalizers.filter((finalizer) => finalizer !== REMOVAL_FINALIZER)
        return {}
      }
      return writeStatus(draft, { revision, decided, ports })
    },
  }
}

async function revisionOf(delivery: Delivery, ports: DeliveryAdmitPorts): Promise<DeliveryRevision> {
  const { spec } = delivery
  const storedSet = async (from: Digest): Promise<Digest> => {
    const set = await ports.storeSet(delivery, from)
    if (set !== undefined) return set
    throw new Waiting(
      'SetNotFound',
      `Set ${from} is not stored on this hub; clusters keep what they have.`,
      SET_RETRY_MS,
    )
  }
  const set = await storedSet(spec.set)
  const variants: DeliveryVariant[] = []
  for (const variant of spec.variants ?? [])
    variants.push({ set: await storedSet(variant.set), clusters: variant.clusters })
  const graves = spec.clusters.map((cluster) => ports.clusterOf(delivery, cluster)?.facts.buried?.generation)
  return deliveryRevision(
    delivery.status?.revision,
    { set, variants: spec.variants && variants },
    {
      highestAssigned: ports.highestAssigned(delivery),
      highestBuried: Math.max(0, ...graves.map((generation) => generation ?? 0)),
    },
  )
}

interface Outcome {
  readonly revision: DeliveryRevision | undefined
  readonly decided: AdmittedDelivery
  readonly ports: DeliveryAdmitPorts
}

function writeStatus(draft: Draft<Delivery>, { revision, decided, ports }: Outcome): Result {
  const delivery = draft.next
  const { status: before } = draft.seen
  const rows = rowsOf(delivery, { revision, decided, ports })
  const counts: Record<string, number> = {}
  for (const { state = 'Pending' } of rows) counts[state] = (counts[state] ?? 0) + 1
  const ready = readiness(delivery, rows, decided)
  const admissions = decided.admissions.map(({ removal, set, ...one }) => ({ ...one, ...compact({ removal, set }) }))
  const isRecorded =
    jsonEqual(before?.admissions ?? [], admissions) && jsonEqual(before?.revision, revision && stored(revision))
  const was = before?.conditions?.find(({ type }) => type === 'Ready')
  const isSame = was?.reason === ready.reason && before?.observedGeneration === delivery.metadata.generation
  // A removal whose receipt never comes settles by time.
  const settles = admissions.some(({ removal }) => removal) ? { requeueAfterMs: SETTLED_MS } : {}
  const waitMs = ports.pace.waitMs(keyOf(delivery))
  if (isRecorded && isSame && waitMs > 0 && !jsonEqual(before?.counts, counts)) {
    return { unchanged: true, requeueAfterMs: waitMs }
  }
  delivery.status = {
    ...delivery.status,
    ...compact({ revision: revision && stored(revision) }),
    admissions,
    total: rows.length,
    counts,
  }
  const wait = decided.waits[0]
  if (wait) draft.conditions.set('Admitted', 'False', wait.reason, waitMessage(decided.waits))
  else draft.conditions.set('Admitted', 'True', 'Admitted', `Admitted for ${plural(rows.length, 'cluster')}.`)
  draft.conditions.set('Ready', ready.status, ready.reason, ready.message)
  if (!jsonEqual(draft.seen.status?.counts, counts) || !isRecorded) ports.pace.note(keyOf(delivery))
  return settles
}

type StoredRevision = NonNullable<NonNullable<Delivery['status']>['revision']>

function stored({ variants, ...revision }: DeliveryRevision): StoredRevision {
  const own = variants?.map(({ set, clusters }) => ({ set, clusters: [...clusters] }))
  return { ...revision, ...compact({ variants: own }) }
}

/** The rows of the clusters that the Delivery names, as the view API shows them. */
function rowsOf(delivery: Delivery, { revision, decided, ports }: Outcome): Row[] {
  const admissions = decided.admissions.map(({ removal, set, ...one }) => ({ ...one, ...compact({ removal, set }) }))
  if (delivery.metadata.deletionTimestamp !== undefined) return []
  const waits = new Map(decided.waits.map((wait) => [wait.cluster, wait]))
  const admitted = new Set(decided.admissions.filter(({ removal }) => !removal).map(({ cluster }) => cluster))
  const { name } = delivery.metadata
  return delivery.spec.clusters.map((cluster) => {
    const seen = ports.clusterOf(delivery, cluster)
    const bundle = { key: deliveryEntryId(delivery), name: deliveryEntryName(name), placement: '', delivery: name }
    const wait = waits.get(cluster)
    if (!seen) return { bundle: bundle.name, delivery: name, cluster, state: 'Pending', message: wait?.message ?? '' }
    const rollout = compact({ name, admitted, hold: wait })
    const target = deliveredTo(
      { status: { ...compact({ revision: revision && stored(revision) }), admissions } },
      cluster,
    )
    return rowOf({ ...bundle, rollout, ...compact({ target }) }, seen.row, true)
  })
}

interface Readiness {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

function readiness(delivery: Delivery, rows: readonly Row[], { admissions, waits }: AdmittedDelivery): Readiness {
  if (delivery.metadata.deletionTimestamp !== undefined) {
    const names = nameSome(admissions.map(({ cluster }) => cluster))
    return { status: 'False', reason: 'Removing', message: `Waits for the receipts of ${names}.` }
  }
  const failed = rows.filter(({ state }) => state === 'Failed')
  const ready = rows.filter(({ state }) => state === 'Ready').length
  const of = `${ready} of ${plural(rows.length, 'cluster')} ready.`
  if (failed[0]) {
    return { status: 'False', reason: 'DeliveryFailed', message: `${of} ${failed[0].cluster}: ${failed[0].message}` }
  }
  if (waits.length > 0) return { status: 'False', reason: 'NotAdmitted', message: `${of} ${waitMessage(waits)}` }
  if (ready === rows.length) return { status: 'True', reason: 'Delivered', message: of }
  return { status: 'False', reason: 'Delivering', message: of }
}

function waitMessage(waits: readonly DeliveryWait[]): string {
  const more = waits.length > 1 ? ` And ${plural(waits.length - 1, 'more cluster')}.` : ''
  return `${waits[0]!.message}${more}`
}
