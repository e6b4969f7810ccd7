import { findCondition } from '../../core/conditions.ts'
import { canonicalJson } from '../../core/json.ts'
import { parseTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Source } from '../../kinds/native/source.ts'
import { decideCommitRelease } from '../../plan/release/commit-release.ts'
import type { GatheredBundle, MissingBundle } from '../../plan/release/commit-release.ts'
import type { ReleaseGatherPorts } from './ports.ts'
import type { ReleaseMaker } from './release-maker.ts'

/**
 * Makes the Releases of a commit from the contents that wait in the maker, and shows the result in the Source's
 * conditions.
 */
export function releaseGatherReconciler(
  ports: Pick<ReleaseGatherPorts, 'bundlesOf' | 'isPlaced'>,
  maker: Pick<ReleaseMaker, 'stateOf' | 'makeRelease'>,
): Reconciler<Source> {
  return {
    name: 'release-gather',
    async reconcile(draft: Draft<Source>, context: Context): Promise<Result> {
      const source = draft.next
      const artifact = source.status?.artifact
      if (!artifact || source.metadata.deletionTimestamp) return {}
      const bundles = ports.bundlesOf(keyOf(source))
      const now = context.clock.now()
      const decision = decideCommitRelease({
        artifact: artifact.digest,
        since: parseTime(artifact.fetchedAt) ?? now,
        now,
        bundles: bundles.map((bundle) => gatheredBundle(bundle, ports, maker)),
      })
      if (decision.kind === 'Wait') return { requeueAfterMs: decision.until - now }
      if (decision.kind === 'Release') {
        for (const names of decision.releases) {
          const members = names.map((name) => bundles.find(({ metadata }) => metadata.name === name)!)
          await maker.makeRelease(source, members, decision.missing, context)
        }
      }
      setReleasedCondition(draft, bundles, decision.missing)
      return {}
    },
  }
}

function gatheredBundle(
  bundle: Bundle,
  ports: Pick<ReleaseGatherPorts, 'isPlaced'>,
  maker: Pick<ReleaseMaker, 'stateOf'>,
): GatheredBundle {
  const { status, spec, metadata } = bundle
  const rendered = findCondition(status?.conditions, 'Rendered')
  // A Rollout cannot start without decisions: a Bundle that has none gets a Release of its own.
  const alone = ports.isPlaced(bundle) ? '' : metadata.name
  const { history: _, ...settings } = spec.rollout ?? {}
  return {
    name: metadata.name,
    ...maker.stateOf(bundle),
    problem: rendered?.status === 'False' ? rendered.message : undefined,
    group: canonicalJson([settings, alone]),
  }
}

function setReleasedCondition(
  draft: Draft<Source>,
  bundles: readonly Bundle[],
  missing: readonly MissingBundle[],
): void {
  const { revision } = draft.next.status!.artifact!
  if (bundles.length === 0) {
    draft.conditions.remove('Released')
    return
  }
  const [first] = missing
  if (!first) {
    draft.conditions.set('Released', 'True', 'Released', `All bundles are rendered from ${revision}.`)
    return
  }
  const more = missing.length > 1 ? ` And ${missing.length - 1} more.` : ''
  const message = `Bundle ${first.name} is not part of ${revision}: ${first.problem}${more}`
  draft.conditions.set('Released', 'False', 'PartlyReleased', message.slice(0, 4096))
}
