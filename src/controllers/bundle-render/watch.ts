import type { Blobs } from '../../blobs/blobs.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { Bundle } from '../../kinds/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import { Release } from '../../kinds/release.ts'
import type { Rollout } from '../../kinds/rollout.ts'
import { inNamespaceOf } from '../caches.ts'
import type { Caches } from '../caches.ts'
import { createOnce } from '../create-once.ts'
import type { ControllerParts } from '../parts.ts'
import { triggerOn, withTriggers } from '../triggers.ts'
import type { RenderPort } from './ports.ts'
import { bundleRenderReconciler } from './reconcile.ts'

/** Bundle → Release. */
export function createBundleRender(
  parts: ControllerParts & { readonly blobs: Pick<Blobs, 'put'>; readonly render: RenderPort },
): Controller {
  const { caches, client, blobs, render } = parts
  const reconciler = bundleRenderReconciler({
    render,
    releasesOf: (bundle) => caches.releases.lister.by('bundle', bundle),
    rolloutOf: (release) => caches.rollouts.lister.by('release', keyOf(release))[0],
    highestAssigned: (bundle) =>
      caches.assignments.lister
        .by('bundle', bundle)
        .flatMap((assignment) => assignment.spec.entries)
        .reduce((highest, entry) => (entry.bundle === bundle ? Math.max(highest, entry.generation) : highest), 0),
    putBlob: (bytes) => blobs.put(bytes),
    createRelease: (release, signal) =>
      createOnce(client, Release, release, { fieldManager: 'flotilla-bundle-render', signal }),
  })
  const rollouts = triggerOn(caches.rollouts, ({ before, after }) =>
    shownOf(before) === shownOf(after) ? [] : bundlesOf(caches, after ?? before),
  )
  const releases = triggerOn(caches.releases, ({ before, after }) =>
    before && after ? [] : (after ?? before)!.spec.bundles.map(({ name }) => inNamespaceOf((after ?? before)!, name)),
  )
  const controller = createController({
    ...parts,
    type: Bundle,
    informer: caches.bundles,
    reconciler,
    watches: [rollouts, releases].map((trigger) => trigger.watch),
  })
  return withTriggers(controller, [rollouts, releases])
}

// What a Bundle's conditions repeat of its Rollout; progress in between is not worth a look.
function shownOf(rollout: Rollout | undefined): string {
  const phase = rollout?.status?.phase ?? ''
  if (phase !== 'Completed' && phase !== 'Failed') return phase
  return `${phase} ${rollout?.status?.conditions?.find((condition) => condition.type === 'Ready')?.message}`
}

function bundlesOf(caches: Caches, rollout: Rollout | undefined): string[] {
  if (!rollout) return []
  const release = caches.releases.lister.get(inNamespaceOf(rollout, rollout.spec.release))
  return release ? release.spec.bundles.map(({ name }) => inNamespaceOf(release, name)) : []
}
