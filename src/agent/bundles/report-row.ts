/** The report row of a bundle: bounded, with the first details in the order of the set. */
import { utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { canonicalJson } from '../../core/json.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { OBJECT_STATES, RUNNING_STATES } from '../../kinds/fields/report.ts'
import type { ObjectValues } from '../../plan/drift/drift-values.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import type { DocumentEntry } from '../../wire/document/cluster-document.ts'
import type { ReportRow } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import type { BundleRun, StepResult } from './bundle-run.ts'

/** The states of a bundle's objects, its drift, and the values that its health rules report. */
export function detailsOf(
  run: BundleRun,
): Pick<ReportRow, 'objects' | 'objectCounts' | 'drift' | 'corrections' | 'feedback'> {
  const { plan, drifts, judged } = run
  const objects = plan?.objects ?? []
  const drift = objects
    .filter(({ key }) => drifts.has(key))
    .slice(0, LIMITS.rowDetails)
    .map((planned) => {
      const { fields, since } = drifts.get(planned.key)!
      return { object: describeObject(planned), fields: fields.map(truncateMessage), since }
    })
  const feedback = objects
    .flatMap((planned) =>
      (judged.get(planned.key)?.judgement.feedback ?? []).map(({ name, value }) => ({
        object: describeObject(planned),
        name,
        value,
      })),
    )
    .slice(0, LIMITS.rowDetails)
  return compact({
    ...objectStates(run),
    drift: drift.length > 0 ? drift : undefined,
    corrections: run.corrected.size > 0 ? correctionsOf(run) : undefined,
    feedback: feedback.length > 0 ? feedback : undefined,
  })
}

/** Values of the drifted fields, for the objects that a report names. */
export function driftValuesOf({ plan, drifts }: BundleRun): readonly ObjectValues[] {
  return (plan?.objects ?? [])
    .filter(({ key }) => drifts.has(key))
    .slice(0, LIMITS.rowDetails)
    .map((planned) => ({ object: describeObject(planned), fields: [...drifts.get(planned.key)!.values] }))
}

/** The last corrections of drift, the newest first. */
function correctionsOf({ corrected }: BundleRun): NonNullable<ReportRow['corrections']> {
  return [...corrected.values()]
    .toSorted((a, b) => compareText(b.at, a.at) || compareText(a.object, b.object))
    .slice(0, LIMITS.rowDetails)
    .map(({ fields, ...correction }) => ({ ...correction, fields: fields.map(truncateMessage) }))
}

/**
 * The number of objects by state, and the objects that are not Ready. An object that was not observed yet is Pending;
 * where all are, their number says it.
 */
function objectStates(run: BundleRun): Pick<ReportRow, 'objects' | 'objectCounts'> {
  const { plan, healths, drifts } = run
  // After a rollback another set runs than the row is about.
  if (!plan || run.set !== run.entry.set) return {}
  const states = plan.objects.map((planned) => {
    const drift = drifts.get(planned.key)
    const health = healths.get(planned.key)
    const isDrifted = drift !== undefined && health?.state !== 'Failed'
    const state = isDrifted ? ('Drifted' as const) : (health?.state ?? ('Pending' as const))
    const message = isDrifted ? drift.message : health?.message
    return { object: describeObject(planned), state, ...compact({ message: message && truncateMessage(message) }) }
  })
  const objectCounts: NonNullable<ReportRow['objectCounts']> = {}
  for (const { state } of states) objectCounts[state] = (objectCounts[state] ?? 0) + 1
  if (objectCounts.Ready === states.length || objectCounts.Pending === states.length) return { objectCounts }
  const objects = OBJECT_STATES.filter((state) => state !== 'Ready')
    .flatMap((wanted) => states.filter(({ state }) => state === wanted))
    .slice(0, LIMITS.reportObjects)
  return { objects, objectCounts }
}

/** The rows of a report with no more objects together than a report may have. The counts stay whole. */
export function boundObjects(rows: readonly ReportRow[]): ReportRow[] {
  let count: number = LIMITS.reportObjects
  let bytes: number = LIMITS.reportObjectBytes
  return rows.map((row) => {
    if (!row.objects) return row
    const { objects, ...rest } = row
    const kept = objects.filter((one) => {
      const size = utf8(canonicalJson(one)).byteLength + 1
      if (count === 0 || size > bytes) return false
      count -= 1
      bytes -= size
      return true
    })
    return kept.length === 0 ? rest : { ...rest, objects: kept }
  })
}

/** A text with at most as many characters as a report allows. */
export function truncateMessage(text: string): string {
  return text.length <= LIMITS.messageChars ? text : `${text.slice(0, LIMITS.messageChars - 1)}…`
}

export function buildReportRow({ bundle, generation, set }: DocumentEntry, row: StepResult['row']): ReportRow {
  return {
    bundle,
    generation,
    set,
    state: row.state,
    ...compact({
      message: row.message === undefined ? undefined : truncateMessage(row.message),
      firstFailing: row.firstFailing === undefined ? undefined : truncateMessage(row.firstFailing),
    }),
  }
}

/** The last row about content that ran: a row that waited to start says nothing about what ran before it. */
export function rowThatRan(bundle: { readonly row: ReportRow; readonly before?: ReportRow | undefined } | undefined) {
  return bundle?.row.state === 'Pending' ? bundle.before : bundle?.row
}

/**
 * Whether the whole set of a row that is under way or failed was applied, by the inventory. After an uninstall nothing
 * is, which is not said: the hub would conclude that the set before it still runs.
 */
export function appliedOf(
  { inventory, entry }: Pick<BundleRun, 'inventory' | 'entry'>,
  { state }: Pick<ReportRow, 'state'>,
): Pick<ReportRow, 'applied'> {
  if (!inventory || (state !== 'Progressing' && state !== 'Failed')) return {}
  if (inventory.remedy?.action === 'Uninstall') return {}
  return { applied: inventory.set === entry.set && inventory.phase !== 'Applying' }
}

/** The content that runs while the entry waits to start, by the inventory; undefined when nothing runs. */
export function runningOf(run: Pick<BundleRun, 'inventory'>, before: ReportRow | undefined): ReportRow['running'] {
  const { inventory } = run
  if (!inventory || inventory.objects.length === 0) return undefined
  const { generation, set } = inventory
  const state = before?.set === set ? RUNNING_STATES.find((one) => one === before.state) : undefined
  return { generation, set, ...compact({ state }) }
}
