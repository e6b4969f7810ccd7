/** Runs the document: every entry a bundle, each stepped when it is due; rows are what the reporter sends. */
import { backoffMs } from '../core/backoff.ts'
import type { Clock } from '../core/clock.ts'
import type { Digest } from '../core/digest.ts'
import { toError, Waiting } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import { createNotice } from '../core/notice.ts'
import type { ClusterDocument, DocumentEntry, Tombstone } from '../wire/document.ts'
import type { ReportRow } from '../wire/frames.ts'
import { LIMITS } from '../wire/limits.ts'
import { WireError } from '../wire/validate.ts'
import type { BundleOptions } from '../kinds/bundle-options.ts'
import { decideDependencies, fullName } from '../plan/dependencies.ts'
import type { DependencyFacts } from '../plan/dependencies.ts'
import { jsonEqual } from '../core/json.ts'
import { catchUpHold, decideWindows, strictest, windowProblem } from '../plan/window.ts'
import type { WindowDecision } from '../plan/window.ts'
import { parseTime } from '../core/time.ts'
import { describeObject, objectKey } from '../plan/object-id.ts'
import type { OtherRecord } from '../plan/ownership.ts'
import type { Appliers } from './appliers.ts'
import { LOOK_MS, newRun, takeInventory } from './bundle-run.ts'
import type { BundleRun, StepResult } from './bundle-run.ts'
import type { ClusterState, Inventory } from './cluster-state.ts'
import type { Content } from './content.ts'
import type { Documents } from './documents.ts'
import type { HubTime } from './hub-time.ts'
import { createOperation, rowOfFailure } from './operation.ts'
import type { Surroundings } from './operation.ts'
import { pruneObjects } from './prune.ts'

/** What the operator needs. */
export interface OperatorPorts {
  readonly documents: Pick<Documents, 'current' | 'held' | 'refusal' | 'refresh'>
  readonly content: Content
  readonly appliers: Appliers
  readonly state: ClusterState
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly hubTime: Pick<HubTime, 'now'>
  /** The most objects of one bundle that the cluster lets be deleted at once. */
  readonly maxPrune?: number | undefined
  /** Called after every change of rows or document. */
  readonly onChange: () => void
}

interface Slot {
  readonly run: BundleRun
  row: ReportRow
  dueAt: number
  failures: number
  /** When the document that brought it was signed by the hub's time, and when it came by the monotonic clock. */
  readonly came: { readonly issuedMs: number; readonly monotonicMs: number }
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
export function createOperator(ports: OperatorPorts) {
  const { documents, content, appliers, state, clock, ids } = ports
  const log = ports.log.child({ part: 'operator' })
  const notice = createNotice(clock)
  const operation = createOperation(ports)
  const slots = new Map<string, Slot>()
  /** Inventories of bundles that the document does not name: absence is never deletion, and what they have is still theirs. */
  let former: Map<string, Inventory> | undefined
  /** What each set says about dependencies; small, and asked for in every round. */
  const optionsOf = new Map<Digest, BundleOptions>()
  let removed = new Set<string>()
  let sweptAt = clock.monotonicMs()
  let isStale = false
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

  function otherRecords(bundle: string): ReadonlyMap<string, readonly OtherRecord[]> {
    const found = new Map<string, OtherRecord[]>()
    const add = ({ bundle: other, objects }: Inventory, isCurrent: boolean) => {
      for (const object of other === bundle ? [] : objects) {
        const key = objectKey(object)
        const record = { bundle: other, isCurrent, ...(object.uid === undefined ? {} : { uid: object.uid }) }
        found.set(key, [...(found.get(key) ?? []), { ...record, adopted: object.adopted === true }])
      }
    }
    for (const { run } of slots.values()) if (run.inventory) add(run.inventory, true)
    for (const inventory of former?.values() ?? []) add(inventory, false)
    return found
  }

  /** Whether the bundles it depends on let a bundle begin. */
  function dependencyGate(bundle: string): StepResult | undefined {
    const facts = new Map<string, DependencyFacts>()
    for (const [name, { run, row }] of slots) {
      const { inventory, entry } = run
      const isApplied = inventory?.set === entry.set && inventory.phase !== 'Applying'
      facts.set(name, {
        dependsOn: optionsOf.get(entry.set)?.dependsOn ?? [],
        generation: entry.generation,
        state: row.state,
        applied: isApplied ? entry.generation : undefined,
      })
    }
    const decision = decideDependencies(bundle, facts)
    if (decision.kind === 'Met') return undefined
    const state = decision.kind === 'Cycle' ? 'Failed' : 'Pending'
    return { row: { state, message: decision.message }, lookAgainMs: LOOK_MS.progressing }
  }

  /** Whether windows, freezes and catch-up let a bundle begin. */
  function windowGate({ run, came }: Slot, options: BundleOptions): StepResult | undefined {
    const { bundle, catchUp } = run.entry
    const windows = windowsNow(bundle)
    const policy = strictest([catchUp, options.catchUp])
    const openSinceMs = windows.kind === 'Open' ? windows.sinceMs : undefined
    const nowMs = ports.hubTime.now()
    // Not known yet: as if it had been away, until the hub is heard.
    const receivedMs = nowMs === undefined ? Infinity : nowMs - (clock.monotonicMs() - came.monotonicMs)
    const facts = { policy, issuedMs: came.issuedMs, receivedMs, openSinceMs }
    const hold = windows.kind === 'Closed' ? windows.message : catchUpHold(facts)
    if (hold === undefined) return undefined
    const againMs = windows.kind === 'Closed' && nowMs !== undefined ? (windows.againMs ?? Infinity) - nowMs : Infinity
    return { row: { state: 'Pending', message: hold }, lookAgainMs: Math.min(Math.max(againMs, 0), LOOK_MS.held) }
  }

  function windowsNow(bundle: string): WindowDecision {
    const rules = documents.current()?.document.rules.windows ?? []
    // A window that cannot be read keeps closed what it is for.
    const problem = rules.map(windowProblem).find((found) => found !== undefined)
    if (problem !== undefined) return { kind: 'Closed', message: problem, againMs: undefined }
    return decideWindows(rules, bundle, ports.hubTime.now())
  }

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
    const entries = new Map(document.content.entries.map((entry) => [entry.bundle, entry]))
    for (const [bundle, { run }] of slots) {
      if (entries.has(bundle)) continue
      if (run.inventory) former?.set(bundle, run.inventory)
      slots.delete(bundle)
    }
    for (const entry of entries.values()) {
      const slot = slots.get(entry.bundle)
      if (slot && slot.run.entry.set === entry.set && slot.run.entry.generation === entry.generation) {
        slot.run.entry = entry
        slot.run.epoch = document.epoch
        continue
      }
      const run = newRun(entry, document.epoch)
      const inventory = slot?.run.inventoryRead ? slot.run.inventory : former?.get(entry.bundle)
      if (inventory) takeInventory(run, inventory)
      former?.delete(entry.bundle)
      const issuedMs = parseTime(document.issuedAt) ?? 0
      const came = { issuedMs, monotonicMs: clock.monotonicMs() }
      const row = rowOf(entry, { state: 'Pending' })
      slots.set(entry.bundle, { run, row, dueAt: clock.monotonicMs(), failures: 0, came })
    }
  }

  async function stepSlot(slot: Slot, signal: AbortSignal): Promise<void> {
    const { run } = slot
    let result: StepResult
    try {
      const { bundle } = run.entry
      const around: Surroundings = {
        wanted: wantedElsewhere,
        others: () => otherRecords(bundle),
        gate: (plan) => windowGate(slot, plan.options) ?? dependencyGate(bundle),
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
    const row = { ...rowOf(run.entry, result.row), ...detailsOf(run) }
    if (jsonEqual(row, slot.row)) return
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
  async function bury(document: ClusterDocument, signal: AbortSignal): Promise<number> {
    let left = 0
    for (const tombstone of document.content.tombstones) {
      const id = `${tombstone.bundle}@${tombstone.generation}`
      if (removed.has(id) || slots.has(tombstone.bundle)) continue
      if (windowsNow(tombstone.bundle).kind === 'Closed') {
        left += 1
        continue
      }
      try {
        await remove(tombstone, signal)
        removed.add(id)
      } catch (caught) {
        left += 1
        // It stays in the document until it is done, so the next round tries again; the other bundles go on.
        log.debug({ err: toError(caught), bundle: tombstone.bundle }, 'bundle could not be removed yet')
      }
    }
    removed = new Set([...removed].slice(-2 * LIMITS.bundles))
    return left
  }

  async function remove(tombstone: Tombstone, signal: AbortSignal): Promise<void> {
    const { bundle, generation, policy, cause } = tombstone
    const inventory = await state.readInventory(bundle, signal)
    if (!inventory || inventory.generation > generation) return
    const dependent = [...(former?.values() ?? [])].find(({ bundle: other, options }) =>
      options?.dependsOn?.some((dependency) => fullName(other, dependency.bundle) === bundle),
    )
    if (dependent && policy === 'Delete' && isBuried(dependent.bundle)) {
      throw new Waiting('Dependent', `bundle ${dependent.bundle} depends on ${bundle} and goes first`, RETRY.baseMs)
    }
    if (policy === 'Delete') {
      const options = inventory.options ?? {}
      const pruned = await pruneObjects(
        {
          bundle,
          objects: inventory.objects,
          // Without a cause somebody decided for this very removal; then only rules about single objects count.
          options: cause ? options : { ...options, delete: { ...options.delete, bundleDeleted: 'Delete' } },
          cause: cause ?? 'bundleDeleted',
          isHealthy: true,
          ceiling: ports.maxPrune,
          applier: appliers.as(options.executor),
          wanted: wantedElsewhere,
          log,
        },
        signal,
      )
      const left = await leftOf(inventory, pruned.forgotten, signal)
      if (left.length > 0) {
        const rest = { ...inventory, objects: left }
        if (left.length < inventory.objects.length) await state.writeInventory(rest)
        former?.set(bundle, rest)
        throw new Waiting('Removing', pruned.waits ?? 'its objects move to another bundle', RETRY.baseMs)
      }
    }
    await state.deleteInventory(bundle)
    former?.delete(bundle)
    log.info({ bundle, generation, policy, objects: inventory.objects.length }, 'bundle removed')
  }

  /** What a bundle that leaves still has: what is not gone, and what another one wants and has not taken over yet. */
  async function leftOf(inventory: Inventory, forgotten: readonly string[], signal: AbortSignal) {
    const gone = new Set(forgotten)
    const wanted = await wantedElsewhere(inventory.bundle, signal)
    const taken = new Set([...slots.values()].flatMap(({ run }) => (run.inventory?.objects ?? []).map(objectKey)))
    return inventory.objects.filter((object) => {
      const key = objectKey(object)
      return !gone.has(key) || (wanted.has(key) && !taken.has(key))
    })
  }

  function isBuried(bundle: string): boolean {
    return documents.current()?.document.content.tombstones.some((tombstone) => tombstone.bundle === bundle) ?? false
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

  function startOver(): void {
    isStale = false
    state.forget()
    appliers.reset()
    slots.clear()
    former = undefined
  }

  async function round(signal: AbortSignal): Promise<number> {
    if (isStale) startOver()
    const retryMs = await refresh(signal)
    const current = documents.current()
    if (!current) return retryMs
    former ??= new Map((await state.listInventories(signal)).map((inventory) => [inventory.bundle, inventory]))
    align(current.document)
    await readOptions(signal)
    const unburied = await bury(current.document, signal)
    for (const slot of slots.values()) {
      if (signal.aborted) return 0
      if (slot.dueAt <= clock.monotonicMs()) await stepSlot(slot, signal)
    }
    await collect(current.digest)
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
        if (!planned || (!isNews && !planned.rules && !run.drifts.has(key))) continue
        slots.get(run.entry.bundle)!.dueAt = soon
        isSooner = true
      }
      if (isSooner) notice.notify()
    },
    /** The cluster is another one than it was: everything is read again. */
    startOver(): void {
      isStale = true
      notice.notify()
    },
    currentBundles: (): Iterable<string> => slots.keys(),
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

// A report is bounded: the first few of each, in the order of the set.
function detailsOf({ plan, drifts, judged }: BundleRun): Pick<ReportRow, 'drift' | 'feedback'> {
  const objects = plan?.objects ?? []
  const drift = objects
    .filter(({ key }) => drifts.has(key))
    .slice(0, LIMITS.rowDetails)
    .map((planned) => {
      const { fields, since } = drifts.get(planned.key)!
      return { object: describeObject(planned), fields: fields.map(cut), since }
    })
  const feedback = objects
    .flatMap((planned) =>
      (judged.get(planned.key)?.judgement.feedback ?? []).map((value) => ({
        object: describeObject(planned),
        ...value,
      })),
    )
    .slice(0, LIMITS.rowDetails)
  return { ...(drift.length > 0 ? { drift } : {}), ...(feedback.length > 0 ? { feedback } : {}) }
}

function cut(text: string): string {
  return text.length <= LIMITS.messageChars ? text : `${text.slice(0, LIMITS.messageChars - 1)}…`
}

function rowOf({ bundle, generation, set }: DocumentEntry, row: StepResult['row']): ReportRow {
  return {
    bundle,
    generation,
    set,
    state: row.state,
    ...(row.message === undefined ? {} : { message: cut(row.message) }),
    ...(row.firstFailing === undefined ? {} : { firstFailing: cut(row.firstFailing) }),
  }
}
