import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import type { IntentFacts } from '../../plan/document/removal.ts'
import { unsettledClusters } from '../../plan/rollout/rollout-status.ts'
import { inNamespaceOf, rolloutsOfBundle } from '../caches/caches.ts'
import type { Caches } from '../caches/caches.ts'
import { createOnce } from '../writes/create-once.ts'
import { placementFilterReason } from '../caches/retained-clusters.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { isWithdrawn } from '../caches/withdrawn-bundles.ts'
import { selectedClusters, selectionStamp, selectsCluster } from '../caches/selected-clusters.ts'
import { triggerOn } from '../../engine/trigger.ts'
import type { BundleRemovePorts, Holder } from './ports.ts'
import { bundleRemoveReconciler } from './reconcile.ts'

/** Creates the controller that writes Rollouts with `spec.removal` for clusters that lose a Bundle. */
export function createBundleRemove(parts: ControllerParts): Controller {
  const { caches, client, clock } = parts
  const reconciler = bundleRemoveReconciler({
    decidedOf: (bundle) => decidedOf(caches, bundle),
    holdersOf: (bundle) => holdersOf(caches, keyOf(bundle)),
    removalsOf: (bundle) => caches.rollouts.lister.by('removes', keyOf(bundle)),
    selects: (bundle, placement, cluster) => {
      const key = inNamespaceOf(bundle, placement)
      return selectionStamp(caches, key) !== undefined && selectsCluster(caches, key, cluster)
    },
    stoppedBy: (bundle) => placementFilterReason(caches, bundle, clock.now()),
    planOf: (bundle) =>
      bundle.spec.rollout?.plan === undefined
        ? undefined
        : caches.rolloutPlans.lister.get(inNamespaceOf(bundle, bundle.spec.rollout.plan)),
    lastRolloutOf: (bundle) => newest(rolloutsOfBundle(caches, keyOf(bundle))),
    createRollout: (rollout, signal) =>
      createOnce(client, Rollout, rollout, { fieldManager: 'flotilla-bundle-remove', signal }),
    isNamespaceEnding: (caught) =>
      isApiError(caught, 'Forbidden') && /being terminated|NamespaceTerminating/i.test(String(caught)),
  } satisfies BundleRemovePorts)
  const triggers = [
    triggerOn(caches.decisions, ({ before, after }) => {
      const page = after ?? before
      return page && !jsonEqual(before?.spec, after?.spec)
        ? bundlesOf(caches, inNamespaceOf(page, page.spec.placement))
        : []
    }),
    // Decisions count only once the cache has their Placement, and a cluster can get a Bundle while it is Evicting.
    triggerOn(caches.placements, ({ key, before, after }) =>
      before?.metadata.generation === after?.metadata.generation ? [] : bundlesOf(caches, key),
    ),
    triggerOn(caches.assignments, ({ before, after }) => {
      const known = new Set(before?.spec.entries.map(({ bundle }) => bundle))
      const gained = (after?.spec.entries ?? []).map(({ bundle }) => bundle).filter((bundle) => !known.has(bundle))
      // A pass compares all clusters that have the Bundle. A cluster that gets a Bundle because its Placement selects
      // it needs no pass; in a rollout that is each cluster.
      return gained.filter((bundle) => !isWantedOn(caches, bundle, after!.metadata.name))
    }),
    // A removal no longer stands for a cluster that kept the Bundle because the Placement selected it again.
    triggerOn(caches.rollouts, ({ before, after }) => {
      if (!after?.spec.removal) return []
      const bundle = inNamespaceOf(after, after.spec.removal.bundle)
      const settled = new Set(after.status?.settled)
      const isLeft = (cluster: string) =>
        settled.has(cluster) &&
        caches.assignments.lister.get(cluster)?.spec.entries.some((entry) => entry.bundle === bundle)
      return before && unsettledClusters(before).some(isLeft) ? [bundle] : []
    }),
  ]
  return createController({
    ...parts,
    type: Bundle,
    notesGeneration: false, // bundle-render records the observed generation of a Bundle
    informer: caches.bundles,
    reconciler,
    triggers,
    failureCondition: 'Removing',
  })
}

function bundlesOf(caches: Caches, placement: string): string[] {
  return caches.bundles.lister.by('placement', placement).map(keyOf)
}

function isWantedOn(caches: Caches, bundle: string, cluster: string): boolean {
  const found = caches.bundles.lister.get(bundle)
  if (!found || found.metadata.deletionTimestamp !== undefined) return false
  return selectsCluster(caches, inNamespaceOf(found, found.spec.placement), cluster)
}

function decidedOf(caches: Caches, bundle: Bundle): IntentFacts['decided'] {
  const placement = inNamespaceOf(bundle, bundle.spec.placement)
  const selected = selectedClusters(caches, placement)
  if (!selected) return undefined
  const evicting = caches.decisions.lister
    .by('placement', placement)
    .flatMap(({ spec }) => spec.decisions.filter(({ state }) => state === 'Evicting'))
  return {
    selected: new Set(selected),
    evicting: new Map(evicting.map(({ cluster, reason }) => [cluster, reason])),
  }
}

/** Clusters whose documents have the Bundle, and clusters with a slot for it. */
function holdersOf(caches: Caches, bundle: string): Holder[] {
  const placements = new Map<string, string | undefined>()
  const placementOf = (rollout: string) => {
    if (!placements.has(rollout)) placements.set(rollout, placementBy(caches, rollout, bundle))
    return placements.get(rollout)
  }
  const holders = new Map<string, Holder>()
  const add = (cluster: string, rollout: string, revision: number, isLast = false) => {
    const placement = placementOf(rollout)
    if (caches.clusters.lister.get(cluster) === undefined) return
    const known = placement === undefined ? {} : { placement }
    holders.set(cluster, { cluster, revision, ...known, ...compact({ isLast: isLast || undefined }) })
  }
  for (const rollout of rolloutsOfBundle(caches, bundle)) {
    for (const admission of rollout.status?.admissions ?? []) {
      if (inNamespaceOf(rollout, admission.bundle) === bundle) add(admission.cluster, keyOf(rollout), 0)
    }
  }
  for (const { metadata, spec } of caches.assignments.lister.by('bundle', bundle)) {
    const isLast = spec.entries.every(
      (entry) => entry.bundle === bundle || isWithdrawn(caches, entry.bundle, metadata.name),
    )
    add(metadata.name, spec.entries.find((entry) => entry.bundle === bundle)!.rollout, spec.revision, isLast)
  }
  return [...holders.values()]
}

function placementBy(caches: Caches, rollout: string, bundle: string): string | undefined {
  const found = caches.rollouts.lister.get(rollout)
  const release = found && caches.releases.lister.get(inNamespaceOf(found, found.spec.release))
  return release?.spec.bundles.find(({ name }) => inNamespaceOf(release, name) === bundle)?.placement
}

function newest(rollouts: readonly Rollout[]): Rollout | undefined {
  const born = ({ metadata }: Rollout) => metadata.creationTimestamp ?? ''
  return rollouts.toSorted((a, b) => (born(a) < born(b) ? 1 : born(a) > born(b) ? -1 : 0))[0]
}
