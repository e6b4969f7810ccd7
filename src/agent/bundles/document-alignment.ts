// Tested by src/agent/bundles/drift.contract.test.ts
/**
 * Aligns the bundle table with a document. A bundle that the document does not name stays: absence is never deletion.
 */
import { compact } from '../../core/compact.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Clock } from '../../core/time/clock.ts'
import { parseTime } from '../../core/time/time.ts'
import type { DriftRule } from '../../plan/drift/drift-rules.ts'
import type { ClusterDocument, DocumentEntry, DocumentRules } from '../../wire/document/cluster-document.ts'
import type { Appliers } from '../cluster/executor-appliers.ts'
import { loadInventory, newRun } from './bundle-run.ts'
import type { BundleTable, TrackedBundle } from './bundle-table.ts'
import { buildReportRow, rowThatRan, runningOf } from './report-row.ts'

/** Ports of the alignment. */
export interface AlignmentPorts {
  readonly table: BundleTable
  readonly appliers: Pick<Appliers, 'follow'>
  readonly clock: Clock
}

const MAY_DEPEND_ON_RULES: ReadonlySet<TrackedBundle['row']['state']> = new Set(['Pending', 'Failed'])

/** Creates the alignment; it remembers the rules of the last document. */
export function createAlignment({ table, appliers, clock }: AlignmentPorts) {
  const { tracked } = table
  let rules: DocumentRules | undefined

  function admission({ admittedAt }: DocumentEntry, { issuedAt }: ClusterDocument): TrackedBundle['admitted'] {
    return { issuedMs: parseTime(admittedAt ?? issuedAt) ?? 0, monotonicMs: clock.monotonicMs() }
  }

  function leave(bundle: string, { run }: TrackedBundle): void {
    if (run.inventory) table.keepFormer(run.inventory)
    if (run.plan?.rendered) void appliers.follow(bundle)
    tracked.delete(bundle)
  }

  /** The same set and generation: only the admission may be new, which lets the bundle begin now. */
  function update(bundle: TrackedBundle, entry: DocumentEntry, document: ClusterDocument): void {
    const { startBy, admittedAt, attempt } = bundle.run.entry
    if (startBy !== entry.startBy || admittedAt !== entry.admittedAt || attempt !== entry.attempt) {
      bundle.admitted = admission(entry, document)
      bundle.dueAt = clock.monotonicMs()
    }
    bundle.run.entry = entry
    bundle.run.epoch = document.epoch
  }

  /** A new decision about drift counts at once. */
  function takeDriftRules(bundle: TrackedBundle, rules: readonly DriftRule[]): void {
    if (jsonEqual(bundle.run.driftRules, rules)) return
    bundle.run.driftRules = rules
    bundle.dueAt = clock.monotonicMs()
  }

  /** A handover stops a bundle that runs, too: the peer manages its objects meanwhile. */
  function takeHandover(bundle: TrackedBundle, handover: DocumentRules['handover']): void {
    if (jsonEqual(bundle.run.handover ?? null, handover ?? null)) return
    bundle.run.handover = handover
    bundle.dueAt = clock.monotonicMs()
  }

  function begin(entry: DocumentEntry, document: ClusterDocument, before: TrackedBundle | undefined): void {
    const run = newRun(entry, document.epoch)
    const inventory = before?.run.inventoryRead ? before.run.inventory : table.former().get(entry.bundle)
    if (inventory) loadInventory(run, inventory)
    for (const [key, correction] of before?.run.corrected ?? []) run.corrected.set(key, correction)
    table.dropFormer(entry.bundle)
    const former = rowThatRan(before)
    const row = { ...buildReportRow(entry, { state: 'Pending' }), ...compact({ running: runningOf(run, former) }) }
    const admitted = admission(entry, document)
    tracked.set(entry.bundle, { run, row, before: former, dueAt: clock.monotonicMs(), failures: 0, admitted })
  }

  return (document: ClusterDocument): void => {
    // Rules are in force on receipt: bundles that wait, or that a Project refused, are checked against them now.
    if (!jsonEqual(rules, document.rules)) {
      rules = document.rules
      for (const bundle of tracked.values())
        if (MAY_DEPEND_ON_RULES.has(bundle.row.state)) bundle.dueAt = clock.monotonicMs()
    }
    const driftRules = Map.groupBy(document.rules.drift ?? [], ({ bundle }) => bundle)
    const entries = new Map(document.content.entries.map((entry) => [entry.bundle, entry]))
    for (const [name, bundle] of tracked) if (!entries.has(name)) leave(name, bundle)
    for (const entry of entries.values()) {
      const known = tracked.get(entry.bundle)
      const isSame = known?.run.entry.set === entry.set && known.run.entry.generation === entry.generation
      if (isSame) update(known, entry, document)
      else begin(entry, document, known)
      takeDriftRules(tracked.get(entry.bundle)!, driftRules.get(entry.bundle) ?? [])
      takeHandover(tracked.get(entry.bundle)!, document.rules.handover)
    }
  }
}
