// Tested by src/controllers/assignment-assemble/sealed-values.sim.test.ts
import type { Blobs } from '../../blobs/blobs.ts'
import { compact } from '../../core/compact.ts'
import { jsonEqual } from '../../core/json.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { keyOf } from '../../kinds/meta.ts'
import { deliveryEntryId } from '../../kinds/native/delivery.ts'
import type { Delivery } from '../../kinds/native/delivery.ts'
import type { Override } from '../../kinds/native/override.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { AssembledEntry } from '../../plan/document/assemble-document.ts'
import { isDriftDecision } from '../../plan/drift/drift-rules.ts'
import { sameRevision } from '../../plan/fleet/state.ts'
import { contentFor } from '../../plan/release/variants.ts'
import { admissionsOn } from '../caches/admissions-on.ts'
import { inNamespaceOf, inputsOf, reportOf, rolloutsOfBundle } from '../caches/caches.ts'
import type { Caches } from '../caches/caches.ts'
import { createKeyedThrottle } from '../../engine/keyed-throttle.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { frozenContent, namespaceProjects, triggerOnProjects } from '../caches/namespace-projects.ts'
import { entryFreeze } from '../caches/project-holds.ts'
import { triggerOn } from '../../engine/trigger.ts'
import type { Trigger } from '../../engine/trigger.ts'
import type { ValuesKeys } from '../secrets/values-keys.ts'
import { clustersOfWindow, windowEntryOf, windowsInForce } from '../caches/windows-in-force.ts'
import type { SignDocument } from './ports.ts'
import { assignmentAssembleReconciler } from './reconcile.ts'
import { receiptsOf, removalsFor } from './removals.ts'
import { createSealer } from './sealer.ts'
import { createSetFacts } from './set-facts.ts'

/** The shortest time between two documents of a cluster. */
const REVISION_EVERY_MS = 1000

/** The ports of assignment-assemble besides the caches. */
export interface AssemblerParts {
  readonly blobs: Pick<Blobs, 'put' | 'get'>
  readonly sign: SignDocument
  epoch(): number
  trustVersion(): number
  /** Calls `changed` when the trust bundle changes; returns how to stop that. */
  onTrustChange(changed: () => void): () => void
}

/** Admissions → Assignment. */
export function createAssignmentAssemble(
  parts: ControllerParts & AssemblerParts & { readonly valuesKeys: ValuesKeys },
): Controller {
  const { caches, client, clock, blobs } = parts
  const write = (signal: AbortSignal) => ({ fieldManager: 'flotilla-assignment-assemble', signal })
  const factsOf = createSetFacts(blobs)
  caches.clusters.addIndex('ahead', ({ status }) => (status?.ahead ? ['yes'] : []))
  caches.overrides.addIndex('driftCluster', driftClusters)
  const reconciler = assignmentAssembleReconciler({
    projectOf: namespaceProjects(caches),
    factsOf,
    freezeOf: (bundle, cluster) => entryFreeze(caches, bundle, cluster),
    assignmentOf: (cluster) => caches.assignments.lister.get(cluster),
    admissionsOf: ({ metadata, spec }) =>
      spec.decommission
        ? []
        : [
            ...caches.rollouts.lister
              .by('cluster', metadata.name)
              .flatMap((rollout) => entriesOf(caches, rollout, metadata.name)),
            ...caches.deliveries.lister
              .by('cluster', metadata.name)
              .flatMap((delivery) => deliveryEntry(delivery, metadata.name)),
          ],
    removalsOf: (cluster) => removalsFor(caches, cluster, clock.now()),
    removedOf: (cluster) => receiptsOf(caches, cluster),
    wellOf: (cluster, entries) => {
      const rows = new Map(reportOf(caches, cluster)?.spec.bundles.map((row) => [row.bundle, row]))
      const isWell = (entry: AssembledEntry) => {
        const row = rows.get(entry.bundle)
        return sameRevision(row, entry) && (row?.state === 'Ready' || row?.state === 'Drifted')
      }
      return new Set(entries.filter(isWell).map(({ bundle }) => bundle))
    },
    begun: (cluster, bundle) => {
      const row = reportOf(caches, cluster)?.spec.bundles.find((reported) => reported.bundle === bundle)
      return row && row.state !== 'Pending' ? row.generation : undefined
    },
    windows: windowsInForce(caches),
    windowEntryOf: (entry) => windowEntryOf(caches, entry),
    driftDecisionsOf: (cluster) => caches.overrides.lister.by('driftCluster', cluster),
    sign: parts.sign,
    seal: createSealer({ ...parts, factsOf }),
    requiredBy: async (set) => (await factsOf(set))?.requires ?? [],
    putBlob: (bytes) => blobs.put(bytes),
    getBlob: (digest) => blobs.get(digest),
    createAssignment: async (assignment, signal) => void (await client.create(Assignment, assignment, write(signal))),
    updateAssignment: async (assignment, signal) => void (await client.update(Assignment, assignment, write(signal))),
    deleteAssignment: ({ metadata }, signal) =>
      client.delete(Assignment, { name: metadata.name }, compact({ signal, uid: metadata.uid || undefined })),
    epoch: () => parts.epoch(),
    clustersAhead: (epoch) =>
      caches.clusters.lister
        .by('ahead', 'yes')
        .filter(({ status }) => (status?.ahead?.epoch ?? 0) >= epoch)
        .map(({ metadata }) => metadata.name),
    trustVersion: () => parts.trustVersion(),
    pace: createKeyedThrottle(clock, REVISION_EVERY_MS),
  })
  const rollouts = triggerOn(caches.rollouts, ({ before, after }) => [
    ...newlyAdmitted(before, after),
    ...newlyExcepted(before, after),
    // A tombstone stays in the document while a Rollout has a slot for its Bundle.
    ...newlyAdmitted(after, before).filter((cluster) => caches.assignments.lister.get(cluster)?.spec.tombstones),
  ])
  const deliveries = triggerOn(caches.deliveries, ({ before, after }) => newlyDelivered(before, after))
  const receipts = triggerOn(caches.reports, ({ key, before, after }) =>
    jsonEqual(before?.spec.removals, after?.spec.removals) && before?.spec.revision === after?.spec.revision
      ? []
      : caches.assignments.lister.get(key)?.spec.tombstones
        ? [key]
        : [],
  )
  // The cache can have an admission before it has the Release of the admission.
  const releases = triggerOn(caches.releases, ({ before, after }) =>
    after && !before
      ? caches.rollouts.lister.by('release', keyOf(after)).flatMap((rollout) => newlyAdmitted(undefined, rollout))
      : [],
  )
  // While the hub is behind the agent of a cluster, no cluster gets a new document.
  const ahead = triggerOn(caches.clusters, ({ before, after }) =>
    jsonEqual(before?.status?.ahead, after?.status?.ahead) ? [] : caches.clusters.lister.list().map(keyOf),
  )
  const windows = triggerOn(caches.windows, (change) => clustersOfWindow(caches, change))
  const clusterWindows = triggerOn(caches.clusterWindows, (change) => clustersOfWindow(caches, change))
  const projects = triggerOnProjects(caches, (namespace) => clustersOfNamespace(caches, namespace))
  const frozen = triggerOn(caches.bundles, ({ key, before, after }) =>
    frozenContent(before) === frozenContent(after)
      ? []
      : rolloutsOfBundle(caches, key).flatMap((rollout) => newlyAdmitted(undefined, rollout)),
  )
  const trust: Trigger = {
    subscribe: (enqueue) =>
      parts.onTrustChange(() => {
        for (const cluster of caches.clusters.lister.list()) enqueue(keyOf(cluster))
      }),
  }
  return createController({
    ...parts,
    type: Cluster,
    informer: caches.clusters,
    reconciler,
    triggers: [
      rollouts,
      deliveries,
      receipts,
      releases,
      ahead,
      windows,
      clusterWindows,
      driftTrigger(caches),
      projects,
      frozen,
      trust,
    ],
    failureCondition: 'Assigned',
  })
}

function driftTrigger(caches: Caches): Trigger {
  return triggerOn(caches.overrides, ({ before, after }) => [
    ...(before ? driftClusters(before) : []),
    ...(after ? driftClusters(after) : []),
  ])
}

/** The clusters on which an Override decides about drift. */
function driftClusters(override: Override): string[] {
  return isDriftDecision(override) ? [...(override.spec.clusters ?? [])] : []
}

/** Clusters that have, or wait for, Bundles of a namespace. */
function clustersOfNamespace(caches: Caches, namespace: string): ReadonlySet<string> {
  const having = caches.assignments.lister
    .list()
    .filter(({ spec }) => spec.entries.some(({ bundle }) => bundle.startsWith(`${namespace}/`)))
    .map(({ metadata }) => metadata.name)
  const waiting = caches.rollouts.lister.list(namespace).flatMap((rollout) => newlyAdmitted(undefined, rollout))
  return new Set([...having, ...waiting])
}

function newlyAdmitted(before: Rollout | undefined, after: Rollout | undefined): string[] {
  const was = before?.status?.admissions ?? []
  const is = after?.status?.admissions ?? []
  if (jsonEqual(was, is)) return []
  // The same bundle on a cluster, admitted again, has another start-by time or another number of the retry.
  const keyOfSlot = ({ bundle, cluster, startBy, attempt }: (typeof is)[number]) =>
    `${bundle}/${cluster}/${startBy}/${attempt}`
  const known = new Set(was.map(keyOfSlot))
  return is.filter((slot) => !known.has(keyOfSlot(slot))).map(({ cluster }) => cluster)
}

/** Clusters whose record on a Delivery changed. */
function newlyDelivered(before: Delivery | undefined, after: Delivery | undefined): string[] {
  const records = (one: Delivery | undefined) =>
    (one?.status?.admissions ?? []).map(({ cluster, ...rest }): [string, unknown] => [
      cluster,
      { set: one?.status?.revision?.set, ...rest, order: one?.spec.order },
    ])
  const known = new Map(records(before))
  return records(after)
    .filter(([cluster, record]) => !jsonEqual(known.get(cluster), record))
    .map(([cluster]) => cluster)
}

/** Clusters that wait with an admission of a Rollout whose exceptions from windows changed. */
function newlyExcepted(before: Rollout | undefined, after: Rollout | undefined): string[] {
  if (!before || !after || jsonEqual(before.spec.exceptions, after.spec.exceptions)) return []
  return (after.status?.admissions ?? []).map(({ cluster }) => cluster)
}

/** The entry of a Delivery for a cluster that it admitted. */
function deliveryEntry(delivery: Delivery, cluster: string): AssembledEntry[] {
  const { spec, status } = delivery
  const [admission] = admissionsOn(delivery, cluster)
  const { revision } = status ?? {}
  if (!admission || admission.removal || !revision) return []
  if (admission.set === undefined && admission.generation !== revision.generation) return []
  const bundle = deliveryEntryId(delivery)
  const { generation, admittedAt, set = revision.set } = admission
  const catchUp = spec.options?.catchUp
  return [
    compact({
      bundle,
      generation,
      set,
      rollout: bundle,
      admittedAt,
      catchUp,
      order: spec.order === undefined || spec.order === 0 ? undefined : spec.order,
    }),
  ]
}

function entriesOf(caches: Caches, rollout: Rollout, cluster: string): AssembledEntry[] {
  if (rollout.spec.removal) return []
  const release = caches.releases.lister.get(inNamespaceOf(rollout, rollout.spec.release))
  return admissionsOn(rollout, cluster).flatMap((admission) => {
    const revision = release?.spec.bundles.find(({ name }) => name === admission.bundle)
    if (!revision) return []
    const { generation } = revision
    const bundle = inNamespaceOf(rollout, admission.bundle)
    const content = contentFor(revision, inputsOf(caches, cluster))
    if (content.kind !== 'Set') return []
    // A cluster whose labels changed keeps the content of this generation; the next Release changes the content.
    const present = caches.assignments.lister.get(cluster)?.spec.entries.find((entry) => entry.bundle === bundle)
    const keeps = revision.variants !== undefined && present?.generation === generation
    const set = keeps ? present.set : content.set
    const { startBy, admittedAt, attempt } = admission
    const catchUp = caches.bundles.lister.get(bundle)?.spec.catchUp
    return [
      compact({
        bundle,
        generation,
        set,
        rollout: keyOf(rollout),
        admittedAt,
        startBy,
        attempt,
        catchUp,
      }),
    ]
  })
}
