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
  /** Cluster id → its checks in the journal: `state since` by key. */
  const known = new Map<string, ReadonlyMap<string, string>>()

  return {
    /** Keeps what a report changed. The first report after a start of the gateway is kept as a whole. */
    note({ metadata, spec }: Cluster, reported: NonNullable<Report['checks']>): void {
      const before = known.get(spec.id)
      if (!before && reported.length === 0) return
      const checks = reported.map(({ bundle, kind, name, state, since }): RecordedCheck => ({
        bundle,
        kind,
        name,
        state,
        since,
      }))
      const after = new Map(checks.map((check) => [checkKey(check), `${check.state} ${check.since}`]))
      const changed = checks.filter((check) => before?.get(checkKey(check)) !== after.get(checkKey(check)))
      const gone = [...(before?.keys() ?? [])].filter((key) => !after.has(key))
      if (before && changed.length === 0 && gone.length === 0) return
      const record: ComplianceRecord = {
        type: 'compliance',
        cluster: metadata.name,
        clusterId: spec.id,
        at: formatTime(clock.now()),
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

export type ComplianceHistory = ReturnType<typeof createComplianceHistory>
