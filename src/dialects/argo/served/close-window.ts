// Tested by src/dialects/argo/served/sync-window.sim.test.ts
/** Stops syncs that a closed sync window overtakes: a cluster that was cut off must not sync when it comes back. */
import { parseTime } from '../../../core/time/time.ts'
import type { Context } from '../../../engine/reconciler.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import type { CheckedProject } from '../projects/validate-project.ts'
import { ownersAt } from '../../../plan/objects/managed-fields.ts'
import { MANAGER, STARTED } from './ports.ts'
import type { ArgoPorts } from './ports.ts'

const ENDED: ReadonlySet<string | undefined> = new Set(['Completed', 'Superseded', 'Aborted'])

/** An agent that was cut off after the admission does not start later than this. */
const START_BY = '15m'

/** The rings of an Application whose AppProject has sync windows; undefined without windows. */
export function windowRings({ syncWindows = [] }: CheckedProject): RolloutPlan['spec']['rings'] | undefined {
  return syncWindows.length === 0 ? undefined : [{ name: 'all', concurrency: 10, startBy: START_BY }]
}

/** Whether a person wrote `spec.paused` last: a resume by a person stands, outside of the window, too. */
function isResumedByPerson(rollout: Rollout): boolean {
  const owners = ownersAt(rollout, ['spec', 'paused'])
  return owners.length > 0 && owners.every(({ manager }) => manager !== MANAGER)
}

/** The Rollouts that were started for a sync and have not ended. */
function begunRollouts(bundles: readonly Bundle[], ports: Pick<ArgoPorts, 'rolloutOf'>): readonly Rollout[] {
  return bundles
    .flatMap((bundle) => ports.rolloutOf(bundle) ?? [])
    .filter(
      ({ spec, metadata, status }) =>
        !spec.paused && metadata.annotations?.[STARTED] !== undefined && !ENDED.has(status?.phase),
    )
}

/** When the cluster was admitted for an automated sync that has not ended; a window with `syncOverrun` asks for it. */
export function admittedMs(bundles: readonly Bundle[], ports: Pick<ArgoPorts, 'rolloutOf'>): number | undefined {
  const times = begunRollouts(bundles, ports).flatMap(({ status }) =>
    (status?.admissions ?? []).flatMap(({ admittedAt }) => parseTime(admittedAt) ?? []),
  )
  return times.length === 0 ? undefined : Math.min(...times)
}

/**
 * Pauses Rollouts outside the window, so that the window decides again about their start. What an agent has begun goes
 * on. Returns whether a sync has not ended, so that the end of the window matters.
 */
export async function stopOutsideWindow(
  bundles: readonly Bundle[],
  closed: string | undefined,
  {
    ports,
    context,
  }: { readonly ports: Pick<ArgoPorts, 'rolloutOf' | 'stop'>; readonly context: Pick<Context, 'signal'> },
): Promise<boolean> {
  const begun = begunRollouts(bundles, ports)
  if (closed === undefined) return begun.length > 0
  for (const rollout of begun) {
    if (!isResumedByPerson(rollout)) await ports.stop(rollout, context.signal)
  }
  return false
}
