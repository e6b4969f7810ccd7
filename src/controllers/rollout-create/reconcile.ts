import { compact } from '../../core/compact.ts'
import { Waiting } from '../../core/errors.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { rollbackRings, rolloutRings } from '../../plan/rollout/rollout-rings.ts'

const RETRY_MS = 60_000

/** The ports of rollout-create. */
export interface RolloutCreatePorts {
  /** The Releases of a Bundle in the namespace of this Release. */
  releasesOf(release: Release, bundle: string): readonly Release[]
  bundleOf(release: Release, bundle: string): Bundle | undefined
  planOf(release: Release, plan: string): RolloutPlan | undefined
  hasRollout(release: Release): boolean
  createRollout(rollout: Rollout, signal: AbortSignal): Promise<void>
}

/** Creates the Rollout of the newest Release of a Bundle. */
export function rolloutCreateReconciler(ports: RolloutCreatePorts): Reconciler<Release> {
  return {
    name: 'rollout-create',
    async reconcile(draft: Draft<Release>, context: Context): Promise<Result> {
      const release = draft.next
      if (release.metadata.deletionTimestamp) return {}
      const { name } = release.metadata
      if (!ports.hasRollout(release)) {
        // No Bundle of the Release exists any more: release-forget deletes the Release.
        if (release.spec.bundles.every((bundle) => !ports.bundleOf(release, bundle.name))) return {}
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
  const asked = ports.bundleOf(release, release.spec.bundles[0]?.name ?? '')?.spec.rollout
  const planName = asked?.plan
  const plan = planName === undefined ? undefined : ports.planOf(release, planName)
  if (planName !== undefined && !plan) {
    throw new Waiting('PlanMissing', `RolloutPlan ${planName} does not exist; nothing moves without it.`, RETRY_MS)
  }
  const moves = rolloutRings(asked, plan)
  const { rollBack } = release.spec
  return {
    apiVersion: apiVersionOf(Rollout),
    kind: Rollout.kind,
    metadata: compact({ name, namespace: namespace || undefined }),
    spec: {
      release: name,
      ...(rollBack ? rollbackRings(moves, rollBack) : moves),
      // A rollback that fails waits for a person.
      ...compact({ onFailure: plan?.spec.onFailure === undefined || rollBack ? undefined : plan.spec.onFailure }),
    },
  }
}
