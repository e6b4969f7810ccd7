/**
 * Runs hooks: each once in an operation, in turn. plan/apply/hook-step.ts decides; this file acts and
 * records.
 */
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Logger } from '../../core/log.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import type { HookEvent } from '../../kinds/fields/hook.ts'
import { hookOutcome, isRunOnce, nextHookStep } from '../../plan/apply/hook-step.ts'
import type { HookLive } from '../../plan/apply/hook-step.ts'
import { hookOrder } from '../../plan/apply/hooks.ts'
import { describeObject, objectKey } from '../../plan/objects/object-id.ts'
import { isAppliedBy } from '../cluster/field-manager.ts'
import { ObjectFailure } from '../cluster/object-failure.ts'
import type { Applier } from '../cluster/applier.ts'
import type { HookRecord } from '../cluster/inventory.ts'
import type { Content } from '../documents/content.ts'
import { objectToWrite } from '../documents/set-plan.ts'
import type { PlannedHook } from '../documents/set-plan.ts'

/** The record of the hooks of an operation. */
export interface HookJournal {
  readonly bundle: string
  /** The number of the operation. */
  readonly operation: number
  hooks(): readonly HookRecord[]
  /** Writes the records to the cluster. */
  save(hooks: readonly HookRecord[]): Promise<void>
  /** Keeps the records in memory; the next write includes them. */
  note(hooks: readonly HookRecord[]): void
}

/** The executor of hooks, and their default deadline. */
export interface HookWork {
  readonly applier: Applier
  readonly signal: AbortSignal
  /** Deadline of a hook without its own deadline. */
  readonly timeoutMs: number
}

/** Why the hooks of an event have not all succeeded. */
export interface HookStop {
  readonly kind: 'Waiting' | 'Failed'
  readonly message: string
  readonly object: string
}

// Hooks whose names change with every version leave objects; the inventory remembers this many of them.
const MOST_LEFT = 100

/** Creates the runner of hooks. */
export function createHooks({
  content,
  clock,
  log,
}: {
  readonly content: Content
  readonly clock: Clock
  readonly log: Logger
}) {
  /** Runs the hooks of an event; undefined when all have succeeded. */
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
        await deleteByPolicy(journal, planned, record, work)
        return ended(record)
      }
      const live = await readLive(planned, journal.bundle, work)
      const formerUids = journal.hooks().flatMap((other) => (!isThis(other) && other.uid ? [other.uid] : []))
      const next = nextHookStep({
        record: record && {
          state: record.state,
          sinceMs: parseTime(record.since) ?? clock.now(),
          ...compact({ uid: record.uid }),
        },
        formerUids,
        live,
        deletes: planned.hook.delete,
        nowMs: clock.now(),
        deadlineMs: (planned.hook.deadlineSeconds ?? work.timeoutMs / 1000) * 1000,
      })
      const write = (change: Partial<HookRecord>) => journal.save(withRecord(journal, isThis, change))
      switch (next.kind) {
        case 'Refuse':
          throw new ObjectFailure(planned, `${name}: ${next.why}`)
        case 'Clear':
          await applier.remove(planned, { uid: next.uid }, signal)
          return waiting('waits until the object of an earlier run is deleted')
        case 'AwaitGone':
          return waiting('waits until the object of an earlier run is deleted')
        case 'Start':
          await journal.save([...withoutUid(journal.hooks(), planned.key), newRecord(planned, journal, event)])
          break
        case 'Make': {
          const made = await create(planned, journal.bundle, work)
          log.info({ bundle: journal.bundle, hook: object, event }, 'hook started')
          // A write that was refused for a while takes nothing of the hook's deadline.
          await write({ state: 'Started', uid: made, since: formatTime(clock.now()) })
          break
        }
        case 'TakeUp':
          await write({ state: 'Started', uid: next.uid })
          break
        case 'Wait':
          return waiting(next.message)
        case 'End':
          log.info({ bundle: journal.bundle, hook: object, event, state: next.state }, 'hook ended')
          await write(
            compact({ state: next.state, message: next.message === '' ? undefined : next.message.slice(0, 1024) }),
          )
          break
      }
    }
  }

  function newRecord(planned: PlannedHook, { operation }: HookJournal, event: HookEvent): HookRecord {
    const { apiVersion, kind, namespace, name } = planned
    const id = { apiVersion, kind, ...compact({ namespace }), name }
    return { ...id, operation, event, state: 'Starting', since: formatTime(clock.now()) }
  }

  async function create(planned: PlannedHook, bundle: string, { applier, signal }: HookWork): Promise<string> {
    const object = await objectToWrite(planned, content, signal)
    const { options } = planned
    const live = await applier.write({ bundle, object, options, ownership: { kind: 'Create' } }, signal)
    const { uid } = live.metadata
    if (uid === undefined || !isAppliedBy(live, bundle)) {
      throw new ObjectFailure(
        planned,
        `${describeObject(planned)}: another client created it at the same time; delete it or rename the hook`,
      )
    }
    return uid
  }

  /** Deletes the object of an ended hook by its recorded UID, when the hook's delete policy says so. */
  async function deleteByPolicy(
    journal: HookJournal,
    planned: PlannedHook,
    record: HookRecord,
    { applier, signal }: HookWork,
  ) {
    const policy = record.state === 'Succeeded' ? 'succeeded' : 'failed'
    if (record.uid === undefined || !planned.hook.delete.includes(policy)) return
    await applier.remove(planned, { uid: record.uid }, signal)
    const { uid: _uid, ...rest } = record
    journal.note(journal.hooks().map((other) => (other === record ? rest : other)))
  }

  /** Deletes the Jobs and Pods that ended hooks left; other objects stay. */
  async function clear(journal: HookJournal, { applier, signal }: Omit<HookWork, 'timeoutMs'>): Promise<void> {
    for (const record of journal.hooks()) {
      if (record.uid !== undefined && isRunOnce(record)) await applier.remove(record, { uid: record.uid }, signal)
    }
  }

  return { run, clear }
}

/** The runner of hooks. */
export type Hooks = ReturnType<typeof createHooks>

/** The records that stay when the next operation begins: hooks whose objects are still in the cluster. */
export function leftByHooks(hooks: readonly HookRecord[]): HookRecord[] {
  return hooks.filter(({ uid }) => uid !== undefined).slice(-MOST_LEFT)
}

// The object of an earlier run is gone.
function withoutUid(hooks: readonly HookRecord[], key: string): HookRecord[] {
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

async function readLive(planned: PlannedHook, bundle: string, work: HookWork): Promise<HookLive | undefined> {
  const live = await work.applier.get(planned, work.signal)
  if (live?.metadata.uid === undefined) return undefined
  return {
    uid: live.metadata.uid,
    isOurs: isAppliedBy(live, bundle),
    isLeaving: live.metadata.deletionTimestamp !== undefined,
    outcome: hookOutcome(live),
  }
}
