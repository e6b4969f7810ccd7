/** `flotilla agent run`: runs an agent outside its cluster. */
import { readFileSync } from 'node:fs'
import { compact } from '../../../core/compact.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

export interface AgentRunInput {
  readonly terminal: Terminal
  readonly signal: AbortSignal
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/**
 * The join code. Other users of the machine can read the arguments of a process, so that a file, standard input (`-`)
 * or the variable FLOTILLA_JOIN is better than --join.
 */
function joinCodeOf(
  { join, joinFile }: Readonly<Record<string, unknown>>,
  variable: string | undefined,
): string | undefined {
  if (typeof join === 'string' && typeof joinFile === 'string') {
    throw new CliError(EXIT.usage, { what: '--join cannot be combined with --join-file' })
  }
  if (typeof joinFile !== 'string') return typeof join === 'string' ? join : variable
  const text = readFileSync(joinFile === '-' ? 0 : joinFile, 'utf8').trim()
  if (text !== '') return text
  throw new CliError(EXIT.usage, { what: `--join-file ${joinFile}: the file is empty` })
}

/** Runs an agent until the signal is aborted. */
export async function agentRun({ signal }: AgentRunInput, flags: Record<string, unknown>): Promise<void> {
  const { kubeconfig, data, context, name, logLevel, ceiling } = flags
  if (typeof kubeconfig !== 'string') {
    throw new CliError(EXIT.usage, {
      what: 'missing --kubeconfig',
      todo: 'give the kubeconfig of the cluster with --kubeconfig FILE',
    })
  }
  const level = LEVELS.find((known) => known === logLevel)
  if (!level)
    throw new CliError(EXIT.usage, {
      what: `invalid --log-level ${JSON.stringify(logLevel)}: must be one of ${LEVELS.join(', ')}`,
    })
  const [{ runAgent }, { joinVariable, proxyVariablesOf }] = await Promise.all([
    import('../../../agent/run.ts'),
    import('../../../agent/config.ts'),
  ])
  await runAgent({
    kubeconfig,
    dataDir: String(data),
    logLevel: level,
    proxyVariables: proxyVariablesOf(),
    signal,
    ...compact({ joinCode: joinCodeOf(flags, joinVariable()) }),
    ...(typeof name === 'string' && { clusterName: name }),
    ...(typeof ceiling === 'string' && { localLimitsFile: ceiling }),
    ...(typeof context === 'string' && { context }),
  })
}
