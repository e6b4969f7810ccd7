/** Sync windows of an AppProject: whether an Application may sync at a moment, as Argo CD decides. */
import { parseDuration } from '../../../core/time/duration.ts'
import { matchesArgoGlob } from '../glob.ts'
import { readSchedule, ScheduleError, zoneOffset } from './cron-schedule.ts'
import type { CronSchedule } from './cron-schedule.ts'

/** A window of an AppProject. */
export interface SyncWindow {
  readonly kind?: string
  readonly schedule?: string
  readonly duration?: string
  readonly applications?: readonly string[]
  readonly namespaces?: readonly string[]
  readonly clusters?: readonly string[]
  readonly manualSync?: boolean
  readonly timeZone?: string
  readonly andOperator?: boolean
  readonly description?: string
  readonly syncOverrun?: boolean
}

/** What a window is asked about. */
export interface WindowApplication {
  readonly name: string
  readonly destination: { readonly name?: string; readonly server?: string; readonly namespace?: string }
}

/** A sync that is asked about. */
export interface SyncQuestion {
  readonly atMs: number
  readonly isManual: boolean
  /** When the sync started, for one that is running. */
  readonly startedMs?: number
}

/** A window whose schedule or duration cannot be read. */
export class SyncWindowError extends Error {
  override readonly name = 'SyncWindowError'
}

/** The windows that are for an Application. */
export function matchingWindows(windows: readonly SyncWindow[], application: WindowApplication): SyncWindow[] {
  return windows.filter((window) => matches(window, application))
}

function matches(window: SyncWindow, { name, destination }: WindowApplication): boolean {
  const { applications = [], clusters = [], namespaces = [], andOperator = false } = window
  const some = (globs: readonly string[], text: string): boolean => globs.some((glob) => globMatches(glob, text))
  const { name: cluster = '', server = '', namespace = '' } = destination
  const isCluster = (cluster !== '' && some(clusters, cluster)) || (server !== '' && some(clusters, server))
  const answers = [
    ...(applications.length > 0 ? [some(applications, name)] : []),
    ...(clusters.length > 0 ? [isCluster] : []),
    ...(namespaces.length > 0 ? [some(namespaces, namespace)] : []),
  ]
  return andOperator ? answers.length > 0 && answers.every(Boolean) : answers.some(Boolean)
}

function globMatches(glob: string, text: string): boolean {
  return glob === '*' || matchesArgoGlob(glob, text)
}

/** The windows that are open at a moment; time zones are taken as they are at `nowMs`. */
export function activeWindows(windows: readonly SyncWindow[], atMs: number, nowMs = atMs): SyncWindow[] {
  return windows.filter((window) => isActive(window, atMs, nowMs))
}

function isActive(window: SyncWindow, atMs: number, nowMs: number): boolean {
  const { schedule, durationMs } = readWindow(window)
  const wall = atMs + zoneOffset(window.timeZone ?? '', nowMs)
  const next = schedule.next(wall - durationMs)
  // A schedule that never starts is always open in Argo CD.
  return next === undefined || next < wall
}

function readWindow({ schedule = '', duration = '' }: SyncWindow): {
  readonly schedule: CronSchedule
  readonly durationMs: number
} {
  const durationMs = duration.length > 100 ? undefined : parseDuration(duration)
  let read: CronSchedule
  try {
    read = readSchedule(schedule)
  } catch (caught) {
    if (!(caught instanceof ScheduleError)) throw caught
    throw new SyncWindowError(`cannot parse schedule '${schedule}': ${caught.message}`)
  }
  if (durationMs === undefined) throw new SyncWindowError(`cannot parse duration '${duration}'`)
  return { schedule: read, durationMs }
}

/** Whether the windows of an Application let it sync, or go on with a sync that started before. */
export function canSync(windows: readonly SyncWindow[], { atMs, isManual, startedMs }: SyncQuestion): boolean {
  const decided = decide(windows, { atMs, nowMs: atMs, isManual })
  if (decided.allowed || startedMs === undefined || decided.blocking.length === 0) return decided.allowed
  if (!decided.blocking.every(({ syncOverrun }) => syncOverrun === true)) return false
  return decide(windows, { atMs: startedMs, nowMs: atMs, isManual }).allowed
}

function decide(
  windows: readonly SyncWindow[],
  { atMs, nowMs, isManual }: { readonly atMs: number; readonly nowMs: number; readonly isManual: boolean },
): { readonly allowed: boolean; readonly blocking: readonly SyncWindow[] } {
  if (windows.length === 0) return { allowed: true, blocking: [] }
  const active = activeWindows(windows, atMs, nowMs)
  const manual = (those: readonly SyncWindow[]): boolean => isManual && those.every((one) => one.manualSync === true)
  const denying = active.filter(({ kind }) => kind === 'deny')
  if (denying.length > 0) return { allowed: manual(denying), blocking: denying }
  if (active.some(({ kind }) => kind === 'allow')) return { allowed: true, blocking: [] }
  const closed = windows.filter((window) => window.kind === 'allow' && !active.includes(window))
  return closed.length === 0 ? { allowed: true, blocking: [] } : { allowed: manual(closed), blocking: closed }
}

/** Why Argo CD refuses an AppProject because of its windows; undefined when it does not. */
export function windowsProblem(windows: readonly SyncWindow[]): string | undefined {
  const seen = new Set<string>()
  for (const window of windows) {
    const { kind = '', schedule = '', duration = '', timeZone = '', andOperator = false, description = '' } = window
    const { applications = [], namespaces = [], clusters = [] } = window
    const identity = JSON.stringify([
      kind,
      schedule,
      duration,
      applications,
      namespaces,
      clusters,
      timeZone,
      andOperator,
    ])
    if (seen.has(identity)) {
      return `sync window with kind '${kind}', schedule '${schedule}', and duration '${duration}' already exists`
    }
    seen.add(identity)
    if (kind !== 'allow' && kind !== 'deny') return `kind '${kind}' mismatch: can only be allow or deny`
    try {
      readWindow(window)
    } catch (caught) {
      if (!(caught instanceof SyncWindowError)) throw caught
      return caught.message
    }
    if (new TextEncoder().encode(description).length > 255) return 'description must not exceed 255 characters'
    if (applications.length + namespaces.length + clusters.length === 0) {
      return `window '${kind}':'${schedule}':'${duration}' requires one of application, cluster or namespace`
    }
  }
  return undefined
}
