import { parseTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { deletedRetentionMs } from '../../plan/release/release-history.ts'
import { asRemoval, removeRollout } from './reconcile.ts'
import type { ReleaseForgetPorts } from './reconcile.ts'

/** The ports of the controller; Bundles are names in the namespace of the Release. */
export interface ForgetDeletedPorts extends Pick<
  ReleaseForgetPorts,
  'approvalsOf' | 'remove' | 'rolloutOf' | 'isRegistered'
> {
  isThere(release: Release, bundle: string): boolean
  releasesOf(release: Release, bundle: string): readonly Release[]
  removalsOf(release: Release, bundle: string): readonly Rollout[]
  /** Whether a document or a report names the Bundle, also as removed. */
  isNamed(release: Release, bundle: string): boolean
}

/**
 * Deletes the Releases and Rollouts of a deleted Bundle that no cluster has, after they were kept for a while for
 * inspection.
 */
export function forgetDeletedReconciler(ports: ForgetDeletedPorts): Reconciler<Release> {
  return {
    name: 'release-forget-deleted',
    async reconcile({ seen: release }: Draft<Release>, { clock, log, signal }: Context): Promise<Result> {
      const bundles = release.spec.bundles.map(({ name }) => name)
      if (bundles.some((bundle) => ports.isThere(release, bundle))) return {}
      const removals = bundles.flatMap((bundle) => ports.removalsOf(release, bundle))
      const releases = bundles.flatMap((bundle) => ports.releasesOf(release, bundle))
      const rollouts = releases.flatMap((one) => ports.rolloutOf(one) ?? [])
      const keptMs = deletedRetentionMs(
        {
          isNamed: bundles.some((bundle) => ports.isNamed(release, bundle)),
          slots: rollouts.reduce((sum, { status }) => sum + (status?.admissions ?? []).length, 0),
          removals: removals.map((one) => asRemoval(one, ports)),
          lastAt: Math.max(...[...releases, ...rollouts, ...removals].map(bornAt)),
        },
        clock.now(),
      )
      if (keptMs > 0) return { requeueAfterMs: keptMs }
      for (const removal of removals) await removeRollout(removal, ports, signal)
      const rollout = ports.rolloutOf(release)
      if (rollout) await removeRollout(rollout, ports, signal)
      await ports.remove('Release', release, signal)
      log.info({ release: release.metadata.name }, 'release of a deleted bundle forgotten')
      return {}
    },
  }
}

function bornAt({ metadata }: Release | Rollout): number {
  return parseTime(metadata.creationTimestamp ?? '') ?? 0
}
