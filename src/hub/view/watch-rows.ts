/**
 * A watch of rows. Rows are not stored, so the watch remembers those it has shown, and when something they are made
 * from changes it works out again what that may have touched and tells the difference.
 *
 *     rows as of `after` ──▶ wait for changes ──▶ pause, so that a burst is one look ──▶ rows as of now ──▶
 * difference ─┐
 *                                 ▲
 * │
 * └─────────────────────────────────────────────────────────────────────────────────────┘
 */
import type { Clock } from '../../core/time/clock.ts'
import { ApiError, toError } from '../../core/errors.ts'
import { historyExpiredError } from '../../store/event-log.ts'
import type { Store, StoreEvent, StoreWatch } from '../../store/store.ts'
import { createAffectedRows, INPUTS_PREFIX } from './affected-rows.ts'
import { serializeRow } from './row-source.ts'
import type { RowFilter, PositionedRow } from './row-source.ts'

/** What is watched. */
export interface WatchedRows {
  readonly base: Store
  /** The one of the kind. */
  readonly prefix: string
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  /** It is one row, named; it is looked at whole. */
  readonly isOne: boolean
  rowsAt(revision: number, among?: RowFilter): AsyncIterable<PositionedRow>
  /** Several events come together; both are revisions of the base. */
  noteBatch(begin: number, end: number): void
  /** Where a batch begins, while that is known. */
  beginOf(end: number): number | undefined
}

/** A burst of changes is looked at once. */
const PAUSE_MS = 100
/** A look that is dear is taken seldom: a watch takes at most one part in so many of its thread's time. */
const SHARE = 10
/** Rows follow windows, and windows follow the time. */
const TIME_MS = 60_000
/** What one watch may remember. */
const MAX_ROWS = 100_000

type Known = Map<string, PositionedRow & { readonly text: string }>

/** Follows rows from a revision of the view on: an odd one is within a batch. */
export function watchRows(rows: WatchedRows, from: number, signal: AbortSignal): StoreWatch {
  const { base, prefix, clock } = rows
  const after = Math.ceil(from / 2)
  const ended = new AbortController()
  const until = AbortSignal.any([signal, ended.signal])
  const changes = base.watch(INPUTS_PREFIX, after, until)
  const touched = createAffectedRows()
  /** The revision of the view up to which everything was told. */
  let told = from
  /** The revision of the base at which the client surely had all rows. */
  let whole = after
  let newest = after
  let isBehind = true
  let failure: Error | undefined
  let woken = Promise.withResolvers<void>()

  async function follow(): Promise<void> {
    try {
      for await (const { key, revision } of changes) {
        newest = revision
        if (touched.note(key)) wake()
      }
    } catch (caught) {
      failure = toError(caught)
    }
    wake()
  }

  async function followTime(): Promise<void> {
    while (!until.aborted) {
      await clock.sleep(TIME_MS, until).catch(() => {}) // aborted: the loop ends
      touched.noteAll()
      wake()
    }
  }

  function wake(): void {
    isBehind = true
    woken.resolve()
  }

  async function look(revision: number, among?: RowFilter): Promise<Known> {
    const shown: Known = new Map()
    for await (const row of rows.rowsAt(revision * 2, among)) {
      if (shown.size >= MAX_ROWS) throw tooMany()
      shown.set(`${prefix}${row.at.join('/')}`, { ...row, text: JSON.stringify(row.object) })
    }
    return shown
  }

  /** It is unknown how much of a batch the client has received: the whole batch is sent again. */
  async function forgetBatch(known: Known): Promise<void> {
    const begin = rows.beginOf(after)
    if (begin === undefined) throw historyExpiredError(from, after * 2)
    for (const { key, before, now } of differences(await look(begin), known, undefined)) {
      known.set(key, { ...(now ?? before!), text: '' })
    }
    whole = begin
    touched.noteAll()
    wake()
  }

  /** The events of a look, which is then what is known. */
  function* tell(known: Known, batch: readonly Difference[], revision: number): Generator<StoreEvent> {
    if (batch.length > 1) rows.noteBatch(whole, revision)
    const begin = told
    for (const [index, { key, before, now }] of batch.entries()) {
      told = index < batch.length - 1 ? revision * 2 - 1 : revision * 2
      if (!now) known.delete(key)
      yield {
        key,
        revision: told,
        value: now && serializeRow(now.object, told),
        previous: before && serializeRow(before.object, begin),
      }
    }
    told = revision * 2
    whole = revision
  }

  async function* events(): AsyncGenerator<StoreEvent> {
    const following = Promise.all([follow(), followTime()])
    try {
      const known = await look(after)
      if (from % 2 === 1) await forgetBatch(known)
      let pauseMs = PAUSE_MS
      isBehind = newest > after
      for (;;) {
        await woken.promise
        await clock.sleep(pauseMs, until).catch(() => {}) // aborted: seen below
        if (failure) throw failure
        if (until.aborted) return
        const began = clock.monotonicMs()
        woken = Promise.withResolvers<void>()
        const taken = touched.take()
        const among = rows.isOne ? undefined : taken
        // Changes come in order: all up to the newest are noted.
        const revision = Math.max(newest, changes.progress())
        const now = await look(revision, among)
        pauseMs = Math.max(PAUSE_MS, (clock.monotonicMs() - began) * (SHARE - 1))
        yield* tell(known, [...differences(known, now, among)], revision)
        for (const [key, row] of now) known.set(key, row)
        isBehind = newest > revision
      }
    } finally {
      ended.abort()
      await following
    }
  }

  return {
    [Symbol.asyncIterator]: events,
    atHand: () => undefined,
    progress: () => (isBehind ? told : Math.max(told, changes.progress() * 2)),
  }
}

interface Difference {
  readonly key: string
  readonly before?: PositionedRow | undefined
  readonly now?: PositionedRow
}

/** What differs between the rows that are known and those of a look. */
function* differences(known: Known, now: Known, among: RowFilter | undefined): Generator<Difference> {
  for (const [key, row] of now) {
    const before = known.get(key)
    if (before?.text !== row.text) yield { key, before, now: row }
  }
  for (const [key, before] of known) {
    if (!now.has(key) && isAmong(among, before.at)) yield { key, before }
  }
}

function isAmong(among: RowFilter | undefined, [namespace, bundle, cluster]: readonly string[]): boolean {
  if (!among || bundle === undefined) return true
  return among.bundle(`${namespace}/${bundle}`) || (cluster !== undefined && among.clusters.has(cluster))
}

function tooMany(): ApiError {
  return new ApiError(
    'BadRequest',
    `a watch follows at most ${MAX_ROWS} rows and these are more: name a namespace, or select by bundle or cluster`,
  )
}
