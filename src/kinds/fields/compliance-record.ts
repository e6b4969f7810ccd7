// Tested by src/cli/commands/compliance/compliance-history.test.ts
/** The history of compliance: which checks of a cluster changed their state, and when the hub was told. */
import type { Static } from 'typebox'
import { compareText } from '../../core/text/compare-text.ts'
import { firstSchemaProblem } from '../../core/schema/check-schema.ts'
import { Type } from '../../core/schema/typebox.ts'

/** The purpose of the streams. */
export const COMPLIANCE_PURPOSE = 'compliance'
/** How long the history is kept. */
export const COMPLIANCE_RETENTION_MS = 400 * 86_400_000

const Time = Type.String({ minLength: 20, maxLength: 40 })
const Check = Type.Object({
  /** The Bundle of a check; of a policy of an engine in the cluster, `engine:NAME`. */
  bundle: Type.String({ maxLength: 326 }),
  kind: Type.String({ maxLength: 63 }),
  name: Type.String({ maxLength: 380 }),
  state: Type.String({ maxLength: 64 }),
  /**
   * Time at which the agent first observed the state; for a policy of an engine, at which the gateway was told. Empty
   * if the gateway had just started: then the time of the record before holds, if the state is the same.
   */
  since: Type.String({ maxLength: 40 }),
})

/** Checks of a cluster. */
const Schema = Type.Object({
  type: Type.Literal('compliance'),
  cluster: Type.String({ minLength: 1, maxLength: 253 }),
  clusterId: Type.String({ minLength: 1, maxLength: 64 }),
  /** Time at which the gateway accepted the report. */
  at: Time,
  /** True if these are all checks of the cluster; false if only these changed. */
  whole: Type.Boolean(),
  checks: Type.Array(Check, { maxItems: 2500 }),
  /** Checks that the cluster no longer has: bundle, kind and name. */
  gone: Type.Optional(Type.Array(Type.String({ maxLength: 800 }), { maxItems: 2500 })),
})
export type ComplianceRecord = Static<typeof Schema>
export type RecordedCheck = Static<typeof Check>

/** A line of the history; undefined if it is not a record. */
export function readComplianceRecord(value: unknown): ComplianceRecord | undefined {
  return firstSchemaProblem(Schema, value) === undefined ? (value as ComplianceRecord) : undefined
}

/** The name of a check in `gone`. */
export function checkKey({ bundle, kind, name }: Pick<RecordedCheck, 'bundle' | 'kind' | 'name'>): string {
  return `${bundle} ${kind} ${name}`
}

/** The checks of a cluster after a record. */
export interface RecordedCluster {
  readonly clusterId: string
  /** Time of the last record. */
  readonly at: string
  readonly checks: ReadonlyMap<string, RecordedCheck>
}

/** The checks of all clusters after the records up to a time, in order of time. */
export function checksAt(records: readonly ComplianceRecord[], time: string): ReadonlyMap<string, RecordedCluster> {
  const clusters = new Map<string, RecordedCluster>()
  for (const record of records.toSorted((a, b) => compareText(a.at, b.at))) {
    if (record.at > time) break
    const { cluster, clusterId, at, whole, checks, gone = [] } = record
    const before = clusters.get(cluster)
    // A cluster that joined again begins anew.
    const next = new Map(whole || before?.clusterId !== clusterId ? [] : before.checks)
    for (const key of gone) next.delete(key)
    const known = before?.clusterId === clusterId ? before.checks : undefined
    for (const check of checks) next.set(checkKey(check), withTime(check, known?.get(checkKey(check))))
    clusters.set(cluster, { clusterId, at, checks: next })
  }
  return clusters
}

function withTime(check: RecordedCheck, before: RecordedCheck | undefined): RecordedCheck {
  return check.since === '' && before?.state === check.state ? before : check
}
