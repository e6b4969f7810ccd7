/** Runs the document: every entry a bundle, each stepped when it is due; rows are what the reporter sends. */
import { backoffMs } from '../core/backoff.ts'
import type { Clock } from '../core/clock.ts'
import { toError, Waiting } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import { createNotice } from '../core/notice.ts'
import type { ClusterDocument, DocumentEntry, Tombstone } from '../wire/document.ts'
import type { ReportRow } from '../wire/frames.ts'
import { LIMITS } from '../wire/limits.ts'
import { WireError } from '../wire/validate.ts'
import type { Applier } from './applier.ts'
import type { ClusterState } from './cluster-state.ts'
import type { Content } from './content.ts'
import type { Documents } from './documents.ts'
import { objectKey } from './object-id.ts'
import { createOperation, newRun, rowOfFailure } from './operation.ts'
import type { BundleRun, StepResult } from './operation.ts'
import { pruneObjects } from './prune.ts'

/** What the operator needs. */
export interface OperatorPorts {
  readonly documents: Documents
  readonly content: Content
  readonly applier: Applier
  readonly state: ClusterState
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** Called after every change of rows or document. */
  readonly onChange: () => void
}

interface Slot {
  readonly run: BundleRun
  row: ReportRow
  dueAt: number
  failures: number
}

const RETRY = { baseMs: 1000, maxMs: 60_000, jitter: 0.3 }
// With nothing to do the loop rests; whatever comes gives a notice.
const IDLE_MS = 60_000

/** Makes the operator; nothing happens before `run`. */
export function createOperator(ports: OperatorPorts) {
  const { documents, content, applier, state, clock, ids } = ports
  const log = ports.log.child({ part: 'operator' })
  const notice = createNotice(clock)
  const operation = createOperation(ports)
  const slots = new Map<string, Slot>()
  let removed = new Set<string>()
  let refreshFailures = 0
  let roundFailures = 0
  let collectedFor: string | undefined

  async function wantedElsewhere(bundle: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const keys = new Set<string>()
    for (const { run } of slots.values()) {
      if (run.entry.bundle === bundle) continue
      const sets = new Set([run.entry.set, ...(run.inventory ? [run.inventory.set] : [])])
      for (const digest of sets)
        for (const named of (await content.set(digest, signal)).objects) keys.add(objectKey(named))
    }
    return keys
  }

  /** Brings the slots in line with the document; what it does not name stays as it is: absence is never deletion. */
  function align(document: ClusterDocument): void {
    const entries = new Map(document.content.entries.map((entry) => [entry.bundle, entry]))
    for (const bundle of slots.keys()) if (!entries.has(bundle)) slots.delete(bundle)
    for (const entry of entries.values()) {
      const slot = slots.get(entry.bundle)
      if (slot && slot.run.entry.set === entry.set && slot.run.entry.generation === entry.generation) {
        slot.run.entry = entry
        slot.run.epoch = document.epoch
        continue
      }
      const run = newRun(entry, document.epoch)
      slots.set(entry.bundle, { run, row: rowOf(entry, { state: 'Pending' }), dueAt: clock.monotonicMs(), failures: 0 })
    }
  }

  async function stepSlot(slot: Slot, signal: AbortSignal): Promise<void> {
    const { run } = slot
    let result: StepResult
    try {
      result = await operation.step(run, wantedElsewhere, signal)
      slot.failures = 0
    } catch (caught) {
      if (signal.aborted) return
      // What was read may be what is wrong: read it again next time.
      run.inventoryRead = false
      result = failed(slot, caught)
    }
    slot.dueAt = clock.monotonicMs() + result.lookAgainMs
    const row = rowOf(run.entry, result.row)
    if (row.state === slot.row.state && row.message === slot.row.message) return
    log.info(
      { bundle: row.bundle, generation: row.generation, state: row.state, message: row.message },
      'bundle changed',
    )
    slot.row = row
    ports.onChange()
  }

  function failed(slot: Slot, caught: unknown): StepResult {
    const backoff = backoffMs(slot.failures, ids.fraction(), RETRY)
    slot.failures += 1
    const lookAgainMs = caught instanceof Waiting ? caught.retryAfterMs : backoff
    const row = rowOfFailure(caught)
    if (row) return { row, lookAgainMs }
    const error = toError(caught)
    log.debug({ err: error, bundle: slot.run.entry.bundle }, 'step failed')
    if (caught instanceof WireError) return { row: { state: 'Failed', message: error.message }, lookAgainMs }
    // The cluster or the hub was not there: that says nothing new about a bundle that has begun.
    const begun = slot.row.state !== 'Pending'
    return { row: begun ? slot.row : { state: 'Pending', message: error.message }, lookAgainMs }
  }

  /** Tombstones: the only way a bundle leaves a cluster. */
  async function bury(document: ClusterDocument, signal: AbortSignal): Promise<void> {
    for (const tombstone of document.content.tombstones) {
      const id = `${tombstone.bundle}@${tombstone.generation}`
      if (removed.has(id) || slots.has(tombstone.bundle)) continue
      try {
        await remove(tombstone, signal)
        removed.add(id)
      } catch (caught) {
        // It stays in the document until it is done, so the next round tries again; the other bundles go on.
        log.debug({ err: toError(caught), bundle: tombstone.bundle }, 'bundle could not be removed yet')
      }
    }
    removed = new Set([...removed].slice(-2 * LIMITS.bundles))
  }

  async function remove({ bundle, generation, policy }: Tombstone, signal: AbortSignal): Promise<void> {
    const inventory = await state.readInventory(bundle, signal)
    if (!inventory || inventory.generation > generation) return
    const objects = policy === 'Delete' ? inventory.objects : []
    await pruneObjects({ bundle, objects, applier, wanted: wantedElsewhere, log }, signal)
    await state.deleteInventory(bundle)
    log.info({ bundle, generation, policy, objects: objects.length }, 'bundle removed')
  }

  /** Once everything runs as the document says, older content is not needed any more. */
  async function collect(digest: string): Promise<void> {
    const settled = [...slots.values()].every(({ run }) => run.inventory?.phase === 'Settled')
    if (!settled || collectedFor === digest) return
    await content.collect([...slots.values()].map(({ run }) => run.entry.set))
    collectedFor = digest
  }

  /** Returns when to try again, when that failed: without hub or news the document at hand is carried out all the same. */
  async function refresh(signal: AbortSignal): Promise<number> {
    const before = documents.held()?.digest
    const refused = documents.refusal()
    let retryMs = IDLE_MS
    try {
      await documents.refresh(signal)
      refreshFailures = 0
    } catch (caught) {
      retryMs = backoffMs(refreshFailures, ids.fraction(), RETRY)
      refreshFailures += 1
      if (!signal.aborted) log.debug({ err: toError(caught), retryMs }, 'document could not be brought up to date')
    }
    if (documents.held()?.digest !== before || documents.refusal() !== refused) ports.onChange()
    return retryMs
  }

  async function round(signal: AbortSignal): Promise<number> {
    const retryMs = await refresh(signal)
    const current = documents.current()
    if (!current) return retryMs
    align(current.document)
    await bury(current.document, signal)
    for (const slot of slots.values()) {
      if (signal.aborted) return 0
      if (slot.dueAt <= clock.monotonicMs()) await stepSlot(slot, signal)
    }
    await collect(current.digest)
    const dueAt = Math.min(...[...slots.values()].map((slot) => slot.dueAt))
    return Math.min(retryMs, Math.max(0, dueAt - clock.monotonicMs()))
  }

  return {
    /** Looks for something to do now. */
    wake: notice.notify,
    rows: (): readonly ReportRow[] => [...slots.values()].map((slot) => slot.row),
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        let restMs: number
        try {
          restMs = await round(signal)
          roundFailures = 0
        } catch (caught) {
          restMs = backoffMs(roundFailures, ids.fraction(), RETRY)
          roundFailures += 1
          if (!signal.aborted) log.debug({ err: toError(caught), retryMs: restMs }, 'round failed')
        }
        await notice.wait(restMs, signal).catch(() => {}) // aborted: the loop ends
      }
    },
  }
}

/** Runs the document. */
export type Operator = ReturnType<typeof createOperator>

function rowOf({ bundle, generation, set }: DocumentEntry, row: StepResult['row']): ReportRow {
  const cut = (text: string) =>
    text.length <= LIMITS.messageChars ? text : `${text.slice(0, LIMITS.messageChars - 1)}…`
  return {
    bundle,
    generation,
    set,
    state: row.state,
    ...(row.message === undefined ? {} : { message: cut(row.message) }),
    ...(row.firstFailing === undefined ? {} : { firstFailing: cut(row.firstFailing) }),
  }
}
