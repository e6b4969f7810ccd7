import type { Blobs } from '../../blobs/blobs.ts'
import { StoredDigests } from '../../blobs/stored-digests.ts'
import { compact } from '../../core/compact.ts'
import { findCondition } from '../../core/conditions.ts'
import { isDigest } from '../../core/crypto/digest.ts'
import { canonicalJson, jsonEqual } from '../../core/json.ts'
import type { EventRecorder } from '../../engine/event-recorder.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { createKeyedThrottle } from '../../engine/keyed-throttle.ts'
import { triggerOn } from '../../engine/trigger.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { Delivery, deliveryEntryId, deliveryKeyOf } from '../../kinds/native/delivery.ts'
import { rowClusterOf } from '../../plan/fleet/row-cluster.ts'
import { allLimitsOf, decideExecutor } from '../../plan/projects/limits.ts'
import { LIMITS } from '../../wire/limits.ts'
import { objectSetBytes, parseObjectSet } from '../../wire/document/signed-document.ts'
import { assignmentOf, highestAssigned, reportOf } from '../caches/caches.ts'
import type { Caches } from '../caches/caches.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { namespaceProjects, triggerOnProjects } from '../caches/namespace-projects.ts'
import { entryFreeze } from '../caches/project-holds.ts'
import type { DeliveryAdmitPorts, SeenCluster } from './ports.ts'
import { deliveryAdmitReconciler } from './reconcile.ts'

/** The shortest time between two writes of counts while nothing else changes. */
const COUNTS_EVERY_MS = 30_000
const MAX_SETS = 1000

/** Delivery → admissions. */
export function createDeliveryAdmit(
  parts: ControllerParts & { readonly blobs: Pick<Blobs, 'put' | 'get'> },
): Controller {
  const { caches, clock } = parts
  /** Removals that reached a document, as `id cluster`; a receipt may be gone from the report before it is read. */
  const buried = new Set<string>()
  const reconciler = deliveryAdmitReconciler({
    clusterOf: (delivery, cluster) => seenCluster(caches, deliveryEntryId(delivery), cluster, buried),
    holdersOf: (delivery) => {
      const id = deliveryEntryId(delivery)
      const { lister } = caches.assignments
      return [...lister.by('bundle', id), ...lister.by('tombstone', id)].map(({ metadata }) => metadata.name)
    },
    highestAssigned: (delivery) => highestAssigned(caches, deliveryEntryId(delivery)),
    storeSet: createSetStore(parts),
    pace: createKeyedThrottle(clock, COUNTS_EVERY_MS),
  })
  const triggers = [
    triggerOn(caches.assignments, ({ key, before, after }) => {
      noteTombstones(caches, buried, key, after)
      const changed = changedDeliveries(entriesOf(before), entriesOf(after))
      // A document that became full leaves out Deliveries that it does not name; each of them says so.
      const waiting = isFull(before) === isFull(after) ? [] : caches.deliveries.lister.by('cluster', key).map(keyOf)
      return [...new Set([...changed, ...waiting])]
    }),
    triggerOn(caches.reports, ({ before, after }) => changedDeliveries(rowsOf(before), rowsOf(after))),
    triggerOn(caches.clusters, ({ key, before, after }) =>
      jsonEqual(before && clusterFacts(before), after && clusterFacts(after))
        ? []
        : caches.deliveries.lister.by('cluster', key).map(keyOf),
    ),
    triggerOnProjects(caches, (namespace) => caches.deliveries.lister.list(namespace).map(keyOf)),
    triggerOn(caches.deliveries, ({ before, after }) => {
      const gone = before && !after ? (before.status?.admissions ?? []) : []
      for (const { cluster } of gone) buried.delete(`${deliveryEntryId(before!)} ${cluster}`)
      return []
    }),
  ]
  const { events } = parts
  return createController({
    ...parts,
    // Works are many: an Event for each that arrives would double what is written.
    ...compact({ events: events ? warningsOf(events) : undefined }),
    type: Delivery,
    informer: caches.deliveries,
    reconciler,
    triggers,
  })
}

function warningsOf(events: EventRecorder): EventRecorder {
  return {
    ...events,
    record: (object, found, by) =>
      events.record(
        object,
        found.filter(({ type }) => type === 'Warning'),
        by,
      ),
  }
}

/** Remembers the tombstones of Deliveries that exist; an entry that is there again ends the memory. */
function noteTombstones(
  caches: Caches,
  buried: Set<string>,
  cluster: string,
  assignment: Assignment | undefined,
): void {
  for (const { bundle } of assignment?.spec.entries ?? []) buried.delete(`${bundle} ${cluster}`)
  for (const { bundle } of assignment?.spec.tombstones ?? []) {
    const key = deliveryKeyOf(bundle)
    if (key !== undefined && caches.deliveries.lister.get(key)) buried.add(`${bundle} ${cluster}`)
  }
}

function clusterFacts({ metadata, spec, status }: Cluster): unknown {
  const available = findCondition(status?.conditions, 'Available')
  const { labels, deletionTimestamp } = metadata
  return [spec.accepted, spec.decommission, spec.id, labels, deletionTimestamp, available?.status, available?.message]
}

function entriesOf(assignment: Assignment | undefined): [string, unknown][] {
  const { entries = [], tombstones = [] } = assignment?.spec ?? {}
  return [...entries, ...tombstones].map((one) => [one.bundle, one])
}

function isFull(assignment: Assignment | undefined): boolean {
  return (assignment?.spec.entries.length ?? 0) >= LIMITS.bundles
}

function rowsOf(report: ClusterReport | undefined): [string, unknown][] {
  const { bundles = [], removals = [] } = report?.spec ?? {}
  return [...bundles, ...removals].map((one) => [one.bundle, one])
}

/** Keys of the Deliveries whose part differs. */
function changedDeliveries(before: readonly [string, unknown][], after: readonly [string, unknown][]): string[] {
  const [was, is] = [new Map(before), new Map(after)]
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((id) => !jsonEqual(was.get(id), is.get(id)))
    .flatMap((id) => deliveryKeyOf(id) ?? [])
}

function seenCluster(caches: Caches, id: string, name: string, buried: ReadonlySet<string>): SeenCluster | undefined {
  const cluster = caches.clusters.lister.get(name)
  if (!cluster) return undefined
  const assignment = assignmentOf(caches, cluster)
  const row = rowClusterOf(id, { cluster, report: reportOf(caches, cluster), assignment })
  const { removal } = row
  const hasReceipt = removal?.state === 'Removed' || removal?.state === 'Orphaned'
  return {
    row,
    facts: {
      accepted: cluster.spec.accepted,
      leaving: cluster.spec.decommission !== undefined || cluster.metadata.deletionTimestamp !== undefined,
      offline: row.availability.state === 'Offline',
      assigned: row.assigned,
      buried: row.buried,
      isRemovalKnown: hasReceipt || buried.has(`${id} ${name}`),
      isFull: isFull(assignment),
      frozen: entryFreeze(caches, id, name),
    },
  }
}

/**
 * Stores the set of a Delivery with the options of the Delivery, and with the executor of its Project where it names
 * none; each combination is stored once.
 */
function createSetStore({
  caches,
  blobs,
  clock,
}: Pick<ControllerParts, 'caches' | 'clock'> & {
  readonly blobs: Pick<Blobs, 'put' | 'get'>
}): DeliveryAdmitPorts['storeSet'] {
  const kept = new StoredDigests(MAX_SETS)
  return async ({ metadata, spec: { options: given } }, from) => {
    const { project } = namespaceProjects(caches)(metadata.namespace ?? '')
    const executor = project && decideExecutor(allLimitsOf(project), undefined).executor
    const key = `${from} ${canonicalJson([given ?? {}, executor ?? {}])}`
    const known = kept.get(key, clock.now())
    if (known) return known
    if (!isDigest(from)) return undefined
    const bytes = await blobs.get(from)
    if (!bytes) return undefined
    const set = parseObjectSet(bytes)
    const options = { ...compact({ executor }), ...set.options, ...given }
    const digest = given || executor ? await blobs.put(objectSetBytes({ ...set, options })) : from
    kept.set(key, digest, clock.now())
    return digest
  }
}
