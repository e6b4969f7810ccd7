// Tested by src/cli/commands/evidence/evidence.test.ts
/** `flotilla evidence export`: the signed reports of a cluster, its documents and the trust bundles as one file. */
import { isObject } from '../../../core/json.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime, parseTime } from '../../../core/time/time.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readDuration } from '../../input/duration-flag.ts'
import type { Terminal } from '../../print/terminal.ts'
import { readLines } from '../../input/read-lines.ts'

export interface ExportInput {
  readonly connection: Pick<Connection, 'rest'>
  readonly terminal: Pick<Terminal, 'data' | 'say'>
  readonly flags: { readonly since?: string }
}

export async function evidenceExport(cluster: string, { connection, terminal, flags }: ExportInput): Promise<void> {
  const query = flags.since === undefined ? '' : `?since=${encodeURIComponent(readSince(flags.since))}`
  const path = `/apis/view.flotilla.dev/v1alpha1/clusters/${encodeURIComponent(cluster)}/evidence${query}`
  const accept = 'application/x-ndjson, application/json'
  const { body } = await connection.rest.stream({ method: 'POST', path, accept }, new AbortController().signal)
  const counts = new Map<string, number>()
  for await (const line of readLines(body)) {
    const type = typeOf(line)
    counts.set(type, (counts.get(type) ?? 0) + 1)
    terminal.data(`${line}\n`)
  }
  const of = (type: string): number => counts.get(type) ?? 0
  if (of('end') === 0) {
    throw new CliError(EXIT.failed, {
      what: 'the export ended early and the file is not complete',
      why: 'the hub stopped, or a kube-apiserver ended the request after its time limit',
      todo: 'export again, with a later --since if the history is long',
    })
  }
  if (of('report') === 0) {
    throw new CliError(EXIT.notFound, {
      what: `no report of cluster ${JSON.stringify(cluster)}${query === '' ? '' : ' since that time'}`,
      why: 'the journal has no such report; a new report is there after one minute at the latest',
      todo: 'list clusters with "flotilla get clusters"',
    })
  }
  terminal.say(`${of('report')} reports, ${of('document')} documents; verify the file with "flotilla evidence verify"`)
}

/** A time, or how long ago. */
function readSince(text: string): string {
  const ms = parseTime(text)
  return formatTime(ms ?? systemClock.now() - readDuration(text, '--since'))
}

function typeOf(line: string): string {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) && typeof value['type'] === 'string' ? value['type'] : ''
  } catch {
    return ''
  }
}
