// Tested by src/cli/commands/compliance/engine-results.test.ts
/** `flotilla compliance --results`: what policy engines in clusters found, by policy, severity and namespace. */
import { clientOver } from '../../../client/create-client.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { RESULT_SEVERITIES } from '../../../kinds/fields/report.ts'
import { shownCluster } from '../../../plan/fleet/compliance-rows.ts'
import { clusterResults, incompleteResults, RESULT_GROUPS, showResults } from '../../../plan/fleet/engine-results.ts'
import type { ResultCount } from '../../../plan/fleet/engine-results.ts'
import { listAll } from '../../api/flotilla-resources.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ComplianceInput } from './compliance.ts'
import { readWord } from './flag-words.ts'
import { printCells } from './print-cells.ts'

type Flags = ComplianceInput['flags']

const FLAG = { notSince: '--not-since', asOf: '--as-of', state: '--state', duty: '--duty', set: '--set', standard: '--standard', control: '--control', engine: '--engine', severity: '--severity' } as const // prettier-ignore

/** Prints sums of results; with `--policy`, also objects that do not meet the policy. */
export async function engineResults({ connection, terminal, flags }: ComplianceInput): Promise<void> {
  const wrong = (['notSince', 'asOf', 'state', 'duty', 'set', 'standard', 'control'] as const).find((one) => flags[one] !== undefined) // prettier-ignore
  if (wrong) throw new CliError(EXIT.usage, { what: `${FLAG[wrong]} cannot be used with --results` })
  const by = readWord(flags.by, '--by', RESULT_GROUPS) ?? 'policy'
  const severity = readWord(flags.severity, '--severity', RESULT_SEVERITIES)
  const client = clientOver(connection.rest)
  const clusters = await listAll(client, Cluster, {})
  const reports = await listAll(client, ClusterReport, {})
  const all = clusterResults(clusters.map(shownCluster), reports)
  const { policy, cluster, engine, namespace } = flags
  const shown = showResults(all, by, { policy, cluster, engine, namespace, severity })
  for (const line of incompleteResults(all)) terminal.say(`the results are not complete: ${line}`)
  const output = flags.output ?? 'table'
  if (output === 'json') {
    terminal.data(`${JSON.stringify(shown, undefined, 2)}\n`)
    return
  }
  if (shown.groups.length === 0) {
    terminal.say(all.length === 0 ? 'No cluster has a policy engine that reports results.' : 'No result matches.')
    return
  }
  const header = [`${by[0]!.toUpperCase()}${by.slice(1)}`, 'Fail', 'Warn', 'Error', 'Pass', 'Skip', 'Clusters', 'Offline'] // prettier-ignore
  terminal.data(printCells(output, header, shown.groups.map(cellsOf)))
  if (!shown.objects || shown.objects.length === 0 || output === 'csv') return
  const objects = shown.objects.map((one) => [one.cluster, one.result, one.object, one.message.replaceAll(/\s+/g, ' ')])
  terminal.data(`\n${printCells(output, ['Cluster', 'Result', 'Object', 'Message'], objects)}`)
}

function cellsOf({ group, fail, warn, error, pass, skip, clusters, offline }: ResultCount): string[] {
  return [group, ...[fail, warn, error, pass, skip, clusters, offline].map((one) => (one === undefined ? '-' : String(one)))] // prettier-ignore
}

/** Refuses flags that only `--results` has. */
export function refuseWithout(flags: Flags, names: readonly ('engine' | 'severity')[]): void {
  const wrong = names.find((one) => flags[one] !== undefined)
  if (wrong) throw new CliError(EXIT.usage, { what: `${FLAG[wrong]} can only be used with --results` })
}
