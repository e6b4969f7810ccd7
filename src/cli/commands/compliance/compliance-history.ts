/** Reads the history of compliance from the hub, and the rows of an earlier time. */
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import { formatTime } from '../../../core/time/time.ts'
import { checksAt, readComplianceRecord } from '../../../kinds/fields/compliance-record.ts'
import type { ComplianceRecord, RecordedCheck } from '../../../kinds/fields/compliance-record.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readLines } from '../../input/read-lines.ts'
import { aboutOf, stateOf } from './compliance-rows.ts'
import type { ComplianceRow, ShownPolicy } from './compliance-rows.ts'

const POLICY_BUNDLE = /^(?<namespace>[^/]+)\/policy-(?<name>[^.]+)(?:\.enforced)?$/

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
  const known = new Map(
    policies.map((policy) => [`${policy.metadata.namespace ?? ''}/${policy.metadata.name}`, policy]),
  )
  const rows: ComplianceRow[] = []
  for (const [name, { checks }] of checksAt(records, formatTime(timeMs))) {
    if (cluster !== undefined && name !== cluster) continue
    for (const [key, own] of byPolicy([...checks.values()])) {
      const policy = known.get(key)
      // A Policy that the caller may not see, or that was deleted since, has no standards and controls here.
      const [namespace = '', policyName = ''] = key.split('/')
      const about = policy ? aboutOf(policy) : { namespace, policy: policyName, sets: [], standards: [], categories: [], controls: [] } // prettier-ignore
      const state = stateOf(own.map((one) => ({ state: one.state as never }))) ?? 'Unknown'
      const telling = own.find((one) => one.state === state)
      rows.push({ ...about, cluster: name, state, ...compact({ since: telling?.since }) })
    }
  }
  return { rows, gaps }
}

function byPolicy(checks: readonly RecordedCheck[]): Map<string, RecordedCheck[]> {
  const found = new Map<string, RecordedCheck[]>()
  for (const check of checks) {
    const { namespace, name } = POLICY_BUNDLE.exec(check.bundle)?.groups ?? {}
    if (namespace === undefined) continue
    const key = `${namespace}/${name}`
    found.set(key, [...(found.get(key) ?? []), check])
  }
  return found
}
