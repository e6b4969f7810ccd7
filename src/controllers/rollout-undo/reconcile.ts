// Tested by src/controllers/rollout-undo/controller.sim.test.ts
import { compact } from '../../core/compact.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { PlannedRollback } from '../../plan/release/rollback.ts'
import { planRequest, scopeOf } from '../../plan/release/rollback-request.ts'
import type { RollbackRequest } from '../../plan/release/rollback-request.ts'
import { buildReleaseEntry, releaseObject } from '../writes/release-objects.ts'
import type { BadRevisionMark, RolloutUndoPorts } from './ports.ts'

const RETRY_MS = 30_000

/** A request to roll a Rollout back. */
interface Request extends RollbackRequest {
  readonly n: number
  readonly by: string
  readonly reason?: string | undefined
}

/** Rolls back Rollouts that failed, or for which a user asked for a rollback. */
export function rolloutUndoReconciler(ports: RolloutUndoPorts): Reconciler<Rollout> {
  return {
    name: 'rollout-undo',
    async reconcile(draft: Draft<Rollout>, context: Context): Promise<Result> {
      const rollout = draft.seen
      const release = ports.releaseNamed(rollout, rollout.spec.release)
      if (!release || rollout.spec.removal || rollout.metadata.deletionTimestamp) return {}
      let retry = false
      for (const request of requestsOf(rollout)) {
        const name = undoName(release, request)
        if (ports.releaseNamed(rollout, name)) {
          draft.conditions.set('RolledBack', 'True', 'RolledBack', `Release ${name} takes it back.`)
          continue
        }
        const plans = planRequest(rollout, release, request, ports.worldOf(rollout))
        const moving = plans.filter(({ content }) => content !== undefined)
        if (moving.length === 0) {
          const problem = plans.find((plan) => plan.problem !== undefined)?.problem
          const message =
            problem ?? 'Nothing to roll back: newer Releases carry its Bundles, or no cluster has them yet.'
          draft.conditions.set('RolledBack', 'False', 'NothingToTakeBack', message)
          retry = true
          continue
        }
        const at = formatTime(context.clock.now())
        await ports.markBad(
          release,
          moving.map(({ bundle }) => markOf(bundle, request, at)),
          context.signal,
        )
        await ports.createRelease(releaseFor(release, name, request, moving), context.signal)
        const count = new Set(moving.flatMap(({ moves }) => moves.map(({ cluster }) => cluster))).size
        context.log.info({ release: name, clusters: count }, 'rollback made')
        draft.conditions.set('RolledBack', 'True', 'RolledBack', `Release ${name} takes it back.`)
      }
      // The decisions and documents that a rollback is planned from may change.
      return retry ? { requeueAfterMs: RETRY_MS } : {}
    },
  }
}

/** The requests in order; the rollback on failure first. */
function requestsOf({ spec, status }: Rollout): Request[] {
  const failure = status?.rollBack
  const own: Request[] = failure ? [{ n: 0, by: 'onFailure', reason: failure.reason, ring: failure.ring }] : []
  return [...own, ...(spec.acts ?? []).filter(({ verb }) => verb === 'RollBack')]
}

/** `<release>-undo-<n>`. */
function undoName({ metadata }: Release, { n }: Request): string {
  return `${metadata.name.slice(0, 230)}-undo-${n}`
}

function markOf(bundle: string, { by, reason, clusters }: Request, at: string): BadRevisionMark {
  return compact({
    bundle,
    by,
    at,
    reason,
    clusters: clusters ? [...clusters] : undefined,
  })
}

function releaseFor(of: Release, name: string, request: Request, plans: readonly PlannedRollback[]): Release {
  const { by, reason } = request
  return releaseObject(of.metadata.namespace, name, {
    bundles: plans.map(({ bundle, content }) => buildReleaseEntry(bundle, content!)),
    rollBack: compact({
      of: of.metadata.name,
      scope: scopeOf(request),
      by,
      reason,
    }),
  })
}
