/** The report row of a bundle: bounded, with the first details in the order of the set. */
import { compact } from '../../core/compact.ts'
import { RUNNING_STATES } from '../../kinds/fields/report.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import type { DocumentEntry } from '../../wire/document/cluster-document.ts'
import type { ReportRow } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import type { BundleRun, StepResult } from './bundle-run.ts'

/** The drift of a bundle, and the values that its health rules report. */
export function detailsOf({ plan, drifts, judged }: BundleRun): Pick<ReportRow, 'drift' | 'feedback'> {
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
      (judged.get(planned.key)?.judgement.feedback ?? []).map((value) => ({
        object: describeObject(planned),
        ...value,
      })),
    )
    .slice(0, LIMITS.rowDetails)
  return compact({
    drift: drift.length > 0 ? drift : undefined,
    feedback: feedback.length > 0 ? feedback : undefined,
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

/** The content that runs while the entry waits to start, by the inventory; undefined when nothing runs. */
export function runningOf(run: Pick<BundleRun, 'inventory'>, before: ReportRow | undefined): ReportRow['running'] {
  const { inventory } = run
  if (!inventory || inventory.objects.length === 0) return undefined
  const { generation, set } = inventory
  const state = before?.set === set ? RUNNING_STATES.find((one) => one === before.state) : undefined
  return { generation, set, ...compact({ state }) }
}
