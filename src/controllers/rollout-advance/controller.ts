import type { Change } from '../../client/cache.ts'
import type { Informer } from '../../client/informer.ts'
import { findCondition } from '../../core/conditions.ts'
import { jsonEqual } from '../../core/json.ts'
import { parseTime } from '../../core/time/time.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import type { Approval } from '../../kinds/native/approval.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import type { Window } from '../../kinds/native/window.ts'
import type { Availability } from '../../plan/fleet/availability.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import type { BundleReadiness } from '../../plan/rollout/gates/judge-gates.ts'
import type { ApprovalFact } from '../../plan/rollout/gates/approvals.ts'
import type { RemovalFacts } from '../../plan/document/removal.ts'
import type { RolloutCluster } from '../../plan/rollout/bundle-on-cluster.ts'
import {
  assignmentOf,
  decisionGroupsOf,
  inNamespaceOf,
  inputsOf,
  reportOf,
  rolloutsOfBundle,
  unsettledClusters,
} from '../caches/caches.ts'
import type { Caches } from '../caches/caches.ts'
import { findObject } from '../../client/find-object.ts'
import { retainedClusters } from '../caches/retained-clusters.ts'
import { createKeyedThrottle } from '../../engine/keyed-throttle.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { selectedClusters, selectionStamp, selectsCluster } from '../caches/selected-clusters.ts'
import { triggerOn } from '../../engine/trigger.ts'
import type { Trigger } from '../../engine/trigger.ts'
import { clustersOfWindow, evaluateWindowHolds, windowsInForce } from '../caches/windows-in-force.ts'
import { createRosterCache } from './roster-cache.ts'
import type { RosterCache } from './roster-cache.ts'
import { createGateChecks } from './gate-checks.ts'
import type { AskGatePort } from './gate-checks.ts'
import { isClosed, rolloutAdvanceReconciler } from './reconcile.ts'

/** How long to save up changes of mere counts. */
const COUNTS_EVERY_MS = 1000

/** Rollout → its own status: the admissions. */
export function createRolloutAdvance(parts: ControllerParts & { readonly askGate: AskGatePort }): Controller {
  const { caches, client, clock } = parts
  const windows = windowsInForce(caches)
  const books = createRosterCache()
  const book = createGateChecks({
    clock,
    ask: parts.askGate,
    secret: (namespace, name, signal) => findObject(client, Secret, { namespace, name }, signal),
    onAnswer: (key) => controller.enqueue(key),
  })
  const reconciler = rolloutAdvanceReconciler({
    releaseOf: (rollout) => caches.releases.lister.get(inNamespaceOf(rollout, rollout.spec.release)),
    selectedBy: (rollout, placement) => selectedClusters(caches, inNamespaceOf(rollout, placement)),
    selectionStamp: (rollout, placement) => selectionStamp(caches, inNamespaceOf(rollout, placement)),
    selects: (rollout, placement, cluster) => selectsCluster(caches, inNamespaceOf(rollout, placement), cluster),
    windows,
    inputsOf: (name) => inputsOf(caches, name),
    clusterOf: (name) => clusterFacts(caches, name),
    holdsAt: (rollout, now) => evaluateWindowHolds(caches, windows(), rollout, now),
    groupsOf: (rollout, placement, cluster) => decisionGroupsOf(caches, inNamespaceOf(rollout, placement), cluster),
    rolloutsOf: (rollout, bundle) =>
      caches.releases.lister.by('bundle', inNamespaceOf(rollout, bundle)).flatMap((release) => {
        const { generation } = release.spec.bundles.find(({ name }) => name === bundle)!
        return caches.rollouts.lister.by('release', keyOf(release)).map((other) => ({ rollout: other, generation }))
      }),
    hasBundle: (rollout, bundle) => {
      const found = caches.bundles.lister.get(inNamespaceOf(rollout, bundle))
      return found !== undefined && found.metadata.deletionTimestamp === undefined
    },
    removalOf: (rollout) => removalFacts(caches, rollout, clock.now()),
    holdersOf: (rollout, bundle) =>
      caches.assignments.lister
        .by('bundle', inNamespaceOf(rollout, bundle))
        .map(({ metadata }) => metadata.name)
        .filter((name) => isHolder(caches, rollout, bundle, name)),
    isHolder: (rollout, bundle, cluster) => isHolder(caches, rollout, bundle, cluster),
    gateAnswerOf: book.answerOf,
    askGates: book.ask,
    readinessOf: (rollout, bundle) => standingOf(caches, inNamespaceOf(rollout, bundle)),
    approvalsOf: (rollout) => caches.approvals.lister.by('rollout', keyOf(rollout)).map(asFact),
    statusThrottle: createKeyedThrottle(clock, COUNTS_EVERY_MS),
    passThrottle: createKeyedThrottle(clock, 0),
    rosterCache: books,
  })
  const triggers = [...notesOf(caches, books), ...triggersOf(caches)]
  const controller = createController({
    ...parts,
    type: Rollout,
    informer: caches.rollouts,
    reconciler,
    triggers,
  })
  return {
    ...controller,
    run: async (signal) => {
      // Nobody noted what happened while it did not run.
      books.clear()
      try {
        await controller.run(signal)
      } finally {
        await book.close()
      }
    },
  }
}

/** Whether a cluster's document names the bundle, and nobody removes it from there. */
function isHolder(caches: Caches, rollout: Rollout, bundle: string, cluster: string): boolean {
  const key = inNamespaceOf(rollout, bundle)
  const entries = caches.assignments.lister.get(cluster)?.spec.entries ?? []
  const isThere = caches.clusters.lister.get(cluster) !== undefined
  return isThere && entries.some((entry) => entry.bundle === key) && !isRemoved(caches, rollout, bundle, cluster)
}

/** Notes every cluster that something happened to, whichever Rollout it concerns; they look at their own. */
function notesOf(caches: Caches, { note }: RosterCache): Trigger[] {
  const noting = <T extends KubeObject>(informer: Informer<T>, clustersOf: (change: Change<T>) => Iterable<string>) =>
    triggerOn(informer, (change) => {
      for (const cluster of clustersOf(change)) note(cluster)
      return []
    })
  return [
    noting(caches.clusters, ({ key }) => [key]),
    noting(caches.assignments, ({ key }) => [key]),
    noting(caches.reports, ({ key }) => [key]),
    noting(caches.decisions, ({ before, after }) => changedDecisions(before, after)),
    // Who is no longer to be removed from, or is now, is left behind or is not.
    noting(caches.rollouts, ({ before, after }) => {
      const [was, is] = [before, after].map((rollout) => new Set(rollout && unsettledClusters(rollout)))
      return is!.symmetricDifference(was!)
    }),
  ]
}

function changedDecisions(before: PlacementDecision | undefined, after: PlacementDecision | undefined): string[] {
  const was = new Map(before?.spec.decisions.map((decision) => [decision.cluster, decision]))
  const is = new Map(after?.spec.decisions.map((decision) => [decision.cluster, decision]))
  return [...new Set([...was.keys(), ...is.keys()])].filter((name) => {
    const [one, other] = [was.get(name), is.get(name)]
    return one?.state !== other?.state || one?.group !== other?.group || !one || !other
  })
}

/** Whether a removal of the bundle from the cluster is on its way. */
function isRemoved(caches: Caches, rollout: Rollout, bundle: string, cluster: string): boolean {
  return caches.rollouts.lister
    .by('removesFrom', cluster)
    .some((other) => other.spec.removal?.bundle === bundle && other.metadata.namespace === rollout.metadata.namespace)
}

function triggersOf(caches: Caches) {
  return [
    // A newer Rollout closes the older ones, and is released by their being closed.
    triggerOn(caches.rollouts, ({ before, after }) => {
      const rollout = after ?? before
      const release = rollout && caches.releases.lister.get(inNamespaceOf(rollout, rollout.spec.release))
      if (!release || (before && after && jsonEqual(closing(before), closing(after)))) return []
      return release.spec.bundles.flatMap(({ name }) => openRollouts(caches, inNamespaceOf(release, name)))
    }),
    // Who was about to get a bundle, and did not, has nothing to be removed.
    triggerOn(caches.rollouts, ({ before, after }) => {
      const held = new Set((after?.status?.admissions ?? []).map(({ cluster }) => cluster))
      const left = (before?.status?.admissions ?? []).filter(({ cluster }) => !held.has(cluster))
      return left.flatMap(({ cluster }) => caches.rollouts.lister.by('removesFrom', cluster).map(keyOf))
    }),
    triggerOn(caches.releases, ({ before, after }) => {
      const release = after ?? before
      return release && !(before && after) ? caches.rollouts.lister.by('release', keyOf(release)).map(keyOf) : []
    }),
    triggerOn(caches.decisions, ({ before, after }) => {
      const page = after ?? before
      return page ? removalsOfPlacement(caches, inNamespaceOf(page, page.spec.placement)) : []
    }),
    triggerOn(caches.decisions, ({ before, after }) => {
      const page = after ?? before
      return page ? openRolloutsOfPlacement(caches, inNamespaceOf(page, page.spec.placement)) : []
    }),
    triggerOn(caches.placements, ({ before, after }) => {
      const placement = after ?? before
      return placement && !(before && after) ? openRolloutsOfPlacement(caches, keyOf(placement)) : []
    }),
    triggerOn(caches.reports, (change) => changedBundles(change).flatMap((bundle) => openRollouts(caches, bundle))),
    triggerOn(caches.windows, (change) => rolloutsOfWindow(caches, change)),
    triggerOn(caches.clusterWindows, (change) => rolloutsOfWindow(caches, change)),
    // A newer document gives the slots of bundles back that a newer Rollout carries, or that are removed.
    triggerOn(caches.assignments, ({ key, before, after }) => {
      const hasGraves = before?.spec.tombstones !== undefined || after?.spec.tombstones !== undefined
      const holding = caches.rollouts.lister.by('cluster', key).filter((rollout) => hasGraves || hasTakenOver(rollout))
      const removing = hasGraves ? caches.rollouts.lister.by('removesFrom', key) : []
      return new Set([...holding, ...removing].map(keyOf))
    }),
    triggerOn(caches.clusters, (change) => rolloutsOfCluster(caches, change)),
    // Gates that wait for another Bundle.
    triggerOn(caches.rollouts, ({ before, after }) => {
      const rollout = after ?? before
      if (!rollout || before?.status?.phase === after?.status?.phase) return []
      return bundlesOf(caches, rollout).flatMap((bundle) => gatedBy(caches, bundle))
    }),
    triggerOn(caches.bundles, ({ before, after }) => {
      const bundle = after ?? before
      return bundle && before?.status?.release !== after?.status?.release ? gatedBy(caches, keyOf(bundle)) : []
    }),
    triggerOn(caches.approvals, ({ before, after }) => {
      const approval = after ?? before
      const isNews = (before === undefined) !== (after === undefined)
      return approval && isNews ? [inNamespaceOf(approval, approval.spec.rollout)] : []
    }),
    triggerOn(caches.bundles, ({ before, after }) => {
      const bundle = after ?? before
      const there = (one: typeof bundle) => one !== undefined && one.metadata.deletionTimestamp === undefined
      const isMoved = before?.spec.placement !== after?.spec.placement
      return bundle && (isMoved || there(before) !== there(after)) ? openRollouts(caches, keyOf(bundle)) : []
    }),
  ]
}

function bundlesOf(caches: Caches, rollout: Rollout): string[] {
  const release = caches.releases.lister.get(inNamespaceOf(rollout, rollout.spec.release))
  return (release?.spec.bundles ?? []).map(({ name }) => inNamespaceOf(rollout, name))
}

function gatedBy(caches: Caches, bundle: string): string[] {
  return caches.rollouts.lister.by('gateBundle', bundle).filter(isOpen).map(keyOf)
}

/** A Bundle is ready when what it says now is rendered, and the Rollout of that Release is complete. */
function standingOf(caches: Caches, key: string): BundleReadiness | undefined {
  const bundle = caches.bundles.lister.get(key)
  if (!bundle) return undefined
  const { name, generation } = bundle.metadata
  const { release, observedGeneration } = bundle.status ?? {}
  if (release === undefined || observedGeneration !== generation) {
    return { isReady: false, message: `Bundle ${name} is not rendered yet` }
  }
  const phase = caches.rollouts.lister.get(inNamespaceOf(bundle, release))?.status?.phase ?? 'Pending'
  const isReady = phase === 'Completed'
  return { isReady, message: `Rollout ${release} of Bundle ${name} is ${isReady ? 'complete' : phase}` }
}

function asFact({ metadata, spec }: Approval): ApprovalFact {
  const { rollout: _, ...said } = spec
  return { ...said, name: metadata.name, at: metadata.creationTimestamp ?? '' }
}

/** What of a Rollout concerns the others of its Bundle. */
function closing(rollout: Rollout): unknown {
  const { superseded = [], admissions = [] } = rollout.status ?? {}
  const gone = new Set(superseded.map(({ bundle }) => bundle))
  return [isClosed(rollout), superseded, admissions.filter(({ bundle }) => isClosed(rollout) || gone.has(bundle))]
}

function hasTakenOver(rollout: Rollout): boolean {
  return isClosed(rollout) || (rollout.status?.superseded ?? []).length > 0
}

/** Rollouts of a Bundle that may still have something to do. */
function openRollouts(caches: Caches, bundle: string): string[] {
  return [...rolloutsOfBundle(caches, bundle), ...caches.rollouts.lister.by('removes', bundle)]
    .filter(isOpen)
    .map(keyOf)
}

/** Rollouts that remove a Bundle of a Placement: somebody may keep it after all. */
function removalsOfPlacement(caches: Caches, placement: string): string[] {
  return caches.bundles.lister
    .by('placement', placement)
    .flatMap((bundle) => caches.rollouts.lister.by('removes', keyOf(bundle)))
    .filter(isOpen)
    .map(keyOf)
}

function openRolloutsOfPlacement(caches: Caches, placement: string): string[] {
  return caches.releases.lister
    .by('placement', placement)
    .flatMap((release) => caches.rollouts.lister.by('release', keyOf(release)))
    .filter(isOpen)
    .map(keyOf)
}

function isOpen(rollout: Rollout): boolean {
  if (rollout.spec.removal)
    return unsettledClusters(rollout).length > 0 || (rollout.status?.admissions ?? []).length > 0
  return !isClosed(rollout) || (rollout.status?.admissions ?? []).length > 0
}

function changedBundles({ before, after }: Change<ClusterReport>): string[] {
  return [
    ...changedRows(before?.spec.bundles ?? [], after?.spec.bundles ?? []),
    ...changedRows(before?.spec.removals ?? [], after?.spec.removals ?? []),
  ]
}

function changedRows(before: readonly { bundle: string }[], after: readonly { bundle: string }[]): string[] {
  const was = new Map(before.map((row) => [row.bundle, row]))
  const is = new Map(after.map((row) => [row.bundle, row]))
  return [...new Set([...was.keys(), ...is.keys()])].filter((bundle) => !jsonEqual(was.get(bundle), is.get(bundle)))
}

function removalFacts(caches: Caches, rollout: Rollout, now: number): RemovalFacts | undefined {
  const { removal } = rollout.spec
  if (!removal) return undefined
  const bundle = inNamespaceOf(rollout, removal.bundle)
  const coming = rolloutsOfBundle(caches, bundle).flatMap(({ status }) =>
    (status?.admissions ?? []).filter((admission) => admission.bundle === removal.bundle).map(({ cluster }) => cluster),
  )
  return {
    bundle: removal.bundle,
    clusters: removal.clusters,
    settled: rollout.status?.settled ?? [],
    kept: rollout.status?.kept ?? [],
    placement: caches.bundles.lister.get(bundle)?.spec.placement ?? '',
    keep: retainedClusters(caches, bundle, now),
    coming: new Set(coming),
  }
}

/** A cluster that came, went or changed its availability concerns the rollouts that select it or hold a slot for it. */
function rolloutsOfCluster(caches: Caches, { before, after }: Change<Cluster>): string[] {
  const cluster = after ?? before
  const isSame =
    before &&
    after &&
    availabilityOf(before).state === availabilityOf(after).state &&
    jsonEqual(holdable(before), holdable(after))
  return !cluster || isSame ? [] : rolloutsAround(caches, cluster.metadata.name)
}

/** What of a cluster decides about rings, holds and windows. */
function holdable({ metadata, spec }: Cluster): unknown {
  return [metadata.labels, spec.hold, spec.cordon, spec.timeZone]
}

/** A window concerns the rollouts that select a cluster it is for. */
function rolloutsOfWindow(caches: Caches, change: Change<Window> | Change<ClusterWindow>): string[] {
  const clusters = clustersOfWindow(caches, change)
  if (clusters.length > FEW) return caches.rollouts.lister.list().filter(isOpen).map(keyOf)
  return [...new Set(clusters.flatMap((name) => rolloutsAround(caches, name)))]
}

// Of so many clusters together nearly every rollout selects one.
const FEW = 100

/** Rollouts that select a cluster, or hold a slot for it. */
function rolloutsAround(caches: Caches, name: string): string[] {
  const selecting = caches.decisions.lister
    .by('cluster', name)
    .flatMap((page) => openRolloutsOfPlacement(caches, inNamespaceOf(page, page.spec.placement)))
  const holding = caches.rollouts.lister.by('cluster', name).map(keyOf)
  const removing = caches.rollouts.lister.by('removesFrom', name).map(keyOf)
  return [...new Set([...selecting, ...holding, ...removing])]
}

function clusterFacts(caches: Caches, name: string): RolloutCluster | undefined {
  const cluster = caches.clusters.lister.get(name)
  if (!cluster) return undefined
  const assignment = assignmentOf(caches, cluster)
  const entries = assignment?.spec.entries ?? []
  const report = reportOf(caches, cluster)
  const reportedAt = parseTime(report?.spec.receivedAt ?? '')
  return {
    availability: availabilityOf(cluster),
    labels: cluster.metadata.labels ?? {},
    assigned: new Map(entries.map((entry) => [entry.bundle, entry])),
    reported: new Map((report?.spec.bundles ?? []).map((row) => [row.bundle, row])),
    removals: new Map((report?.spec.removals ?? []).map((row) => [row.bundle, row])),
    ...(assignment ? { buried: new Map((assignment.spec.tombstones ?? []).map((one) => [one.bundle, one])) } : {}),
    ...(reportedAt === undefined ? {} : { reportedAt }),
  }
}

/** What cluster-availability last found; a cluster it has not judged yet is Unknown. */
function availabilityOf(cluster: Cluster): Availability {
  const condition = findCondition(cluster.status?.conditions, 'Available')
  const message = condition?.message ?? 'Its agent has not been heard yet.'
  if (condition?.status === 'True') return { state: 'Available', reason: 'Seen', message }
  if (condition?.status === 'False') return { state: 'Offline', reason: 'Silent', message }
  return { state: 'Unknown', reason: 'NeverSeen', message }
}
