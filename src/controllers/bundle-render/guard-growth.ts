// Tested by src/controllers/bundle-render/reconcile.test.ts
/** Stops a Bundle that would reach many clusters for the first time, or by another Placement. */
import { Stalled, Waiting } from '../../core/errors.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { ALLOW_DROP_ANNOTATION } from '../../kinds/native/placement.ts'
import { judgeGrowth } from '../../plan/placement/growth-guard.ts'
import type { ExistingRelease } from '../../plan/release/decide-release.ts'
import type { SelectedCluster } from '../../plan/release/release-content.ts'
import { contentFor } from '../../plan/release/variants.ts'

const WAIT_MS = 5000

/** Throws Stalled when the guard stops the Release. Later Releases reach clusters that join without a question. */
export function guardGrowth(
  bundle: Bundle,
  release: ExistingRelease,
  selected: readonly SelectedCluster[],
  at: {
    readonly newest: ExistingRelease | undefined
    /** Whether the Placement exists and has no decisions yet. */
    readonly isDeciding: boolean
    readonly now: number
    readonly held: NonNullable<Bundle['status']>['held']
  },
): void {
  if (at.newest?.placement === release.placement) return
  // Without decisions, the first Release would be made before it is known how many clusters it reaches.
  if (at.isDeciding)
    throw new Waiting('PlacementPending', `Placement ${release.placement} is not decided yet.`, WAIT_MS)
  const { name, namespace = '', annotations, generation = 1 } = bundle.metadata
  const status = (bundle.status ??= {})
  const added = selected.filter(
    ({ inputs, assigned }) => !assigned && contentFor(release, inputs).kind === 'Set',
  ).length
  const of = selected.filter(({ assigned }) => assigned).length
  const verdict = judgeGrowth({
    added,
    of,
    limit: bundle.spec.guard?.maxAdded,
    generation,
    change: { placement: release.placement },
    release: annotations?.[ALLOW_DROP_ANNOTATION],
  })
  if (verdict.kind === 'Released') status.released = { token: verdict.token, dropped: 0, at: formatTime(at.now) }
  if (verdict.kind !== 'Held') return
  const { token, allowed, message } = verdict
  const since = at.held?.token === token ? at.held.since : formatTime(at.now)
  status.held = { token, dropping: 0, adding: added, of, allowed, since, message }
  throw new Stalled(
    'GrowthHeld',
    `${message} Clusters keep what they run. Let it through with: flotilla guard release bundle ${name} -n ${namespace} (token ${token})`,
  )
}
