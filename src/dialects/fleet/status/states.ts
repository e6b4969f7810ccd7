/** Maps Flotilla's states to Fleet's: one table for GitRepos, Bundles and BundleDeployments. */
import type { BundleStateName } from '../../../kinds/fields/states.ts'
import type { FleetSummary } from '../kinds.ts'

/** Fleet's states. */
export type FleetState = 'Ready' | 'NotReady' | 'WaitApplied' | 'ErrApplied' | 'OutOfSync' | 'Modified' | 'Pending'

/** The facts that decide between two of Fleet's states for one of Flotilla's. */
export interface StateFacts {
  /** The reported generation, and the assigned generation. */
  readonly generation?: number | undefined
  readonly target?: number | undefined
  /** The next generation waits for something. */
  readonly waitsFor?: string | undefined
  readonly lastKnown?: BundleStateName | undefined
}

/** The state of a bundle on a cluster in Fleet; undefined for a cluster that is not selected. */
export function fleetState(state: BundleStateName, facts: StateFacts = {}): FleetState | undefined {
  const isApplied = facts.generation !== undefined && facts.generation === facts.target
  // A newer deployment is staged and waits for its turn.
  const isStaged = facts.waitsFor !== undefined && facts.generation !== undefined && !isApplied
  switch (state) {
    case 'Ready':
      return isStaged ? 'OutOfSync' : 'Ready'
    case 'Progressing':
      return isApplied ? 'NotReady' : 'WaitApplied'
    case 'Pending':
      return facts.generation === undefined ? 'Pending' : 'OutOfSync'
    case 'Offline':
      return facts.lastKnown && facts.lastKnown !== 'Offline' ? fleetState(facts.lastKnown, facts) : 'WaitApplied'
    case 'Drifted':
      return isStaged ? 'OutOfSync' : 'Modified'
    case 'Failed':
      return 'ErrApplied'
    case 'NotSelected':
      return undefined
  }
}

/** The states from worst to best; a summary shows the worst. */
export const STATES_WORST_FIRST: readonly FleetState[] = [
  'ErrApplied',
  'WaitApplied',
  'Modified',
  'OutOfSync',
  'Pending',
  'NotReady',
  'Ready',
]

type CountName = Exclude<keyof FleetSummary, 'desiredReady'>

const FIELDS: Readonly<Record<FleetState, CountName>> = {
  Ready: 'ready',
  NotReady: 'notReady',
  WaitApplied: 'waitApplied',
  ErrApplied: 'errApplied',
  OutOfSync: 'outOfSync',
  Modified: 'modified',
  Pending: 'pending',
}

/** Counts of a Rollout. */
export interface RolloutCounts extends Readonly<
  Record<'total' | 'ready' | 'progressing' | 'pending' | 'failed' | 'offline', number>
> {
  readonly states?: Readonly<Record<string, number>> | undefined
}

/**
 * The counts of a Rollout as Fleet's summary. Fleet does not know whether a cluster is connected: one that has the
 * content is ready, and one that does not have it and is offline is WaitApplied.
 */
export function summaryOf(counts: RolloutCounts | undefined): FleetSummary {
  if (!counts) return { desiredReady: 0, ready: 0 }
  const { total, ready, progressing, pending, failed, offline, states = {} } = counts
  const modified = Math.min(ready, states['Drifted'] ?? 0)
  return compact({
    desiredReady: total,
    ready: ready - modified,
    modified,
    notReady: progressing,
    pending,
    errApplied: failed,
    waitApplied: offline,
  })
}

/** The sum of summaries. */
export function addSummaries(summaries: readonly FleetSummary[]): FleetSummary {
  const sum: FleetSummary = { desiredReady: 0, ready: 0 }
  for (const summary of summaries) {
    for (const [name, value] of Object.entries(summary) as [keyof FleetSummary, number][])
      sum[name] = (sum[name] ?? 0) + value
  }
  return compact(sum)
}

function compact(summary: FleetSummary): FleetSummary {
  const entries = Object.entries(summary).filter(
    ([name, value]) => value > 0 || name === 'ready' || name === 'desiredReady',
  )
  return Object.fromEntries(entries) as unknown as FleetSummary
}

/** The worst state with a count above 0. */
export function worstOf(summary: FleetSummary): FleetState {
  return STATES_WORST_FIRST.find((state) => state !== 'Ready' && (summary[FIELDS[state]] ?? 0) > 0) ?? 'Ready'
}

/** `NotReady(2) [Cluster c1: its message]; Pending(3)`; empty when all are ready. */
export function summaryText(summary: FleetSummary, firsts: Partial<Record<FleetState, string>> = {}): string {
  return STATES_WORST_FIRST.filter((state) => state !== 'Ready' && (summary[FIELDS[state]] ?? 0) > 0)
    .sort()
    .map((state) => `${state}(${summary[FIELDS[state]]})${firsts[state] === undefined ? '' : ` [${firsts[state]}]`}`)
    .join('; ')
}
