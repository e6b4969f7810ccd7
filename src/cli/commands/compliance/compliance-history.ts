/** Reads the history of compliance from the hub, and the rows of an earlier time. */
import { isObject } from '../../../core/json.ts'
import { readComplianceRecord } from '../../../kinds/fields/compliance-record.ts'
import type { ComplianceRecord } from '../../../kinds/fields/compliance-record.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readLines } from '../../input/read-lines.ts'
import { rowsAtTime } from '../../../plan/fleet/compliance-rows.ts'
import type { ComplianceRow, ShownPolicy } from '../../../plan/fleet/compliance-rows.ts'

/** The rows as the clusters had reported them by a time; `gaps` says what the history lacks. */
export async function rowsAt(
  { rest }: Pick<Connection, 'rest'>,
  {
    cluster,
    timeMs,
    policies,
  }: { readonly cluster?: string | undefined; readonly timeMs: number; readonly policies: readonly ShownPolicy[] },
): Promise<{ readonly rows: ComplianceRow[]; readonly gaps: readonly string[] }> {
  const path = `/apis/view.flotilla.dev/v1alpha1/clusters/${encodeURIComponent(cluster ?? '-')}/compliance`
  const accept = 'application/x-ndjson, application/json'
  const { body } = await rest.stream({ method: 'POST', path, accept }, new AbortController().signal)
  const records: ComplianceRecord[] = []
  const gaps: string[] = []
  let isComplete = false
  for await (const line of readLines(body)) {
    const value: unknown = JSON.parse(line)
    const type = isObject(value) ? value['type'] : undefined
    if (type === 'end') isComplete = true
    else if (type === 'gap') gaps.push(String((value as { message?: unknown }).message))
    const record = readComplianceRecord(value)
    if (record) records.push(record)
  }
  if (!isComplete) {
    throw new CliError(EXIT.failed, {
      what: 'the history ended early and is not complete',
      todo: 'run the command again',
    })
  }
  return { rows: rowsAtTime(records, { cluster, timeMs, policies }), gaps }
}
