// Tested by src/cli/commands/compliance/compliance-history.test.ts
/** Keeps in the journal which checks of a cluster changed their state. */
import type { Clock } from '../../core/time/clock.ts'
import { compact } from '../../core/compact.ts'
import { formatTime } from '../../core/time/time.ts'
import type { JournalWriter } from '../../journal/journal-writer.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { checkKey } from '../../kinds/fields/compliance-record.ts'
import type { ComplianceRecord, RecordedCheck } from '../../kinds/fields/compliance-record.ts'
import type { Report } from '../../wire/link/frames.ts'

export interface ComplianceHistoryPorts {
  readonly journal: Pick<JournalWriter, 'append'>
  readonly clock: Pick<Clock, 'now'>
}

export function createComplianceHistory({ journal, clock }: ComplianceHistoryPorts) {
  /** Cluster id → its checks in the journal, by key. */
  const known = new Map<string, ReadonlyMap<string, Pick<RecordedCheck, 'state' | 'since'>>>()

  return {
    /** Keeps what a report changed. The first report after a start of the gateway is kept as a whole. */
    note({ metadata, spec }: Cluster, reported: NonNullable<Report['checks']>, results?: Report['results']): void {
      const before = known.get(spec.id)
      if (!before && reported.length === 0 && !results) return
      const at = formatTime(clock.now())
      const checks = [
        ...reported.map(({ bundle, kind, name, state, since }): RecordedCheck => ({
          bundle,
          kind,
          name,
          state,
          since,
        })),
        ...(results ? policiesOf(results) : []).map((one): RecordedCheck => {
          const last = before?.get(checkKey(one))
          const isNew = before !== undefined && last?.state !== one.state
          return { ...one, since: isNew ? at : (last?.since ?? '') }
        }),
      ]
      const after = new Map(checks.map((check) => [checkKey(check), { state: check.state, since: check.since }]))
      const changed = checks.filter((check) => {
        const last = before?.get(checkKey(check))
        return last?.state !== check.state || last.since !== check.since
      })
      const gone = [...(before?.keys() ?? [])].filter((key) => !after.has(key))
      if (before && changed.length === 0 && gone.length === 0) return
      const record: ComplianceRecord = {
        type: 'compliance',
        cluster: metadata.name,
        clusterId: spec.id,
        at,
        whole: before === undefined,
        checks: changed,
        ...compact({ gone: gone.length > 0 ? gone : undefined }),
      }
      // A record that finds the journal full is made again with the next report.
      if (journal.append(record) !== undefined) known.set(spec.id, after)
    },
    forget: (clusterId: string) => known.delete(clusterId),
  }
}

/** Policies of engines, in the place of checks. An error or an object that was not read says nothing about a policy. */
function policiesOf({ policies, unread = 0 }: NonNullable<Report['results']>): Omit<RecordedCheck, 'since'>[] {
  const states = new Map<string, Omit<RecordedCheck, 'since'>>()
  for (const { engine, policy, fail, error } of policies) {
    const state = fail > 0 ? 'NonCompliant' : error > 0 || unread > 0 ? 'Unknown' : 'Compliant'
    const one = { bundle: `engine:${engine}`, kind: 'Policy', name: policy, state }
    const known = states.get(checkKey(one))
    if (!known || rank(state) < rank(known.state)) states.set(checkKey(one), one)
  }
  return [...states.values()]
}

function rank(state: string): number {
  return ['NonCompliant', 'Unknown', 'Compliant'].indexOf(state)
}

export type ComplianceHistory = ReturnType<typeof createComplianceHistory>
