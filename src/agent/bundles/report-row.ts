/** What the hub hears about one bundle: bounded, the first few of each, in the order of the set. */
import { describeObject } from '../../plan/objects/object-id.ts'
import type { DocumentEntry } from '../../wire/document/cluster-document.ts'
import type { ReportRow } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import type { BundleRun, StepResult } from './bundle-run.ts'

/** What drifted, and the values that the bundle's rules tell. */
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
  return { ...(drift.length > 0 ? { drift } : {}), ...(feedback.length > 0 ? { feedback } : {}) }
}

/** A text as long as a report may have it. */
export function truncateMessage(text: string): string {
  return text.length <= LIMITS.messageChars ? text : `${text.slice(0, LIMITS.messageChars - 1)}…`
}

/** The row of a bundle. */
export function buildReportRow({ bundle, generation, set }: DocumentEntry, row: StepResult['row']): ReportRow {
  return {
    bundle,
    generation,
    set,
    state: row.state,
    ...(row.message === undefined ? {} : { message: truncateMessage(row.message) }),
    ...(row.firstFailing === undefined ? {} : { firstFailing: truncateMessage(row.firstFailing) }),
  }
}
