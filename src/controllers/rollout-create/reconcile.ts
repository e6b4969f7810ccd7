import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/bundle.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { Release } from '../../kinds/release.ts'
import { Rollout } from '../../kinds/rollout.ts'

/** How many clusters may be changing at once unless the Bundle says otherwise. */
export const DEFAULT_CONCURRENCY = 10

/** What rollout-create needs from the world. */
export interface RolloutCreatePorts {
  /** The Releases of a Bundle beside this one. */
  releasesOf(release: Release, bundle: string): readonly Release[]
  bundleOf(release: Release, bundle: string): Bundle | undefined
  hasRollout(release: Release): boolean
  createRollout(rollout: Rollout, signal: AbortSignal): Promise<void>
}

/** Gives the newest Release of a Bundle its Rollout. */
export function rolloutCreateReconciler(ports: RolloutCreatePorts): Reconciler<Release> {
  return {
    name: 'rollout-create',
    async reconcile(draft: Draft<Release>, context: Context): Promise<Result> {
      const release = draft.next
      if (release.metadata.deletionTimestamp) return {}
      const { name } = release.metadata
      if (!ports.hasRollout(release)) {
        if (!isNewest(release, ports)) {
          draft.conditions.set(
            'Ready',
            'False',
            'Superseded',
            'A newer Release of its Bundle exists; this one is not rolled out.',
          )
          return {}
        }
        await ports.createRollout(rolloutFor(release, ports), context.signal)
        context.log.info({ rollout: name }, 'rollout made')
      }
      draft.conditions.set('Ready', 'True', 'RolloutMade', `Rollout ${name} carries it.`)
      return {}
    },
  }
}

function isNewest(release: Release, ports: RolloutCreatePorts): boolean {
  return release.spec.bundles.some(({ name, generation }) =>
    ports
      .releasesOf(release, name)
      .every((other) => other.spec.bundles.every((bundle) => bundle.name !== name || bundle.generation <= generation)),
  )
}

function rolloutFor(release: Release, ports: RolloutCreatePorts): Rollout {
  const { name, namespace } = release.metadata
  const bundle = ports.bundleOf(release, release.spec.bundles[0]?.name ?? '')
  return {
    apiVersion: apiVersionOf(Rollout),
    kind: Rollout.kind,
    metadata: { name, ...(namespace ? { namespace } : {}) },
    spec: {
      release: name,
      rings: [{ name: 'all', concurrency: bundle?.spec.rollout?.concurrency ?? DEFAULT_CONCURRENCY }],
      paused: false,
    },
  }
}
