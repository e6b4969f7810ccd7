/** The report of an agent: all that the hub learns about the cluster, in one value. */
import { compact } from '../../core/compact.ts'
import { VERSION } from '../../core/version.ts'
import type {
  RemovalRow,
  Report,
  ReportedCapacity,
  ReportedCheck,
  ReportedFeedback,
  ReportedHandover,
  ReportedResults,
  ReportRow,
} from '../../wire/link/frames.ts'
import type { Documents } from '../documents/documents.ts'
import { boundObjects } from '../bundles/report-row.ts'
import { boundChecks } from '../policies/bound-checks.ts'
import { boundFeedback } from './object-feedback.ts'
import type { createClusterFacts } from './cluster-facts.ts'

/** The parts of the agent that a report shows. */
export interface ReportedParts {
  readonly documents: Pick<Documents, 'held' | 'refusal'>
  readonly bundleLoop: {
    rows(): readonly ReportRow[]
    feedback(): readonly ReportedFeedback[]
    removals(): readonly RemovalRow[]
    handover(): ReportedHandover | undefined
  }
  readonly policies: { results(): readonly ReportedCheck[] }
  /** Of the policy engines of the cluster. */
  readonly results: { current(): ReportedResults | undefined }
  /** Free resources, while the hub asks for them. */
  readonly capacity: { current(): ReportedCapacity | undefined }
  readonly facts: Pick<ReturnType<typeof createClusterFacts>, 'current'>
  readonly incarnation: { current(): number }
  /** What users asked for. */
  readonly answers: Pick<Report, 'log' | 'values'>
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/** Builds the report of the current state. */
export function buildReport({
  documents,
  bundleLoop,
  policies,
  results,
  capacity,
  facts,
  incarnation,
  answers,
  nowMs,
}: ReportedParts): Report {
  const held = documents.held()
  const removals = bundleLoop.removals()
  const checks = boundChecks(policies.results(), nowMs)
  const feedback = boundFeedback(bundleLoop.feedback(), nowMs)
  return {
    epoch: held?.epoch ?? 0,
    revision: held?.revision ?? 0,
    agentVersion: VERSION,
    ...facts.current(),
    bundles: boundObjects(bundleLoop.rows()),
    ...compact({
      document: held?.digest,
      feedback: feedback.length > 0 ? feedback : undefined,
      checks: checks.length > 0 ? checks : undefined,
      results: results.current(),
      capacity: capacity.current(),
      removals: removals.length > 0 ? [...removals] : undefined,
      incarnation: incarnation.current() > 1 ? incarnation.current() : undefined,
      refusal: documents.refusal(),
      handover: bundleLoop.handover(),
    }),
    ...answers,
  }
}
