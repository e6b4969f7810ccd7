/**
 * The rings of a RolloutStrategy of Open Cluster Management. Shares become numbers, because decision groups and
 * clusters are known here; what is not equal is in docs/dialects/ocm-works.md. Pure.
 */
import { compact } from '../../../core/compact.ts'
import { formatDuration, parseDuration } from '../../../core/time/duration.ts'
import { goDurationProblem } from '../../../core/time/go-duration.ts'
import type { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import { readDeadline, readLimit } from '../rollout/next-clusters.ts'
import type { OcmRolloutStrategy, RolloutGroup, StrategyOptions } from '../rollout/next-clusters.ts'

/** The plan of a rollout, or the sentence that says why there is none. */
export type StrategyPlan = { readonly plan: RolloutPlan['spec'] } | { readonly problem: string }

type Ring = RolloutPlan['spec']['rings'][number]

/** The largest number of rings of a plan. */
const MAX_RINGS = 32

/** The name of a decision group in the Placement and in rings: names in Open Cluster Management can repeat. */
export function groupNameOf({ index }: Pick<RolloutGroup, 'index'>): string {
  return `group-${index}`
}

/** Whether the rings need the decision groups. */
export function usesGroups({ type, progressive }: OcmRolloutStrategy): boolean {
  return (
    type === 'ProgressivePerGroup' || (type === 'Progressive' && Boolean(progressive?.mandatoryDecisionGroups?.length))
  )
}

/** The plan of a strategy for these decision groups. */
export function planOf(strategy: OcmRolloutStrategy, groups: readonly RolloutGroup[]): StrategyPlan {
  const { type = 'All' } = strategy
  const options =
    (type === 'All' ? strategy.all : type === 'Progressive' ? strategy.progressive : strategy.progressivePerGroup) ?? {}
  const deadline = readDeadline(options.progressDeadline)
  if ('error' in deadline) return { problem: `progressDeadline: ${deadline.error}` }
  const soak = readSoak(options.minSuccessTime)
  if (typeof soak === 'object') return soak
  const rings =
    type === 'All'
      ? [{ name: 'all', concurrency: '100%', maxFailed: '100%' }]
      : ringsOf(type, options, { groups, soak })
  if ('problem' in rings) return rings
  const progressDeadline = deadline.ms === undefined ? undefined : formatDuration(Math.max(1000, deadline.ms))
  return { plan: compact({ rings, start: 'Automatic' as const, progressDeadline }) }
}

function readSoak(text: string | undefined): string | undefined | { readonly problem: string } {
  if (text === undefined || text === '') return undefined
  const problem = goDurationProblem(text)
  if (problem !== undefined) return { problem: `minSuccessTime: ${problem}` }
  const ms = parseDuration(text) ?? 0
  return ms > 0 ? formatDuration(ms) : undefined
}

function ringsOf(
  type: string,
  options: StrategyOptions,
  { groups, soak }: { readonly groups: readonly RolloutGroup[]; readonly soak: string | undefined },
): Ring[] | { readonly problem: string } {
  const isMandatory = (group: RolloutGroup): boolean =>
    (options.mandatoryDecisionGroups ?? []).some(({ groupName = '', groupIndex = 0 }) =>
      groupName === '' ? group.index === groupIndex : group.name === groupName,
    )
  const rest = groups.filter((group) => !isMandatory(group))
  const count = (some: readonly RolloutGroup[]): number => some.reduce((sum, { clusters }) => sum + clusters.length, 0)
  const failures = (total: number) => readLimit('maxFailures', options.maxFailures ?? 0, total)
  const restSize = count(rest)
  const checked = failures(count(groups))
  if (typeof checked !== 'number') return { problem: checked.error }
  const asked = readLimit('maxConcurrency', options.maxConcurrency ?? 0, restSize)
  if (typeof asked !== 'number') return { problem: asked.error }
  const named = (group: RolloutGroup, maxFailed: number): Ring =>
    compact({
      name: groupNameOf(group),
      group: groupNameOf(group),
      concurrency: '100%',
      maxFailed: Math.max(0, maxFailed),
      soak,
    })
  const ofSize = (total: number): number => {
    const limit = failures(total)
    return typeof limit === 'number' ? limit : 0
  }
  const first = groups.filter(isMandatory).map((group) => named(group, 0))
  const later = type === 'ProgressivePerGroup' ? rest.map((group) => named(group, ofSize(group.clusters.length))) : []
  const isWide = type === 'Progressive' && !(asked > 0)
  // Groups beyond the number of rings share the last ring, with never more clusters at a time than the largest of them.
  const largest = Math.max(1, ...rest.map(({ clusters }) => clusters.length))
  const last: Ring = compact({
    name: 'rest',
    concurrency: type === 'Progressive' ? (isWide ? '100%' : asked) : largest,
    maxFailed: Math.max(0, type === 'Progressive' ? checked : ofSize(largest)),
    soak,
  })
  return [...[...first, ...later].slice(0, MAX_RINGS - 1), last]
}
