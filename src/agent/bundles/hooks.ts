/** Runs hooks: each once per operation, one after the other; plan/apply/hook-step.ts decides, here it is done and written down. */
import type { Clock } from '../../core/time/clock.ts'
import type { Logger } from '../../core/log.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import type { HookEvent } from '../../kinds/fields/hook.ts'
import { hookOutcome, isRunOnce, nextHookStep } from '../../plan/apply/hook-step.ts'
import type { HookLive } from '../../plan/apply/hook-step.ts'
import { hookOrder } from '../../plan/apply/hooks.ts'
import { describeObject, objectKey } from '../../plan/objects/object-id.ts'
import { isAppliedBy, ObjectFailure } from '../cluster/applier.ts'
import type { Applier } from '../cluster/applier.ts'
import type { HookRecord } from '../cluster/cluster-state.ts'
import type { Content } from '../documents/content.ts'
import { objectToWrite } from '../documents/set-plan.ts'
import type { PlannedHook } from '../documents/set-plan.ts'

/** Where runs of hooks are written down. */
export interface HookJournal {
  readonly bundle: string
  /** The number of the operation. */
  readonly operation: number
  hooks(): readonly HookRecord[]
  /** Writes them down. */
  save(hooks: readonly HookRecord[]): Promise<void>
  /** Remembers them; they are written with whatever is written next. */
  note(hooks: readonly HookRecord[]): void
}

/** What running hooks needs. */
export interface HookWork {
  readonly applier: Applier
  readonly signal: AbortSignal
  /** How long a hook may take that does not say. */
  readonly timeoutMs: number
}

/** Why the hooks of a moment are not done. */
export interface HookStop {
  readonly kind: 'Waiting' | 'Failed'
  readonly message: string
  readonly object: string
}

// Of hooks whose names change with every version, so many of what they left are remembered.
const MOST_LEFT = 100

/** Makes it. */
export function createHooks({
  content,
  clock,
  log,
}: {
  readonly content: Content
  readonly clock: Clock
  readonly log: Logger
}) {
  /** Runs the hooks of one moment; undefined when all of them ended well. */
  async function run(
    journal: HookJournal,
    hooks: readonly PlannedHook[],
    event: HookEvent,
    work: HookWork,
  ): Promise<HookStop | undefined> {
    for (const hook of hookOrder(hooks, event)) {
      const stop = await runOne(journal, hook, event, work)
      if (stop) return stop
    }
    return undefined
  }

  async function runOne(
    journal: HookJournal,
    planned: PlannedHook,
    event: HookEvent,
    work: HookWork,
  ): Promise<HookStop | undefined> {
    const { applier, signal } = work
    const object = describeObject(planned)
    const name = `${event} hook ${object}`
    const waiting = (message: string): HookStop => ({ kind: 'Waiting', message: `${name}: ${message}`, object })
    const isThis = (record: HookRecord) =>
      objectKey(record) === planned.key && record.operation === journal.operation && record.event === event
    const ended = ({ state, message }: HookRecord): HookStop | undefined =>
      state === 'Failed' ? { kind: 'Failed', message: `${name} failed: ${message ?? ''}`, object } : undefined
    for (;;) {
      const record = journal.hooks().find(isThis)
      if (record && (record.state === 'Succeeded' || record.state === 'Failed')) {
        await clean(journal, planned, record, work)
        return ended(record)
      }
      const live = await liveOf(planned, journal.bundle, work)
      const formerUids = journal.hooks().flatMap((other) => (!isThis(other) && other.uid ? [other.uid] : []))
      const move = nextHookStep({
        record: record && {
          state: record.state,
          sinceMs: parseTime(record.since) ?? clock.now(),
          ...(record.uid === undefined ? {} : { uid: record.uid }),
        },
        formerUids,
        live,
        deletes: planned.hook.delete,
        nowMs: clock.now(),
        deadlineMs: (planned.hook.deadlineSeconds ?? work.timeoutMs / 1000) * 1000,
      })
      const write = (change: Partial<HookRecord>) => journal.save(withRecord(journal, isThis, change))
      switch (move.kind) {
        case 'Refuse':
          throw new ObjectFailure(planned, `${name}: ${move.why}`)
        case 'Clear':
          await applier.remove(planned, { uid: move.uid }, signal)
          return waiting('waits until what an earlier run left is gone')
        case 'AwaitGone':
          return waiting('waits until what an earlier run left is gone')
        case 'Start':
          await journal.save([...leftBefore(journal.hooks(), planned.key), newRecord(planned, journal, event)])
          break
        case 'Make': {
          const made = await make(planned, journal.bundle, work)
          log.info({ bundle: journal.bundle, hook: object, event }, 'hook started')
          await write({ state: 'Started', uid: made })
          break
        }
        case 'TakeUp':
          await write({ state: 'Started', uid: move.uid })
          break
        case 'Wait':
          return waiting(move.message)
        case 'End':
          log.info({ bundle: journal.bundle, hook: object, event, state: move.state }, 'hook ended')
          await write({ state: move.state, ...(move.message === '' ? {} : { message: move.message.slice(0, 1024) }) })
          break
      }
    }
  }

  function newRecord(planned: PlannedHook, { operation }: HookJournal, event: HookEvent): HookRecord {
    const { apiVersion, kind, namespace, name } = planned
    const id = { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name }
    return { ...id, operation, event, state: 'Starting', since: formatTime(clock.now()) }
  }

  async function make(planned: PlannedHook, bundle: string, { applier, signal }: HookWork): Promise<string> {
    const object = await objectToWrite(planned, content, signal)
    const { options } = planned
    const live = await applier.write({ bundle, object, options, meeting: { kind: 'Create' } }, signal)
    const { uid } = live.metadata
    if (uid === undefined || !isAppliedBy(live, bundle)) {
      throw new ObjectFailure(planned, `${describeObject(planned)}: somebody else made it at the same moment`)
    }
    return uid
  }

  /** Deletes what an ended hook made, when its policy says so; only by the UID that was written down. */
  async function clean(journal: HookJournal, planned: PlannedHook, record: HookRecord, { applier, signal }: HookWork) {
    const policy = record.state === 'Succeeded' ? 'succeeded' : 'failed'
    if (record.uid === undefined || !planned.hook.delete.includes(policy)) return
    await applier.remove(planned, { uid: record.uid }, signal)
    const { uid: _uid, ...rest } = record
    journal.note(journal.hooks().map((other) => (other === record ? rest : other)))
  }

  /** Deletes what is left of hooks that ran to their end; data that others made stays. */
  async function clear(journal: HookJournal, { applier, signal }: Omit<HookWork, 'timeoutMs'>): Promise<void> {
    for (const record of journal.hooks()) {
      if (record.uid !== undefined && isRunOnce(record)) await applier.remove(record, { uid: record.uid }, signal)
    }
  }

  return { run, clear }
}

/** Runs hooks. */
export type Hooks = ReturnType<typeof createHooks>

/** What is remembered of earlier operations when the next one begins: what they left. */
export function leftByHooks(hooks: readonly HookRecord[]): HookRecord[] {
  return hooks.filter(({ uid }) => uid !== undefined).slice(-MOST_LEFT)
}

// Nothing of that name is there any more.
function leftBefore(hooks: readonly HookRecord[], key: string): HookRecord[] {
  return hooks.map((record) => {
    if (objectKey(record) !== key) return record
    const { uid: _uid, ...rest } = record
    return rest
  })
}

function withRecord(
  journal: HookJournal,
  isThis: (record: HookRecord) => boolean,
  change: Partial<HookRecord>,
): HookRecord[] {
  return journal.hooks().map((record) => (isThis(record) ? { ...record, ...change } : record))
}

async function liveOf(planned: PlannedHook, bundle: string, work: HookWork): Promise<HookLive | undefined> {
  const live = await work.applier.get(planned, work.signal)
  if (live?.metadata.uid === undefined) return undefined
  return {
    uid: live.metadata.uid,
    isOurs: isAppliedBy(live, bundle),
    isLeaving: live.metadata.deletionTimestamp !== undefined,
    outcome: hookOutcome(live),
  }
}
