/** `flotilla agent run`: runs an agent outside its cluster. */
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

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
      what: 'missing --kubeconfig',
      todo: 'give the kubeconfig of the cluster with --kubeconfig FILE',
    })
  }
  const level = LEVELS.find((known) => known === logLevel)
  if (!level)
    throw new CliError(EXIT.usage, {
      what: `invalid --log-level ${JSON.stringify(logLevel)}: must be one of ${LEVELS.join(', ')}`,
    })
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
