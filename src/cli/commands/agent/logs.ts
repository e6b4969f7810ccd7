/** `flotilla logs`: the newest log lines of an agent, requested at its next check-in. */
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { askAgent } from './ask-agent.ts'
import type { AskInput } from './ask-agent.ts'

export interface LogsInput extends AskInput {
  readonly flags: { readonly tail?: string; readonly timeout?: string }
}

type Log = NonNullable<ClusterReport['spec']['log']>

const IN_THE_CLUSTER = 'read the log in the cluster with "kubectl logs -n flotilla-agent deployment/flotilla-agent"'

/** Requests the log of an agent, waits for the report and prints the lines. */
export async function logs(name: string, input: LogsInput): Promise<void> {
  const tail = tailOf(input.flags.tail)
  const log = await askAgent<Log>(name, input, {
    noun: 'log',
    spec: (asked) => ({ logsAskedAt: asked }),
    // Concurrent requests share one answer.
    answer: (report, asked) => (report.log && report.log.asked >= asked ? report.log : undefined),
    elsewhere: (last) => ({
      offline: `${last?.log ? `print the last log with "flotilla get clusterreport ${name} -o yaml", or ` : ''}${IN_THE_CLUSTER}`,
      silent: `check the cluster with "flotilla check ${name}", or ${IN_THE_CLUSTER}`,
    }),
  })
  print(log, tail, input.terminal)
}

function print({ lines }: Log, tail: number, terminal: LogsInput['terminal']): void {
  if (lines.length === 0) return terminal.step('ok', 'the log is empty')
  for (const line of lines.slice(-tail)) terminal.data(`${line}\n`)
}

function tailOf(text: string | undefined): number {
  if (text === undefined) return Infinity
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new CliError(EXIT.usage, {
    what: `invalid --tail ${JSON.stringify(text)}: must be a whole number of at least 1`,
  })
}
