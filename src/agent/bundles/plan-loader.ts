/** Plans of sets: read from their objects, or rendered in the cluster for a recipe. */
import type { Clock } from '../../core/time/clock.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { ObjectSet } from '../../wire/document/cluster-document.ts'
import { afterRerender } from '../../plan/apply/rerender.ts'
import { replan } from './bundle-run.ts'
import type { BundleRun } from './bundle-run.ts'
import type { ClusterRender } from '../render/cluster-render.ts'
import { RenderRefused } from '../render/cluster-render.ts'
import { ObjectFailure } from '../cluster/object-failure.ts'
import type { Content } from '../documents/content.ts'
import { planSet } from '../documents/set-plan.ts'
import type { SetPlan } from '../documents/set-plan.ts'

/** Creates the loader of plans. */
export function createPlanLoader({
  content,
  clusterRender,
  clock,
}: {
  readonly content: Content
  readonly clusterRender: Pick<ClusterRender, 'plan'>
  readonly clock: Pick<Clock, 'monotonicMs'>
}) {
  function of(bundle: string, set: ObjectSet, digest: Digest, signal: AbortSignal): Promise<SetPlan> {
    return set.render ? clusterRender.plan(bundle, set, signal) : planSet(set, digest, content, signal)
  }

  return {
    of,
    /**
     * The plan of a run's set, rendered again when an object that it read changed. When the set cannot be rendered now,
     * the plan stays the previous plan and `problem` says why.
     */
    async upToDate(
      run: BundleRun,
      signal: AbortSignal,
    ): Promise<{ readonly plan: SetPlan; readonly problem?: string }> {
      const { plan } = run
      const { bundle } = run.entry
      const isDue = (plan?.rendered?.againAtMs ?? Number.POSITIVE_INFINITY) <= clock.monotonicMs()
      if (plan && !run.isStale && !isDue) return { plan }
      // A change from now on needs another rendering.
      run.isStale = false
      const set = await content.complete(run.set, signal)
      try {
        const made = await of(bundle, set, run.set, signal)
        if (!plan) run.plan = made
        else if (plan.rendered?.mark === made.rendered?.mark) run.plan = { ...plan, rendered: made.rendered! }
        else {
          replan(run, made)
          run.rerenders = afterRerender(run.rerenders, clock.monotonicMs())
        }
      } catch (caught) {
        run.isStale = plan !== undefined
        if (!plan || !(caught instanceof ObjectFailure || caught instanceof RenderRefused)) throw caught
        return { plan, problem: caught.message }
      }
      return { plan: run.plan! }
    },
  }
}

/** Loads plans. */
export type PlanLoader = ReturnType<typeof createPlanLoader>
