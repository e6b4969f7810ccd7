/**
 * Which clusters of a Placement may get the configurations of an add-on that they should have. Pure.
 *
 *   Waiting ──admitted──▶ Progressing ──▶ Succeeded ── minSuccessTime ──▶ frees its place
 *                              └──▶ Failed, or late: counts against maxFailures
 */
import { findCondition } from '../../../core/conditions.ts'
import { jsonEqual } from '../../../core/json.ts'
import { compareText } from '../../../core/text/compare-text.ts'
import { parseDuration } from '../../../core/time/duration.ts'
import { goDurationProblem } from '../../../core/time/go-duration.ts'
import { parseTime } from '../../../core/time/time.ts'
import { readDeadline, readLimit } from '../rollout/next-clusters.ts'
import type { OcmRolloutStrategy, RolloutGroup, StrategyOptions } from '../rollout/next-clusters.ts'
import type { DesiredConfigs } from './addon-configs.ts'
import type { ManagedClusterAddOn } from './kinds.ts'

/** Annotation of a ManagedClusterAddOn: the digest of the configurations that it may have. */
export const ADMITTED_ANNOTATION = 'ocm.flotilla.dev/rollout'
/** Annotation: the time of that admission. */
export const ADMITTED_AT_ANNOTATION = 'ocm.flotilla.dev/rollout-since'

/** A cluster in the rollout of its add-on. */
export interface AddonCluster {
  readonly state: 'Waiting' | 'Progressing' | 'Succeeded' | 'Failed'
  /** Milliseconds since 1970: of the admission, or of the success. */
  readonly since?: number | undefined
}

export interface AddonRolloutInput {
  readonly strategy: OcmRolloutStrategy
  readonly groups: readonly RolloutGroup[]
  readonly stateOf: (cluster: string) => AddonCluster
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The next step of a rollout, and its counts. */
export interface AddonRollout {
  readonly admitted: readonly string[]
  readonly total: number
  readonly progressing: number
  readonly succeeded: number
  readonly failed: number
  readonly late: number
  /** More clusters failed than `maxFailures` allows: nothing more is admitted. */
  readonly stopped: boolean
  /** Time of the next step that only time brings. */
  readonly recheckAfterMs?: number
  /** A field that cannot be read; nothing is admitted. */
  readonly problem?: string
}

interface Stage {
  readonly clusters: readonly string[]
  readonly concurrency: number
  readonly maxFailures: number
}

/** Whether a strategy changes all clusters at once, without admissions. */
export function isAtOnce({ type = 'All' }: OcmRolloutStrategy): boolean {
  return type === 'All'
}

export function rollOutAddon({ strategy, groups, stateOf, now }: AddonRolloutInput): AddonRollout {
  const options = optionsOf(strategy)
  const deadline = readDeadline(options.progressDeadline)
  const problem = 'error' in deadline ? `progressDeadline: ${deadline.error}` : soakProblem(options.minSuccessTime)
  const stages = stagesOf(strategy, groups)
  const times = {
    deadline: 'ms' in deadline ? deadline.ms : undefined,
    soak: parseDuration(options.minSuccessTime || '0s') ?? 0,
  }
  const counts = { total: 0, progressing: 0, succeeded: 0, failed: 0, late: 0 }
  const rechecks: number[] = []
  const admitted: string[] = []
  const found = 'problem' in stages ? stages.problem : problem
  let isOpen = found === undefined
  let stopped = false
  for (const stage of 'problem' in stages ? [] : stages) {
    let failures = 0
    let taken = 0
    const waiting: string[] = []
    for (const cluster of stage.clusters.toSorted(compareText)) {
      const { state, since = now } = stateOf(cluster)
      counts.total += 1
      const endsAt = state === 'Succeeded' ? since + times.soak : since + (times.deadline ?? Infinity)
      if (state === 'Waiting') waiting.push(cluster)
      else if (state === 'Succeeded') {
        counts.succeeded += 1
        if (now < endsAt) taken += 1
      } else if (state === 'Failed') {
        counts.failed += 1
        failures += 1
      } else if (now >= endsAt) {
        counts.late += 1
        failures += 1
      } else {
        counts.progressing += 1
        taken += 1
      }
      if ((state === 'Succeeded' || state === 'Progressing') && now < endsAt && endsAt < Infinity) rechecks.push(endsAt)
    }
    if (!isOpen) continue
    stopped = failures > stage.maxFailures
    if (!stopped) admitted.push(...waiting.slice(0, Math.max(0, stage.concurrency - taken)))
    // A later stage begins when all clusters of this one have arrived, or failed within its limit.
    isOpen = !stopped && waiting.length === 0 && taken === 0
  }
  const next = Math.min(...rechecks)
  return {
    admitted,
    ...counts,
    stopped,
    ...(next === Infinity ? {} : { recheckAfterMs: next - now }),
    ...(found === undefined ? {} : { problem: found }),
  }
}

function optionsOf({ type = 'All', all, progressive, progressivePerGroup }: OcmRolloutStrategy): StrategyOptions {
  return (type === 'All' ? all : type === 'Progressive' ? progressive : progressivePerGroup) ?? {}
}

function soakProblem(minSuccessTime: string | undefined): string | undefined {
  const problem = minSuccessTime ? goDurationProblem(minSuccessTime) : undefined
  return problem === undefined ? undefined : `minSuccessTime: ${problem}`
}

function stagesOf(
  strategy: OcmRolloutStrategy,
  groups: readonly RolloutGroup[],
): readonly Stage[] | { problem: string } {
  const options = optionsOf(strategy)
  const all = groups.flatMap(({ clusters }) => clusters)
  if (isAtOnce(strategy)) return [{ clusters: all, concurrency: Infinity, maxFailures: Infinity }]
  const isMandatory = (group: RolloutGroup): boolean =>
    (options.mandatoryDecisionGroups ?? []).some(({ groupName = '', groupIndex = 0 }) =>
      groupName === '' ? group.index === groupIndex : group.name === groupName,
    )
  const rest = groups.filter((group) => !isMandatory(group))
  const failures = (total: number) => readLimit('maxFailures', options.maxFailures ?? 0, total)
  const whole = failures(all.length)
  if (typeof whole !== 'number') return { problem: whole.error }
  const first = groups.filter(isMandatory).map(({ clusters }) => ({ clusters, concurrency: Infinity, maxFailures: 0 }))
  if (strategy.type === 'ProgressivePerGroup') {
    const later = rest.map(({ clusters }) => {
      const limit = failures(clusters.length)
      return { clusters, concurrency: Infinity, maxFailures: typeof limit === 'number' ? Math.max(0, limit) : 0 }
    })
    return [...first, ...later]
  }
  const clusters = rest.flatMap((group) => group.clusters)
  const limit = readLimit('maxConcurrency', options.maxConcurrency ?? 0, clusters.length)
  if (typeof limit !== 'number') return { problem: limit.error }
  return [...first, { clusters, concurrency: limit > 0 ? limit : Infinity, maxFailures: Math.max(0, whole) }]
}

/** Where a ManagedClusterAddOn is in the rollout of these configurations. */
export function addonClusterOf(
  addon: Pick<ManagedClusterAddOn, 'metadata' | 'status'> | undefined,
  desired: DesiredConfigs | { readonly problem: string },
): AddonCluster {
  if ('problem' in desired) return { state: 'Failed' }
  if (!addon) return { state: 'Waiting' }
  const { annotations } = addon.metadata
  const progress = findCondition(addon.status?.conditions, 'Progressing')
  const changedAt = parseTime(progress?.lastTransitionTime ?? '')
  const admittedAt = isAdmitted(addon, desired) ? parseTime(annotations?.[ADMITTED_AT_ANNOTATION] ?? '') : undefined
  if (!actsOn(addon, desired)) {
    return isAdmitted(addon, desired) ? { state: 'Progressing', since: admittedAt } : { state: 'Waiting' }
  }
  if (progress?.status === 'False' && progress.reason === 'Completed') return { state: 'Succeeded', since: changedAt }
  if (progress?.status === 'False' && progress.reason === 'Failed') return { state: 'Failed' }
  return { state: 'Progressing', since: admittedAt ?? changedAt }
}

/** Whether a ManagedClusterAddOn may have these configurations, or has them already. */
export function mayHave(addon: Pick<ManagedClusterAddOn, 'metadata' | 'status'>, desired: DesiredConfigs): boolean {
  return isAdmitted(addon, desired) || actsOn(addon, desired)
}

function isAdmitted({ metadata }: Pick<ManagedClusterAddOn, 'metadata'>, { digest }: DesiredConfigs): boolean {
  return metadata.annotations?.[ADMITTED_ANNOTATION] === digest
}

/** Whether these are the configurations that a ManagedClusterAddOn works on. */
export function actsOn({ status }: Pick<ManagedClusterAddOn, 'status'>, { references }: DesiredConfigs): boolean {
  const present = (status?.configReferences ?? []).map(({ lastAppliedConfig: _last, ...rest }) => rest)
  return jsonEqual(present, references)
}
