/**
 * What happens next with one hook of an operation, from what is written down and what is in the cluster.
 *
 *   (nothing) ──clear what is left of an earlier run──▶ Starting ──make it──▶ Started ──its end──▶ Succeeded, Failed
 *
 * Each state is written before the next step is taken. `Starting` is written only while nothing of that name is there:
 * whatever is found then with our name on it is what this operation made. So a crash runs no hook twice, and what was
 * under way is watched on.
 */
import { formatDuration } from '../../core/time/duration.ts'
import { isObject } from '../../core/json.ts'
import type { HookRules } from '../../kinds/fields/hook.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { healthOf } from '../health/object-health.ts'
import type { OperationKind } from './operation.ts'
import type { HookEvent } from '../../kinds/fields/hook.ts'

/** Where a hook is. */
export type HookState = 'Starting' | 'Started' | 'Succeeded' | 'Failed'

/** How what a hook made does. */
export interface HookOutcome {
  readonly state: 'Running' | 'Succeeded' | 'Failed'
  readonly message: string
}

/** All that decides about a hook. */
export interface HookFacts {
  /** What is written of it for this operation and moment. */
  readonly record: { readonly state: HookState; readonly uid?: string; readonly sinceMs: number } | undefined
  /** UIDs of what earlier runs of it made. */
  readonly formerUids: readonly string[]
  readonly live: HookLive | undefined
  readonly deletes: HookRules['delete']
  readonly nowMs: number
  readonly deadlineMs: number
}

/** What is there under a hook's name. */
export interface HookLive {
  readonly uid: string
  /** The bundle made it: the cluster says so. */
  readonly isOurs: boolean
  readonly isLeaving: boolean
  readonly outcome: HookOutcome
}

/** What to do. */
export type HookStep =
  /** Delete what an earlier run left. */
  | { readonly kind: 'Clear'; readonly uid: string }
  | { readonly kind: 'AwaitGone' }
  /** Write down that it starts, then make it. */
  | { readonly kind: 'Start' }
  /** It is written down and was not made yet. */
  | { readonly kind: 'Make' }
  /** It is written down and was made; only its UID is not known yet. */
  | { readonly kind: 'TakeUp'; readonly uid: string }
  | { readonly kind: 'Wait'; readonly message: string }
  | { readonly kind: 'End'; readonly state: 'Succeeded' | 'Failed'; readonly message: string }
  /** An object that the bundle does not own has the hook's name. */
  | { readonly kind: 'Refuse'; readonly why: string }

/** Decides about a hook that has not ended. */
export function nextHookStep(facts: HookFacts): HookStep {
  const { record, live } = facts
  if (record === undefined) return beforeStart(facts)
  if (record.state === 'Succeeded' || record.state === 'Failed') {
    return { kind: 'End', state: record.state, message: '' }
  }
  if (record.state === 'Starting') {
    if (!live) return { kind: 'Make' }
    if (live.isOurs && !facts.formerUids.includes(live.uid)) return { kind: 'TakeUp', uid: live.uid }
    return live.isLeaving ? { kind: 'AwaitGone' } : { kind: 'Refuse', why: NOT_OURS }
  }
  if (live?.uid !== record.uid || !live) {
    return { kind: 'End', state: 'Failed', message: 'the hook was deleted before its end was observed' }
  }
  const { state, message } = live.outcome
  if (state !== 'Running') return { kind: 'End', state, message }
  if (facts.nowMs < record.sinceMs + facts.deadlineMs) return { kind: 'Wait', message }
  const within = formatDuration(facts.deadlineMs)
  return { kind: 'End', state: 'Failed', message: `the hook did not end within ${within}: ${message}` }
}

const NOT_OURS = 'the object exists, and this bundle did not create it; delete it, or give the hook another name'

function beforeStart({ live, formerUids, deletes }: HookFacts): HookStep {
  if (!live) return { kind: 'Start' }
  if (live.isLeaving) return { kind: 'AwaitGone' }
  if (!live.isOurs && !formerUids.includes(live.uid)) return { kind: 'Refuse', why: NOT_OURS }
  if (deletes.includes('before-creation')) return { kind: 'Clear', uid: live.uid }
  return {
    kind: 'Refuse',
    why: 'the object of an earlier operation still exists, and its delete policy keeps it; delete it, or add before-creation',
  }
}

/** How what a hook made does: Jobs and Pods until they end, other kinds until they are well. */
export function hookOutcome(live: UnknownObject): HookOutcome {
  const health = healthOf(live)
  if (health.state === 'Failed') return { state: 'Failed', message: health.message }
  const isJob = live.kind === 'Job' && live.apiVersion.startsWith('batch/')
  const isPod = live.kind === 'Pod' && live.apiVersion === 'v1'
  if (!isJob && !isPod) {
    return health.state === 'Ready'
      ? { state: 'Succeeded', message: '' }
      : { state: 'Running', message: health.message }
  }
  const status = isObject(live['status']) ? live['status'] : {}
  const hasEnded = isJob ? isComplete(status['conditions']) : status['phase'] === 'Succeeded'
  return hasEnded ? { state: 'Succeeded', message: '' } : { state: 'Running', message: 'it is running' }
}

function isComplete(conditions: unknown): boolean {
  return (
    Array.isArray(conditions) &&
    conditions.some((one) => isObject(one) && one['type'] === 'Complete' && one['status'] === 'True')
  )
}

/**
 * What runs to its end and is of no use afterwards; other objects that hooks made may hold data and stay, as with Helm.
 */
export function isRunOnce({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return (kind === 'Job' && apiVersion.startsWith('batch/')) || (kind === 'Pod' && apiVersion === 'v1')
}

/** The moments before and after an operation. */
export const OPERATION_EVENTS: Readonly<Record<OperationKind, { readonly pre: HookEvent; readonly post: HookEvent }>> =
  {
    Install: { pre: 'pre-install', post: 'post-install' },
    Upgrade: { pre: 'pre-upgrade', post: 'post-upgrade' },
    RollBack: { pre: 'pre-rollback', post: 'post-rollback' },
    Uninstall: { pre: 'pre-delete', post: 'post-delete' },
  }
