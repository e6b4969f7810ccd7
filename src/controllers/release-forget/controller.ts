import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { Approval } from '../../kinds/native/approval.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import { Release } from '../../kinds/native/release.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { preconditionsFor } from '../writes/preconditions.ts'
import { unsettledClusters } from '../../plan/rollout/rollout-status.ts'
import { inNamespaceOf } from '../caches/caches.ts'
import type { Caches } from '../caches/caches.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { triggerOn } from '../../engine/trigger.ts'
import { forgetDeletedReconciler } from './forget-deleted.ts'
import { releaseForgetReconciler } from './reconcile.ts'

const TYPES = { Approval, Rollout, Release } as const

/** Creates the controller that deletes old Releases. */
export function createReleaseForget(parts: ControllerParts): Controller {
  const { caches } = parts
  const reconciler = releaseForgetReconciler({
    ...portsOf(parts),
    bundleNamed: (bundle, name) => caches.bundles.lister.get(inNamespaceOf(bundle, name)),
    namedOf: (bundle, name) => namedGenerations(caches, inNamespaceOf(bundle, name)),
  })
  // A newer Release makes older Releases history, and a finished Rollout has moved clusters to a newer Release.
  const triggers = [
    triggerOn(caches.rollouts, ({ before, after }) => {
      if (!after) return []
      if (after.spec.removal) {
        const isThrough = unsettledClusters(after).length === 0 && before && unsettledClusters(before).length > 0
        return isThrough ? [inNamespaceOf(after, after.spec.removal.bundle)] : []
      }
      if (before?.status?.phase === after.status?.phase) return []
      const release = caches.releases.lister.get(inNamespaceOf(after, after.spec.release))
      return (release?.spec.bundles ?? []).map(({ name }) => inNamespaceOf(after, name))
    }),
    triggerOn(caches.releases, ({ before, after }) =>
      after && !before ? after.spec.bundles.map(({ name }) => inNamespaceOf(after, name)) : [],
    ),
  ]
  return createController({
    ...parts,
    type: Bundle,
    notesGeneration: false, // bundle-render records the observed generation of a Bundle
    informer: caches.bundles,
    reconciler,
    triggers,
    failureCondition: false,
  })
}

/** Creates the controller that deletes the Releases and Rollouts of deleted Bundles. */
export function createForgetDeleted(parts: ControllerParts): Controller {
  const { caches } = parts
  const reconciler = forgetDeletedReconciler({
    ...portsOf(parts),
    isThere: (release, bundle) => caches.bundles.lister.get(inNamespaceOf(release, bundle)) !== undefined,
    isNamed: (release, bundle) => isNamed(caches, inNamespaceOf(release, bundle)),
  })
  const deletions = triggerOn(caches.bundles, ({ key, after }) =>
    after ? [] : caches.releases.lister.by('bundle', key).map(keyOf),
  )
  return createController({
    ...parts,
    type: Release,
    informer: caches.releases,
    reconciler,
    triggers: [deletions],
    failureCondition: false,
  })
}

function portsOf({ caches, client }: ControllerParts) {
  type Beside = Parameters<typeof inNamespaceOf>[0]
  return {
    releasesOf: (beside: Beside, bundle: string) => caches.releases.lister.by('bundle', inNamespaceOf(beside, bundle)),
    removalsOf: (beside: Beside, bundle: string) => caches.rollouts.lister.by('removes', inNamespaceOf(beside, bundle)),
    rolloutOf: (release: Pick<Release, 'metadata'>) =>
      caches.rollouts.lister.get(inNamespaceOf(release, release.metadata.name)),
    approvalsOf: (rollout: Rollout) => caches.approvals.lister.by('rollout', keyOf(rollout)),
    isRegistered: (cluster: string) => caches.clusters.lister.get(cluster) !== undefined,
    remove: async (kind: keyof typeof TYPES, { metadata }: KubeObject, signal: AbortSignal): Promise<void> => {
      const { name, namespace } = metadata
      try {
        await client.delete(TYPES[kind], compact({ name, namespace: namespace || undefined }), {
          ...preconditionsFor(metadata),
          signal,
        })
      } catch (caught) {
        if (!isApiError(caught, 'NotFound')) throw caught
      }
    },
  }
}

/** Whether a document has an entry or a tombstone of a Bundle, or a report has a row or a receipt of it. */
function isNamed(caches: Pick<Caches, 'assignments' | 'reports'>, bundle: string): boolean {
  const { lister } = caches.assignments
  if (lister.by('bundle', bundle).length > 0 || lister.by('tombstone', bundle).length > 0) return true
  const isOf = (row: { readonly bundle: string }) => row.bundle === bundle
  return caches.reports.lister.list().some(({ spec }) => spec.bundles.some(isOf) || (spec.removals ?? []).some(isOf))
}

/** Generations of a Bundle in documents, in their tombstones and rollback revisions, and in reports. */
function namedGenerations(caches: Pick<Caches, 'assignments' | 'reports'>, bundle: string): ReadonlySet<number> {
  const named = new Set<number>()
  const { lister } = caches.assignments
  for (const { metadata, spec } of [...lister.by('bundle', bundle), ...lister.by('tombstone', bundle)]) {
    for (const entry of spec.entries) {
      if (entry.bundle !== bundle) continue
      named.add(entry.generation)
      if (entry.before) named.add(entry.before.generation)
    }
    for (const grave of spec.tombstones ?? []) if (grave.bundle === bundle) named.add(grave.generation)
    for (const row of caches.reports.lister.get(metadata.name)?.spec.bundles ?? []) {
      if (row.bundle === bundle) named.add(row.generation)
    }
  }
  return named
}
