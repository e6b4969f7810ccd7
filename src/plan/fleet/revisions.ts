/** What the agent attempted and what it applied of a bundle, by its report and the cluster's document. */
import { sameRevision } from './state.ts'
import type { ReportedBundle, Revision } from './state.ts'

/** The revision in the cluster's document, and the last revision before it that was Ready on the cluster. */
export interface AssignedRevision extends Revision {
  readonly before?: Revision
}

/** The revision that the agent started last; undefined if it reported none. */
export function attemptedRevision(reported: ReportedBundle | undefined): Revision | undefined {
  return reported?.state === 'Pending' ? reported.running : reported
}

/**
 * The revision that is applied completely. While a later revision is being applied or failed, it is the last revision
 * before it that was Ready. Undefined if nothing is, or if it is unknown.
 */
export function appliedRevision(
  reported: ReportedBundle | undefined,
  assigned: AssignedRevision | undefined,
): Revision | undefined {
  if (!reported) return undefined
  const { state, running, applied } = reported
  if (state === 'Pending') return running && isHealthy(running.state) ? running : undefined
  if (isHealthy(state) || applied === true) return reported
  // An agent of 0.1 does not say whether the set was applied.
  return applied === false && sameRevision(reported, assigned) ? assigned!.before : undefined
}

function isHealthy(state: string | undefined): boolean {
  return state === 'Ready' || state === 'Drifted'
}
