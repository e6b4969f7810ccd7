/** The state of an Application in the words of Argo CD, from the states of its Bundles on its cluster. */
import { compact } from '../../../core/compact.ts'
import type { BundleStateName } from '../../../kinds/fields/states.ts'
import type { ApplicationSpec, ArgoSource } from '../application.ts'
import type { ApplicationStatus, HistoryEntry, OperationState } from '../kinds.ts'

/** A bundle on a cluster, as a row of the view API has it. */
export interface StateRow {
  readonly state?: BundleStateName | undefined
  readonly message: string
  readonly waitsFor?: string | undefined
  readonly lastKnown?: BundleStateName | undefined
  readonly generation?: number | undefined
  readonly target?: number | undefined
}

/** Sync and health of an Application. */
export interface SyncAndHealth {
  readonly sync: 'Synced' | 'OutOfSync' | 'Unknown'
  readonly health: 'Healthy' | 'Progressing' | 'Degraded' | 'Missing' | 'Unknown'
  readonly message: string
}

const HEALTH: Readonly<Record<BundleStateName, SyncAndHealth['health']>> = {
  Ready: 'Healthy',
  Drifted: 'Healthy',
  Progressing: 'Progressing',
  Failed: 'Degraded',
  Pending: 'Missing',
  NotSelected: 'Missing',
  Offline: 'Unknown',
}

/** The words of Argo CD for a row. */
export function syncAndHealth({ state, message, lastKnown, generation, target, waitsFor }: StateRow): SyncAndHealth {
  if (state === undefined) return { sync: 'Unknown', health: 'Unknown', message }
  if (state === 'Offline') {
    return { sync: 'Unknown', health: lastKnown === undefined ? 'Unknown' : HEALTH[lastKnown], message }
  }
  const isCurrent = generation !== undefined && generation === target && waitsFor === undefined
  // Of a failed bundle the hub does not know whether all objects were written.
  const synced = state === 'Failed' ? 'Unknown' : 'Synced'
  const isDifferent = state === 'Drifted' || state === 'Pending' || state === 'NotSelected'
  return { sync: isCurrent && !isDifferent ? synced : 'OutOfSync', health: HEALTH[state], message }
}

const WORST_HEALTH = ['Degraded', 'Missing', 'Progressing', 'Unknown', 'Healthy'] as const
const WORST_SYNC = ['Unknown', 'OutOfSync', 'Synced'] as const

/** The worst of the rows of an Application with several sources. */
export function worstRow(rows: readonly StateRow[]): SyncAndHealth {
  const words = rows.map(syncAndHealth)
  if (words.length === 0) return { sync: 'Unknown', health: 'Unknown', message: 'Nothing is rendered yet.' }
  const sync = WORST_SYNC.find((word) => words.some((one) => one.sync === word))!
  const health = WORST_HEALTH.find((word) => words.some((one) => one.health === word))!
  const told = words.find((one) => one.health === health && one.sync === sync) ?? words[0]!
  return { sync, health, message: told.message }
}

/** The revisions that an Application is compared with: one, or one for each of `sources`. */
export interface Revisions {
  readonly revision?: string
  readonly revisions?: string[]
}

/** What an Application is compared with. */
export function comparedTo(spec: ApplicationSpec): NonNullable<NonNullable<ApplicationStatus['sync']>['comparedTo']> {
  return compact({ ...sourcesOf(spec), destination: { ...spec.destination } })
}

/** The fields `source` or `sources` of a status. */
export function sourcesOf({ source, sources }: ApplicationSpec): { source?: ArgoSource; sources?: ArgoSource[] } {
  if (sources && sources.length > 0) return { sources: [...sources] }
  return source ? { source } : {}
}

/** The end of a running sync; undefined while it runs. */
export function finishedPhase(rows: readonly StateRow[]): Pick<OperationState, 'phase' | 'message'> | undefined {
  const failed = rows.find((row) => row.state === 'Failed' && row.generation === row.target)
  if (failed) return { phase: 'Failed', message: failed.message }
  const isDone = rows.length > 0 && rows.every((row) => syncAndHealth(row).sync === 'Synced' && row.state === 'Ready')
  return isDone ? { phase: 'Succeeded', message: 'successfully synced (all tasks run)' } : undefined
}

const HISTORY = 10

/** The history with one more deployment. */
export function withDeployment(
  history: readonly HistoryEntry[],
  entry: Omit<HistoryEntry, 'id'>,
  limit = HISTORY,
): HistoryEntry[] {
  const id = (history.at(-1)?.id ?? -1) + 1
  return [...history, { id, ...entry }].slice(-Math.max(1, limit))
}
