/** `flotilla agent run`: an agent beside a cluster, until it is told to stop. */
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

/** What `agent run` works with. */
export interface AgentRunInput {
  readonly terminal: Terminal
  readonly signal: AbortSignal
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** Runs an agent until the signal is aborted. */
export async function agentRun({ signal }: AgentRunInput, flags: Record<string, unknown>): Promise<void> {
  const { kubeconfig, join, data, context, name, logLevel, ceiling } = flags
  if (typeof kubeconfig !== 'string') {
    throw new CliError(EXIT.usage, {
      what: 'an agent needs its cluster',
      todo: 'say --kubeconfig FILE with the file that reaches the cluster’s API',
    })
  }
  const level = LEVELS.find((known) => known === logLevel)
  if (!level)
    throw new CliError(EXIT.usage, { what: `--log-level ${String(logLevel)}`, why: `want one of ${LEVELS.join(', ')}` })
  const [{ runAgent }, { proxyVariablesOf }] = await Promise.all([
    import('../../../agent/run.ts'),
    import('../../../agent/config.ts'),
  ])
  await runAgent({
    kubeconfig,
    dataDir: String(data),
    logLevel: level,
    proxyVariables: proxyVariablesOf(),
    signal,
    ...(typeof join === 'string' && { joinCode: join }),
    ...(typeof name === 'string' && { clusterName: name }),
    ...(typeof ceiling === 'string' && { localLimitsFile: ceiling }),
    ...(typeof context === 'string' && { context }),
  })
}
