import { isApiError } from '../../core/errors.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { Approval } from '../../kinds/approval.ts'
import { Bundle } from '../../kinds/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import { Release } from '../../kinds/release.ts'
import { Rollout } from '../../kinds/rollout.ts'
import { asSeen } from '../as-seen.ts'
import { inNamespaceOf } from '../caches.ts'
import type { Caches } from '../caches.ts'
import type { ControllerParts } from '../parts.ts'
import { triggerOn, withTriggers } from '../triggers.ts'
import { releaseForgetReconciler } from './reconcile.ts'

const TYPES = { Approval, Rollout, Release } as const

/** Releases that are history → gone. */
export function createReleaseForget(parts: ControllerParts): Controller {
  const { caches, client } = parts
  const reconciler = releaseForgetReconciler({
    releasesOf: (bundle, name) => caches.releases.lister.by('bundle', inNamespaceOf(bundle, name)),
    rolloutOf: (release) => caches.rollouts.lister.get(inNamespaceOf(release, release.metadata.name)),
    bundleNamed: (bundle, name) => caches.bundles.lister.get(inNamespaceOf(bundle, name)),
    namedOf: (bundle, name) => namedGenerations(caches, inNamespaceOf(bundle, name)),
    approvalsOf: (rollout) => caches.approvals.lister.by('rollout', keyOf(rollout)),
    remove: async (kind, { metadata }, signal) => {
      const { name, namespace } = metadata
      try {
        await client.delete(TYPES[kind], { name, ...(namespace ? { namespace } : {}) }, { ...asSeen(metadata), signal })
      } catch (caught) {
        if (!isApiError(caught, 'NotFound')) throw caught
      }
    },
  })
  // A newer Release makes older ones history, and a Rollout that is through has taken clusters off them.
  const triggers = [
    triggerOn(caches.rollouts, ({ before, after }) => {
      if (!after || after.spec.removal || before?.status?.phase === after.status?.phase) return []
      const release = caches.releases.lister.get(inNamespaceOf(after, after.spec.release))
      return (release?.spec.bundles ?? []).map(({ name }) => inNamespaceOf(after, name))
    }),
    triggerOn(caches.releases, ({ before, after }) =>
      after && !before ? after.spec.bundles.map(({ name }) => inNamespaceOf(after, name)) : [],
    ),
  ]
  const controller = createController({
    ...parts,
    type: Bundle,
    notesGeneration: false, // that a generation was looked at is bundle-render's to say
    informer: caches.bundles,
    reconciler,
    watches: triggers.map(({ watch }) => watch),
    failureCondition: false,
  })
  return withTriggers(controller, triggers)
}

/** Generations of a bundle that any cluster has, had last, is rid of, or says it has. */
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
