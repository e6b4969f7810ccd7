/** Runs the document: every entry a bundle, each stepped when it is due; rows are what the reporter sends. */
import { backoffMs } from '../../core/time/backoff.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { toError, Waiting } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import { createWakeup } from '../../core/async/wakeup.ts'
import { jsonEqual } from '../../core/json.ts'
import { parseTime } from '../../core/time/time.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { objectKey } from '../../plan/objects/object-id.ts'
import { rerenderDelayMs } from '../../plan/apply/rerender.ts'
import type { ClusterDocument, DocumentEntry, DocumentRules } from '../../wire/document/cluster-document.ts'
import type { RemovalRow, ReportRow } from '../../wire/link/frames.ts'
import { WireError } from '../../wire/validate.ts'
import { detailsOf, buildReportRow } from './report-row.ts'
import { newRun, loadInventory } from './bundle-run.ts'
import type { BundleRun, StepResult } from './bundle-run.ts'
import type { Documents } from '../documents/documents.ts'
import { createStartConditions } from './start-conditions.ts'
import type { HubTime } from '../link/hub-time.ts'
import { createClusterRender } from '../render/cluster-render.ts'
import type { ClusterRenderPorts } from '../render/cluster-render.ts'
import { createOperation } from './operation.ts'
import type { OtherBundles } from './operation.ts'
import { rowOfFailure } from './outcome.ts'
import { createPlanLoader } from './plan-loader.ts'
import { createReceipts } from './removal/receipts.ts'
import { createRemoval } from './removal/removal.ts'
import { createBundleTable } from './bundle-table.ts'
import type { TrackedBundle } from './bundle-table.ts'

/** What the operator needs, and what it renders with sets whose charts look at the cluster. */
export interface BundleLoopPorts extends ClusterRenderPorts {
  readonly documents: Pick<Documents, 'current' | 'held' | 'refusal' | 'refresh'>
  readonly log: Logger
  readonly hubTime: Pick<HubTime, 'now'>
  /** The most objects of one bundle that the cluster lets be deleted at once. */
  readonly maxPrune: () => number | undefined
  /** Called after every change of rows or document. */
  readonly onChange: () => void
  /** The document says that the cluster left the fleet: nothing is carried out any more. */
  readonly onTerminal?: (terminal: NonNullable<ClusterDocument['terminal']>) => void
}

const RETRY = { baseMs: 1000, maxMs: 60_000, jitter: 0.3 }
// With nothing to do the loop rests; whatever comes gives a notice.
const IDLE_MS = 60_000
// What is being removed ends when the cluster lets it.
const BURY_MS = 5000
// Changes come in flocks.
const TOUCH_MS = 200
const SWEEP_MS = 3_600_000

/** Makes the operator; nothing happens before `run`. */
export function createBundleLoop(ports: BundleLoopPorts) {
  const { documents, content, appliers, state, clock, ids } = ports
  const log = ports.log.child({ part: 'operator' })
  const notice = createWakeup(clock)
  const plans = createPlanLoader({ content, clock, clusterRender: createClusterRender(ports) })
  const operation = createOperation({ ...ports, plans })
  const bundles = createBundleTable(content)
  const { slots } = bundles
  /** What each set says about dependencies; small, and asked for in every round. */
  const optionsOf = new Map<Digest, BundleOptions>()
  const gates = createStartConditions({ ...ports, slots, optionsOf })
  const receipts = createReceipts(state, ports)
  const { bury, tidy } = createRemoval({ ...ports, plans, log, bundles, receipts, windowsNow: gates.windowsNow })
  let sweptAt = clock.monotonicMs()
  let isStale = false
  let refreshFailures = 0
  let roundFailures = 0
  let collectedFor: string | undefined
  let rules: DocumentRules | undefined

  /** Reads what the sets of the document depend on; a set that is not here yet has no say until it is. */
  async function readOptions(signal: AbortSignal): Promise<void> {
    const current = new Set([...slots.values()].map(({ run }) => run.entry.set))
    for (const set of optionsOf.keys()) if (!current.has(set)) optionsOf.delete(set)
    for (const { run } of slots.values()) {
      const { set } = run.entry
      if (optionsOf.has(set)) continue
      const found = await content.set(set, signal).catch((caught: unknown) => {
        if (signal.aborted) throw caught
        return undefined
      })
      if (found) optionsOf.set(set, found.options ?? {})
    }
  }

  /** Brings the slots in line with the document; what it does not name stays as it is: absence is never deletion. */
  function align(document: ClusterDocument): void {
    // Rules are in force on receipt: what waits looks at the new ones now.
    if (!jsonEqual(rules, document.rules)) {
      rules = document.rules
      for (const slot of slots.values()) if (slot.row.state === 'Pending') slot.dueAt = clock.monotonicMs()
    }
    const entries = new Map(document.content.entries.map((entry) => [entry.bundle, entry]))
    for (const [bundle, { run }] of slots) {
      if (entries.has(bundle)) continue
      if (run.inventory) bundles.keepFormer(run.inventory)
      if (run.plan?.rendered) void appliers.follow(bundle)
      slots.delete(bundle)
    }
    for (const entry of entries.values()) {
      const slot = slots.get(entry.bundle)
      if (slot && slot.run.entry.set === entry.set && slot.run.entry.generation === entry.generation) {
        // Admitted again: it may begin now, and what was missed before is not what it is now.
        const { startBy, admittedAt, attempt } = slot.run.entry
        if (startBy !== entry.startBy || admittedAt !== entry.admittedAt || attempt !== entry.attempt) {
          slot.came = cameWith(entry, document)
          slot.dueAt = clock.monotonicMs()
        }
        slot.run.entry = entry
        slot.run.epoch = document.epoch
        continue
      }
      const run = newRun(entry, document.epoch)
      const inventory = slot?.run.inventoryRead ? slot.run.inventory : bundles.former().get(entry.bundle)
      if (inventory) loadInventory(run, inventory)
      bundles.dropFormer(entry.bundle)
      const row = buildReportRow(entry, { state: 'Pending' })
      slots.set(entry.bundle, { run, row, dueAt: clock.monotonicMs(), failures: 0, came: cameWith(entry, document) })
    }
  }

  function cameWith({ admittedAt }: DocumentEntry, { issuedAt }: ClusterDocument): TrackedBundle['came'] {
    return { issuedMs: parseTime(admittedAt ?? issuedAt) ?? 0, monotonicMs: clock.monotonicMs() }
  }

  async function stepSlot(slot: TrackedBundle, signal: AbortSignal): Promise<void> {
    const { run } = slot
    let result: StepResult
    try {
      const { bundle } = run.entry
      const around: OtherBundles = {
        wanted: bundles.wantedElsewhere,
        others: () => bundles.otherRecords(bundle),
        gate: (plan) => gates.windowGate(slot, plan.options) ?? gates.dependencyGate(bundle),
      }
      result = await operation.step(run, around, signal)
      slot.failures = 0
    } catch (caught) {
      if (signal.aborted) return
      // What was read may be what is wrong: read it again next time.
      run.inventoryRead = false
      result = failed(slot, caught)
    }
    slot.dueAt = clock.monotonicMs() + result.lookAgainMs
    const tried = run.attempt === 0 ? {} : { attempt: run.attempt }
    const row = hushed({ ...buildReportRow(run.entry, result.row), ...tried, ...detailsOf(run) }, run)
    if (jsonEqual(row, slot.row)) return
    log.info(
      { bundle: row.bundle, generation: row.generation, state: row.state, message: row.message },
      'bundle changed',
    )
    slot.row = row
    ports.onChange()
  }

  function failed(slot: TrackedBundle, caught: unknown): StepResult {
    const backoff = backoffMs(slot.failures, ids.fraction(), RETRY)
    slot.failures += 1
    const lookAgainMs = caught instanceof Waiting ? caught.retryAfterMs : backoff
    const row = rowOfFailure(caught)
    if (row) return { row, lookAgainMs }
    const error = toError(caught)
    // Of a bundle that is rendered here, what the cluster says may repeat what was read.
    const said = slot.run.plan?.rendered ? { name: error.name } : { err: error }
    log.debug({ ...said, bundle: slot.run.entry.bundle }, 'step failed')
    if (caught instanceof WireError) return { row: { state: 'Failed', message: error.message }, lookAgainMs }
    // The cluster or the hub was not there: that says nothing new about a bundle that has begun.
    const begun = slot.row.state !== 'Pending'
    return { row: begun ? slot.row : { state: 'Pending', message: error.message }, lookAgainMs }
  }

  /** Once everything runs as the document says, older content is not needed any more. */
  async function collect(digest: string, signal: AbortSignal): Promise<void> {
    const settled = [...slots.values()].every(({ run }) => run.inventory?.phase === 'Settled')
    if (!settled || collectedFor === digest) return
    const all = [...slots.values()]
    const present = all.flatMap(({ run: { inventory } }) => (inventory ? [inventory.set] : []))
    // What a bundle has that leaves one day, for its hooks.
    const past = [...bundles.former().values()].map((inventory) => inventory.set)
    const wanted = all.map(({ run }) => run.entry.set)
    if (await content.collect(wanted, [...present, ...past], signal)) collectedFor = digest
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

  function startOver(): void {
    isStale = false
    state.forget()
    appliers.reset()
    bundles.clear()
    receipts.forget()
  }

  /** What was here before, and what became of it. */
  async function learn(signal: AbortSignal): Promise<void> {
    if (!bundles.isKnown()) bundles.learn(await state.listInventories(signal))
    await receipts.load(signal)
  }

  async function round(signal: AbortSignal): Promise<number> {
    if (isStale) startOver()
    const retryMs = await refresh(signal)
    const current = documents.current()
    if (!current) return retryMs
    if (current.document.terminal) {
      // Nothing is carried out any more; what a crash left of removals that are done is still put away.
      await learn(signal)
        .then(() => tidy(signal))
        .catch((caught: unknown) => log.debug({ err: toError(caught) }, 'what was recorded could not be looked at'))
      ports.onTerminal?.(current.document.terminal)
      return retryMs
    }
    await learn(signal)
    await receipts.align(current.document, signal)
    align(current.document)
    await readOptions(signal)
    const unburied = await bury(current.document, signal)
    for (const slot of slots.values()) {
      if (signal.aborted) return 0
      if (slot.dueAt <= clock.monotonicMs()) await stepSlot(slot, signal)
    }
    await collect(current.digest, signal)
    if (clock.monotonicMs() - sweptAt >= SWEEP_MS) {
      appliers.sweep()
      sweptAt = clock.monotonicMs()
    }
    const dueAt = Math.min(...[...slots.values()].map((slot) => slot.dueAt))
    return Math.min(unburied > 0 ? BURY_MS : retryMs, retryMs, Math.max(0, dueAt - clock.monotonicMs()))
  }

  return {
    /** Looks for something to do now. */
    wake: notice.notify,
    /** An object changed: the bundles that have it look soon, once for many changes. */
    touch(key: string, isNews: boolean): void {
      const soon = clock.monotonicMs() + TOUCH_MS
      let isSooner = false
      for (const { run, dueAt } of slots.values()) {
        // What is shown as drifted may have been put right by hand, which changes nobody's share; rules may read anything.
        const planned = dueAt <= soon ? undefined : run.plan?.byKey.get(key)
        const isHook = dueAt > soon && isHookUnderWay(run, key)
        if (!isHook && (!planned || (!isNews && !planned.rules && !run.drifts.has(key)))) continue
        slots.get(run.entry.bundle)!.dueAt = soon
        isSooner = true
      }
      if (isSooner) notice.notify()
    },
    /** What a bundle was rendered from changed: it is rendered again soon, once for many changes. */
    touchReads(bundle: string): void {
      const slot = slots.get(bundle)
      if (!slot || slot.run.isStale) return
      slot.run.isStale = true
      const waitMs = rerenderDelayMs(slot.run.rerenders, clock.monotonicMs())
      slot.dueAt = Math.min(slot.dueAt, clock.monotonicMs() + waitMs)
      notice.notify()
    },
    /** The cluster is another one than it was: everything is read again. */
    startOver(): void {
      isStale = true
      notice.notify()
    },
    holdersOf: bundles.holdersOf,
    removals: (): readonly RemovalRow[] => receipts.rows(),
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

/** A row without any value that was read for rendering here. */
function hushed(row: ReportRow, { plan }: BundleRun): ReportRow {
  const hush = plan?.rendered?.hush
  if (!hush) return row
  return {
    ...row,
    ...(row.message === undefined ? {} : { message: hush(row.message) }),
    ...(row.drift ? { drift: row.drift.map((one) => ({ ...one, fields: one.fields.map(hush) })) } : {}),
  }
}

function isHookUnderWay({ inventory }: BundleRun, key: string): boolean {
  return (inventory?.hooks ?? []).some((record) => record.state === 'Started' && objectKey(record) === key)
}
