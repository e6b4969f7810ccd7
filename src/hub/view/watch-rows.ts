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
  /** Prefix of the keys of the kind. */
  readonly prefix: string
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  /** A single row is watched by name, and always computed again. */
  readonly isOne: boolean
  readonly stored?: StoredEvents
  rowsAt(revision: number, among?: RowFilter): AsyncIterable<PositionedRow>
  /** Records events that come together; all numbers are revisions of the base. */
  noteBatch(begins: readonly number[], end: number): void
  /** Where batches with this end begin; empty when that is not known any more. */
  beginsOf(end: number): readonly number[]
}

/** Objects of the kind that are stored: a watch passes each of their events on. */
export interface StoredEvents {
  /** Prefix of the keys that are watched. */
  readonly prefix: string
  /** The event with a revision of the view. */
  show(event: StoreEvent, revision: number): StoreEvent
}

/** A burst of changes is looked at once. */
const PAUSE_MS = 100
/** A watch whose looks take long takes at most this part (one in SHARE) of the time of its thread. */
const SHARE = 10
/** Rows follow windows, and windows follow the time. */
const TIME_MS = 60_000
/** What one watch may remember. */
const MAX_ROWS = 100_000

type Known = Map<string, PositionedRow & { readonly text: string }>

/** Follows rows from a revision of the view on: an odd one is within a batch. */
export function watchRows(rows: WatchedRows, from: number, signal: AbortSignal): StoreWatch {
  return new RowWatch(rows, from, signal)
}

/**
 * A watch. A stored object's event is passed on at once. While rows wait to be looked at, the event carries an odd
 * revision: a client that comes back with that revision has not seen the rows of the revision yet, and gets all rows
 * that changed since they were last complete.
 */
class RowWatch implements StoreWatch {
  readonly #rows: WatchedRows
  readonly #from: number
  readonly #after: number
  readonly #ended = new AbortController()
  readonly #until: AbortSignal
  readonly #changes: StoreWatch
  readonly #touched = createAffectedRows()
  /** Names of all rows that were seen, also of rows that a stored object hides. */
  readonly #names = new Set<string>()
  /** Events of stored objects that were not passed on yet. */
  readonly #waiting: StoreEvent[] = []
  /** The revision of the view up to which everything was told. */
  #told: number
  /** Revisions of the base: each row that the client has is as of one of them. */
  #whole: readonly number[]
  #newest: number
  /** The first revision that may have changed rows since they were last looked at. */
  #pendingFrom: number | undefined
  #isDue = false
  #isScheduled = false
  #isLooking = true
  #pauseMs = PAUSE_MS
  #failure: Error | undefined
  #woken = Promise.withResolvers<void>()

  constructor(rows: WatchedRows, from: number, signal: AbortSignal) {
    this.#rows = rows
    this.#from = from
    this.#after = Math.ceil(from / 2)
    this.#told = from
    this.#whole = [this.#after]
    this.#newest = this.#after
    this.#until = AbortSignal.any([signal, this.#ended.signal])
    // A watch of everything keeps stored objects and the inputs of rows in one order.
    this.#changes = rows.base.watch(rows.stored ? '/' : INPUTS_PREFIX, this.#after, this.#until)
  }

  atHand(): undefined {
    return undefined
  }

  progress(): number {
    if (this.#isScheduled || this.#isLooking || this.#waiting.length > 0) return this.#told
    return Math.max(this.#told, this.#seen() * 2)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StoreEvent> {
    const following = Promise.all([this.#follow(), this.#followTime()])
    try {
      const known = await this.#look(this.#after)
      if (this.#from % 2 === 1) await this.#forgetBatch(known)
      this.#isLooking = false
      for (;;) {
        await this.#woken.promise
        this.#woken = Promise.withResolvers<void>()
        yield* this.#tellStored()
        if (this.#failure) throw this.#failure
        if (this.#until.aborted) return
        if (this.#isDue) yield* this.#lookAgain(known)
      }
    } finally {
      this.#ended.abort()
      await following
    }
  }

  /** The revision up to which all changes are noted. */
  #seen(): number {
    // A stored object's event must have been noted, not only taken from the log.
    return this.#rows.stored ? this.#newest : Math.max(this.#newest, this.#changes.progress())
  }

  async #follow(): Promise<void> {
    const { stored } = this.#rows
    try {
      for await (const event of this.#changes) {
        this.#newest = event.revision
        if (stored && event.key.startsWith(stored.prefix)) this.#noteStored(event)
        else if (event.key.startsWith(INPUTS_PREFIX) && this.#touched.note(event.key)) this.#lookSoon(event.revision)
      }
    } catch (caught) {
      this.#failure = toError(caught)
    }
    this.#woken.resolve()
  }

  async #followTime(): Promise<void> {
    while (!this.#until.aborted) {
      await this.#rows.clock.sleep(TIME_MS, this.#until).catch(() => {}) // aborted: the loop ends
      this.#touched.noteAll()
      this.#lookSoon(this.#newest + 1)
    }
    this.#woken.resolve()
  }

  #lookSoon(revision: number): void {
    this.#pendingFrom = Math.min(this.#pendingFrom ?? revision, revision)
    if (this.#isScheduled) return
    this.#isScheduled = true
    const due = () => {
      this.#isDue = true
      this.#woken.resolve()
    }
    void this.#rows.clock.sleep(this.#pauseMs, this.#until).then(due, due)
  }

  #noteStored(event: StoreEvent): void {
    this.#waiting.push(event)
    const isComingOrGoing = event.value === undefined || event.previous === undefined
    // A row of this name goes or comes with the stored object.
    if (isComingOrGoing && this.#names.has(event.key.slice(this.#rows.prefix.length))) {
      this.#touched.noteAll()
      this.#lookSoon(event.revision)
    }
    this.#woken.resolve()
  }

  async #look(revision: number, among?: RowFilter): Promise<Known> {
    const { prefix, stored } = this.#rows
    const shown: Known = new Map()
    for await (const row of this.#rows.rowsAt(revision * 2, among)) {
      const { namespace = '', name } = row.object.metadata
      if (stored) this.#names.add(`${namespace}/${name}`)
      if (row.isShadowed) continue
      if (shown.size >= MAX_ROWS) throw tooMany()
      shown.set(`${prefix}${row.at.join('/')}`, { ...row, text: JSON.stringify(row.object) })
    }
    return shown
  }

  /** It is unknown how much of a batch the client has received: the whole batch is sent again. */
  async #forgetBatch(known: Known): Promise<void> {
    const begins = this.#rows.beginsOf(this.#after)
    if (begins.length === 0) throw historyExpiredError(this.#from, this.#after * 2)
    const present = new Map(known)
    for (const begin of begins) {
      for (const { key, before, now } of differences(await this.#look(begin), present, undefined)) {
        known.set(key, { ...(now ?? before!), text: '' })
      }
    }
    // A row that the client has is as of one of these.
    this.#whole = [...new Set([...begins, this.#after])]
    this.#touched.noteAll()
    this.#lookSoon(Math.min(...begins) + 1)
  }

  async *#lookAgain(known: Known): AsyncGenerator<StoreEvent> {
    const { clock, isOne } = this.#rows
    const began = clock.monotonicMs()
    this.#isLooking = true
    this.#isDue = false
    this.#isScheduled = false
    const taken = this.#touched.take()
    const among = isOne ? undefined : taken
    const revision = this.#seen()
    this.#pendingFrom = undefined
    const now = await this.#look(revision, among)
    this.#pauseMs = Math.max(PAUSE_MS, (clock.monotonicMs() - began) * (SHARE - 1))
    const batch: Difference[] = []
    for (const difference of differences(known, now, among)) {
      if (!(await this.#isReplaced(difference, revision))) batch.push(difference)
      else known.delete(difference.key)
    }
    yield* this.#tell(known, batch, revision)
    for (const [key, row] of now) known.set(key, row)
    this.#isLooking = false
  }

  /** Whether a row went because a stored object has its name: the client has that object instead. */
  async #isReplaced({ before, now }: Difference, revision: number): Promise<boolean> {
    const { base, prefix, stored } = this.#rows
    if (!stored || now || !before) return false
    const { namespace = '', name } = before.object.metadata
    return (await base.get(`${prefix}${namespace}/${name}`, revision)) !== undefined
  }

  /** Passes on what happened to stored objects. */
  *#tellStored(): Generator<StoreEvent> {
    for (let event = this.#waiting.shift(); event; event = this.#waiting.shift()) {
      const isWhole = this.#pendingFrom === undefined || this.#pendingFrom > event.revision
      if (isWhole) this.#whole = [event.revision]
      else this.#rows.noteBatch(this.#whole, event.revision)
      this.#told = event.revision * 2 - (isWhole ? 0 : 1)
      yield this.#rows.stored!.show(event, this.#told)
    }
  }

  /** The events of a look, which is then what is known. */
  *#tell(known: Known, batch: readonly Difference[], revision: number): Generator<StoreEvent> {
    if (batch.length > 1) this.#rows.noteBatch(this.#whole, revision)
    const begin = this.#told
    for (const [index, { key, before, now }] of batch.entries()) {
      this.#told = index < batch.length - 1 ? revision * 2 - 1 : revision * 2
      if (!now) known.delete(key)
      yield {
        key,
        revision: this.#told,
        value: now && serializeRow(now.object, this.#told),
        previous: before && serializeRow(before.object, begin),
      }
    }
    this.#told = revision * 2
    this.#whole = [revision]
  }
}

interface Difference {
  readonly key: string
  readonly before?: PositionedRow | undefined
  readonly now?: PositionedRow
}

/** What differs between the known rows and the rows of a look. */
function* differences(known: Known, now: Known, among: RowFilter | undefined): Generator<Difference> {
  for (const [key, row] of now) {
    const before = known.get(key)
    if (before?.text !== row.text) yield { key, before, now: row }
  }
  for (const [key, before] of known) {
    if (!now.has(key) && isAmong(among, before.of ?? before.at)) yield { key, before }
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
