/** The agent's own command line and environment, read once. */
import { parseArgs } from 'node:util'
import { LOG_LEVELS } from './json-logger.ts'
import type { LogLevel } from './json-logger.ts'
import type { ProxyVariables } from './link/proxy.ts'
import type { RunAgentOptions } from './run.ts'

/** A command line that cannot be used; the message says what to write instead. */
class AgentConfigError extends Error {
  override readonly name = 'AgentConfigError'
}

/** Reads flags, then environment (`FLOTILLA_JOIN`, `FLOTILLA_NAME`, `FLOTILLA_DATA`, `FLOTILLA_LOG_LEVEL`, `FLOTILLA_CEILING`, `KUBECONFIG`). */
export function readAgentConfig(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): Omit<RunAgentOptions, 'signal'> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      join: { type: 'string' },
      name: { type: 'string' },
      kubeconfig: { type: 'string' },
      context: { type: 'string' },
      data: { type: 'string' },
      'log-level': { type: 'string' },
      ceiling: { type: 'string' },
    },
  })
  const kubeconfig = values.kubeconfig ?? env['KUBECONFIG']
  if (!kubeconfig) throw new AgentConfigError('--kubeconfig: which cluster? Give the file that reaches it')
  const dataDir = values.data ?? env['FLOTILLA_DATA']
  if (!dataDir) throw new AgentConfigError('--data: give a directory of its own for keys and content')
  const joinCode = values.join ?? env['FLOTILLA_JOIN']
  const clusterName = values.name ?? env['FLOTILLA_NAME']
  const ceilingFile = values.ceiling ?? env['FLOTILLA_CEILING']
  return {
    kubeconfig,
    dataDir,
    proxyVariables: proxyVariablesOf(env),
    logLevel: logLevelOf(values['log-level'] ?? env['FLOTILLA_LOG_LEVEL'] ?? 'info'),
    ...(joinCode ? { joinCode } : {}),
    ...(clusterName ? { clusterName } : {}),
    ...(ceilingFile ? { ceilingFile } : {}),
    ...(values.context ? { context: values.context } : {}),
  }
}

/** The variables that name proxies, and no others. */
export function proxyVariablesOf(env: ProxyVariables = process.env): ProxyVariables {
  const names = ['HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy']
  return Object.fromEntries(names.map((name) => [name, env[name]]))
}

function logLevelOf(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text)
  if (!level) throw new AgentConfigError(`--log-level: ${JSON.stringify(text)} is none of ${LOG_LEVELS.join(', ')}`)
  return level
}
