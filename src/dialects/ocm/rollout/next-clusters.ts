// Tested by src/dialects/ocm/recorded.contract.test.ts: recorded answers of Open Cluster Management.
/**
 * Open Cluster Management's rollout strategies: which clusters a rollout touches next, which have timed out, and when
 * to look again. Pure, and equal to Open Cluster Management's own helper, including its order and its error texts.
 */
import { compareText } from '../../../core/text/compare-text.ts'
import { goQuote } from '../../../core/text/go-quote.ts'
import { parseDuration } from '../../../core/time/duration.ts'
import { goDurationProblem } from '../../../core/time/go-duration.ts'
import { parseFloatText } from '../../../render/helm/functions/convert.ts'

/** The status of a cluster in a rollout. */
export type ClusterRolloutStatus = 'ToApply' | 'Progressing' | 'Succeeded' | 'Failed' | 'TimeOut' | 'Skip' | 'Unknown'

/** Name and index of a decision group. */
export interface GroupKey {
  readonly name: string
  readonly index: number
}

/** A decision group with its clusters. */
export interface RolloutGroup extends GroupKey {
  readonly clusters: readonly string[]
}

/** A cluster in a rollout. */
export interface RolloutCluster {
  readonly cluster: string
  readonly group: GroupKey
  readonly status: ClusterRolloutStatus
  /** Time of the last transition, in milliseconds since 1970. */
  readonly since?: number
  /** Time in milliseconds since 1970 at which the cluster times out, or has succeeded for long enough. */
  readonly recheck?: number
}

/** A group that goes first: by name, or by index. */
export interface MandatoryGroup {
  readonly groupName?: string
  readonly groupIndex?: number
}

export interface StrategyOptions {
  readonly minSuccessTime?: string
  readonly progressDeadline?: string
  readonly maxFailures?: number | string
  readonly maxConcurrency?: number | string
  readonly mandatoryDecisionGroups?: readonly MandatoryGroup[]
}

/** A RolloutStrategy of Open Cluster Management. */
export interface OcmRolloutStrategy {
  readonly type?: string
  readonly all?: StrategyOptions
  readonly progressive?: StrategyOptions
  readonly progressivePerGroup?: StrategyOptions
}

export interface RolloutInput {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly strategy: OcmRolloutStrategy
  readonly groups: readonly RolloutGroup[]
  readonly existing: readonly RolloutCluster[]
}

/** The clusters of the next step. */
export interface RolloutStep {
  readonly rollout: readonly RolloutCluster[]
  readonly timedOut: readonly RolloutCluster[]
  /** Clusters that are in no group any more. */
  readonly removed: readonly RolloutCluster[]
  /** More clusters have failed than `maxFailures` allows. */
  readonly breach: boolean
  /** Seconds until the first `recheck`. */
  readonly recheckAfterSeconds?: number
  readonly error?: string
}

const NO_STEP = { rollout: [], timedOut: [], removed: [], breach: false } as const

/** The next step of a rollout. */
export function nextClusters(input: RolloutInput): RolloutStep {
  const { strategy } = input
  const groups = withoutGap(input.groups)
  const present = new Set(groups.flatMap(({ clusters }) => clusters))
  const removed = input.existing.filter(({ cluster }) => !present.has(cluster))
  const existing = input.existing.filter(({ cluster }) => present.has(cluster))
  const step = stepOf({ ...input, groups, existing }, strategy)
  return 'error' in step ? { ...NO_STEP, error: step.error } : { ...step, removed }
}

interface Failure {
  readonly error: string
}
type Partial = Omit<RolloutStep, 'removed' | 'error'>

function stepOf(input: RolloutInput, strategy: OcmRolloutStrategy): Partial | Failure {
  switch (strategy.type) {
    case 'All':
      return all(input, strategy.all ?? {})
    case 'Progressive':
      return progressive(input, strategy.progressive ?? {})
    case 'ProgressivePerGroup':
      return perGroup(input, strategy.progressivePerGroup ?? {})
    default:
      return { error: `incorrect rollout strategy type ${strategy.type ?? ''}` }
  }
}

/** Groups from index 0 on; a missing index ends the list. */
function withoutGap(groups: readonly RolloutGroup[]): readonly RolloutGroup[] {
  const byIndex = new Map(groups.map((group) => [group.index, group]))
  const found: RolloutGroup[] = []
  for (let group = byIndex.get(0); group; group = byIndex.get(found.length)) found.push(group)
  return found
}

function all(input: RolloutInput, options: StrategyOptions): Partial | Failure {
  const deadline = readDeadline(options.progressDeadline)
  if ('error' in deadline) return deadline
  const total = clustersOf(input.groups).length
  return perCluster(input, { size: total, maxFailures: total, soak: 0, timeout: deadline.ms })
}

function progressive(input: RolloutInput, options: StrategyOptions): Partial | Failure {
  const deadline = readDeadline(options.progressDeadline)
  if ('error' in deadline) return deadline
  const soak = parseDuration(options.minSuccessTime ?? '0s') ?? 0
  const maxFailures = readSize('maxFailures', options.maxFailures ?? 0, clustersOf(input.groups).length, 0)
  if (typeof maxFailures !== 'number') return maxFailures
  const times = { soak, timeout: deadline.ms }
  const first = mandatoryStep(input, options, times)
  if (first) return first
  const groups = withoutMandatory(input.groups, options)
  const total = clustersOf(groups).length
  const size = readSize('maxConcurrency', options.maxConcurrency ?? 0, total, total)
  if (typeof size !== 'number') return size
  return perCluster({ ...input, groups }, { size, maxFailures, ...times })
}

function perGroup(input: RolloutInput, options: StrategyOptions): Partial | Failure {
  const deadline = readDeadline(options.progressDeadline)
  if ('error' in deadline) return deadline
  const soak = parseDuration(options.minSuccessTime ?? '0s') ?? 0
  const checked = readSize('maxFailures', options.maxFailures ?? 0, 0, 0)
  if (typeof checked !== 'number') return checked
  const times = { soak, timeout: deadline.ms }
  const first = mandatoryStep(input, options, times)
  if (first) return first
  return groupByGroup(
    { ...input, groups: withoutMandatory(input.groups, options) },
    { maxFailures: options.maxFailures ?? 0, ...times },
  )
}

/** The step of the mandatory groups, or undefined when they are done. */
function mandatoryStep(input: RolloutInput, options: StrategyOptions, times: Times): Partial | undefined {
  const mandatory = options.mandatoryDecisionGroups ?? []
  if (mandatory.length === 0) return undefined
  const groups = input.groups.filter((group) => mandatory.some((one) => isMeant(one, group)))
  if (groups.length === 0) return undefined
  const step = groupByGroup({ ...input, groups }, { maxFailures: 0, ...times })
  return step.rollout.length > 0 || step.timedOut.length > 0 ? step : undefined
}

/** An entry selects a group by name, or without a name by index. */
function isMeant({ groupName = '', groupIndex = 0 }: MandatoryGroup, group: GroupKey): boolean {
  return groupName === '' ? group.index === groupIndex : group.name === groupName
}

function withoutMandatory(groups: readonly RolloutGroup[], options: StrategyOptions): readonly RolloutGroup[] {
  return groups.filter((group) => !(options.mandatoryDecisionGroups ?? []).some((one) => isMeant(one, group)))
}

interface Times {
  readonly soak: number
  /** Undefined: clusters never time out. */
  readonly timeout: number | undefined
}

function perCluster(
  input: RolloutInput,
  limits: Times & { readonly size: number; readonly maxFailures: number },
): Partial {
  const lists = { rollout: [] as RolloutCluster[], timedOut: [] as RolloutCluster[] }
  const seen = new Set<string>()
  let failures = 0
  let breach = false
  const result = (): Partial => ({ ...lists, breach, ...recheckAfter(lists.rollout, input.now) })
  for (const entry of input.existing.toSorted((a, b) => compareText(a.cluster, b.cluster))) {
    if (entry.cluster === '') continue
    seen.add(entry.cluster)
    const status = breach && entry.status === 'ToApply' ? entry.status : sort(entry, input.now, limits, lists)
    if (status === 'TimeOut' || status === 'Failed') {
      failures += 1
      breach = failures > limits.maxFailures
    }
    if (lists.rollout.length >= limits.size) return result()
  }
  if (breach) return result()
  for (const { cluster, group } of clustersOf(input.groups)) {
    if (seen.has(cluster)) continue
    lists.rollout.push({ cluster, group, status: 'ToApply' })
    if (lists.rollout.length >= limits.size) return result()
  }
  return result()
}

function groupByGroup(input: RolloutInput, limits: Times & { readonly maxFailures: number | string }): Partial {
  const lists = { rollout: [] as RolloutCluster[], timedOut: [] as RolloutCluster[] }
  const known = new Map<string, ClusterRolloutStatus>()
  for (const entry of input.existing) {
    if (entry.cluster === '' || entry.status === 'ToApply') continue
    known.set(entry.cluster, sort(entry, input.now, limits, lists))
  }
  let failures = 0
  let breach = false
  const result = (): Partial => ({ ...lists, breach, ...recheckAfter(lists.rollout, input.now) })
  for (const { name, index, clusters } of input.groups) {
    const size = readSize('maxFailures', limits.maxFailures, clusters.length, 0)
    const maxFailures = typeof size === 'number' ? size : 0
    let failed = 0
    for (const cluster of clusters.toSorted(compareText)) {
      const status = known.get(cluster)
      if (status === undefined) lists.rollout.push({ cluster, group: { name, index }, status: 'ToApply' })
      else if (status === 'TimeOut' || status === 'Failed') {
        failed += 1
        breach = failed > maxFailures
      }
    }
    failures += failed
    if (lists.rollout.length - failures > 0 || breach) return result()
  }
  return result()
}

/** Puts a cluster into its list and returns its status. */
function sort(
  entry: RolloutCluster,
  now: number,
  { soak, timeout }: Times,
  lists: { readonly rollout: RolloutCluster[]; readonly timedOut: RolloutCluster[] },
): ClusterRolloutStatus {
  const since = entry.since ?? now
  switch (entry.status) {
    case 'ToApply':
      lists.rollout.push(entry)
      return entry.status
    case 'Succeeded': {
      const recheck = since + soak
      if (now < recheck) lists.rollout.push({ ...entry, recheck })
      return entry.status
    }
    case 'TimeOut':
    case 'Skip':
      return entry.status
    default: {
      if (timeout === undefined) {
        lists.rollout.push(entry)
        return entry.status
      }
      const recheck = since + timeout
      if (now < recheck) {
        lists.rollout.push({ ...entry, recheck })
        return entry.status
      }
      lists.timedOut.push({ ...entry, status: 'TimeOut', recheck })
      return 'TimeOut'
    }
  }
}

function recheckAfter(rollout: readonly RolloutCluster[], now: number): Pick<RolloutStep, 'recheckAfterSeconds'> {
  const soonest = Math.min(...rollout.map(({ recheck }) => recheck ?? Infinity))
  return soonest === Infinity ? {} : { recheckAfterSeconds: (soonest - now) / 1000 }
}

function clustersOf(
  groups: readonly RolloutGroup[],
): readonly { readonly cluster: string; readonly group: GroupKey }[] {
  const groupBy = new Map<string, GroupKey>()
  for (const { name, index, clusters } of groups) for (const cluster of clusters) groupBy.set(cluster, { name, index })
  return [...groupBy].map(([cluster, group]) => ({ cluster, group })).sort((a, b) => compareText(a.cluster, b.cluster))
}

// Open Cluster Management's pattern is not anchored on both sides: 90sx passes it, and the duration is then invalid.
const DEADLINE = /^(([0-9])+[h|m|s])|None$/

/** A progressDeadline in milliseconds; undefined is none. */
export function readDeadline(text = ''): { readonly ms: number | undefined } | Failure {
  if (text === '' || text === 'None') return { ms: undefined }
  if (!DEADLINE.test(text)) return { error: 'invalid timeout format' }
  const problem = goDurationProblem(text)
  return problem === undefined ? { ms: parseDuration(text) ?? 0 } : { error: problem }
}

/** A number of clusters or a share of them, rounded up. Zero, negative and more than all mean `fallback`. */
function readSize(field: string, given: number | string, total: number, fallback: number): number | Failure {
  const size = readLimit(field, given, total)
  if (typeof size !== 'number') return size
  return size > 0 && size <= total ? size : fallback
}

/** A number of clusters, or a share of them, rounded up; not limited to the total. */
export function readLimit(field: string, given: number | string, total: number): number | Failure {
  const fail = (why: string): Failure => ({ error: `failed to parse the provided ${field}: ${why}` })
  let size = given
  if (typeof size === 'string') {
    if (!size.endsWith('%')) return fail(`'${size}' is an invalid maximum threshold value: string is not a percentage`)
    const share = parseFloatText(size.slice(0, -1))
    if (share === undefined) return fail(`strconv.ParseFloat: parsing ${goQuote(size.slice(0, -1))}: invalid syntax`)
    size = Math.ceil((share / 100) * total)
  }
  return size
}
