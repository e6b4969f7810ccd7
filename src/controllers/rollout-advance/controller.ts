// Tested by src/controllers/rollout-advance/rings.sim.test.ts
import type { Change } from '../../client/cache.ts'
import { findObject } from '../../client/find-object.ts'
import type { Informer } from '../../client/informer.ts'
import { jsonEqual } from '../../core/json.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { createKeyedThrottle } from '../../engine/keyed-throttle.ts'
import { triggerOn } from '../../engine/trigger.ts'
import type { Trigger } from '../../engine/trigger.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import type { Window } from '../../kinds/native/window.ts'
import { isClosed, unsettledClusters } from '../../plan/rollout/rollout-status.ts'
import { inNamespaceOf, rolloutsOfBundle } from '../caches/caches.ts'
import type { Caches } from '../caches/caches.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { frozenContent, triggerOnProjects } from '../caches/namespace-projects.ts'
import { clustersOfWindow, windowsInForce } from '../caches/windows-in-force.ts'
import { gatherRollout, recordedAvailability } from './gather.ts'
import { createGateChecks } from './gate-checks.ts'
import type { AskGatePort } from './gate-checks.ts'
import { createPassPace } from './pass-pace.ts'
import { restOf, rolloutAdvanceReconciler } from './reconcile.ts'
import { createRosterCache } from './roster-cache.ts'
import type { RosterCache } from './roster-cache.ts'

/** Time for which a change of counts alone waits before it is written. */
const COUNTS_EVERY_MS = 1000

/**
 * Creates the controller that advances Rollouts: it decides which clusters may receive the Release next and records the
 * admissions in the Rollout's status.
 */
export function createRolloutAdvance(parts: ControllerParts & { readonly askGate: AskGatePort }): Controller {
  const { caches, client, clock } = parts
  const rosterCache = createRosterCache()
  const pace = createPassPace(clock)
  const checks = createGateChecks({
    clock,
    ask: parts.askGate,
    secret: (namespace, name, signal) => findObject(client, Secret, { namespace, name }, signal),
    onAnswer: (key) => controller.enqueue(key),
  })
  const windows = windowsInForce(caches)
  const reconciler = rolloutAdvanceReconciler({
    gather: (rollout, now) => gatherRollout({ caches, windows, gateAnswerOf: checks.answerOf }, rollout, now),
    askGates: checks.ask,
    statusThrottle: createKeyedThrottle(clock, COUNTS_EVERY_MS),
    pace,
    rosterCache,
  })
  const triggers = [...noteTriggers(caches, rosterCache), ...passTriggers(caches)]
  const controller = createController({
    ...parts,
    type: Rollout,
    informer: caches.rollouts,
    reconciler,
    triggers,
    restMs: (rollout) => restOf(rollout, pace),
  })
  return {
    ...controller,
    run: async (signal) => {
      // Changes during the time without a running controller were not noted.
      rosterCache.clear()
      try {
        await controller.run(signal)
      } finally {
        await checks.close()
      }
    },
  }
}

/** Notes each changed cluster in the roster cache; the pass of a Rollout reads the changes of its own clusters. */
function noteTriggers(caches: Caches, { note }: RosterCache): Trigger[] {
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
    // A cluster that a removal now concerns, or no longer concerns, changes the unselected holders.
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

function passTriggers(caches: Caches): Trigger[] {
  return [
    // A newer Rollout supersedes the older Rollouts, and waits until they are closed.
    triggerOn(caches.rollouts, ({ before, after }) => {
      const rollout = after ?? before
      const release = rollout && caches.releases.lister.get(inNamespaceOf(rollout, rollout.spec.release))
      if (!release || (before && after && jsonEqual(closing(before), closing(after)))) return []
      return release.spec.bundles.flatMap(({ name }) => openRollouts(caches, inNamespaceOf(release, name)))
    }),
    // A cluster whose admission ended without delivery has nothing to remove.
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
    triggerOnProjects(caches, (namespace) => caches.rollouts.lister.list(namespace).filter(isOpen).map(keyOf)),
    // The Project no longer allows the released content, or allows it again.
    triggerOn(caches.bundles, ({ key, before, after }) =>
      frozenContent(before) === frozenContent(after) ? [] : openRollouts(caches, key),
    ),
    triggerOn(caches.windows, (change) => rolloutsOfWindow(caches, change)),
    triggerOn(caches.clusterWindows, (change) => rolloutsOfWindow(caches, change)),
    // A newer document frees the slots of Bundles that a newer Rollout carries, or that are removed.
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

/** The part of a Rollout that concerns the other Rollouts of its Bundles. */
function closing(rollout: Rollout): unknown {
  const { superseded = [], admissions = [] } = rollout.status ?? {}
  const gone = new Set(superseded.map(({ bundle }) => bundle))
  return [isClosed(rollout), superseded, admissions.filter(({ bundle }) => isClosed(rollout) || gone.has(bundle))]
}

function hasTakenOver(rollout: Rollout): boolean {
  return isClosed(rollout) || (rollout.status?.superseded ?? []).length > 0
}

/** Rollouts of a Bundle that are not finished. */
function openRollouts(caches: Caches, bundle: string): string[] {
  return [...rolloutsOfBundle(caches, bundle), ...caches.rollouts.lister.by('removes', bundle)]
    .filter(isOpen)
    .map(keyOf)
}

/** Rollouts that remove a Bundle of a Placement: the Placement may select a cluster again. */
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

/** A cluster that was created, deleted or changed concerns the Rollouts that select it or have a slot for it. */
function rolloutsOfCluster(caches: Caches, { before, after }: Change<Cluster>): string[] {
  const cluster = after ?? before
  const isSame =
    before &&
    after &&
    recordedAvailability(before).state === recordedAvailability(after).state &&
    jsonEqual(holdable(before), holdable(after))
  return !cluster || isSame ? [] : rolloutsAround(caches, cluster.metadata.name)
}

/** The fields of a cluster that decide about rings, holds and windows. */
function holdable({ metadata, spec }: Cluster): unknown {
  return [metadata.labels, spec.hold, spec.cordon, spec.timeZone]
}

/** A window concerns the Rollouts that select a cluster of the window. */
function rolloutsOfWindow(caches: Caches, change: Change<Window> | Change<ClusterWindow>): string[] {
  const clusters = clustersOfWindow(caches, change)
  if (clusters.length > FEW) return caches.rollouts.lister.list().filter(isOpen).map(keyOf)
  return [...new Set(clusters.flatMap((name) => rolloutsAround(caches, name)))]
}

// Above this number of clusters, nearly each Rollout selects a cluster among them.
const FEW = 100

/** Rollouts that select a cluster or have a slot for it. */
function rolloutsAround(caches: Caches, name: string): string[] {
  const selecting = caches.decisions.lister
    .by('cluster', name)
    .flatMap((page) => openRolloutsOfPlacement(caches, inNamespaceOf(page, page.spec.placement)))
  const holding = caches.rollouts.lister.by('cluster', name).map(keyOf)
  const removing = caches.rollouts.lister.by('removesFrom', name).map(keyOf)
  return [...new Set([...selecting, ...holding, ...removing])]
}
