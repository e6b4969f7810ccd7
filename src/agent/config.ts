/** The agent's command line and environment. */
import { parseArgs } from 'node:util'
import { compact } from '../core/compact.ts'
import { LOG_LEVELS } from './json-logger.ts'
import type { LogLevel } from './json-logger.ts'
import type { ProxyVariables } from './link/proxy.ts'
import type { RunAgentOptions } from './run.ts'

/** The command line is not usable; the message says what to write instead. */
class AgentConfigError extends Error {
  override readonly name = 'AgentConfigError'
}

/**
 * Reads flags, then the environment: `FLOTILLA_JOIN`, `FLOTILLA_NAME`, `FLOTILLA_DATA`, `FLOTILLA_LOG_LEVEL`,
 * `FLOTILLA_CEILING`, `FLOTILLA_IDENTITY_SECRET`, `KUBECONFIG`.
 */
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
      'identity-secret': { type: 'string' },
    },
  })
  const kubeconfig = values.kubeconfig ?? env['KUBECONFIG']
  if (!kubeconfig) throw new AgentConfigError('--kubeconfig is required: pass the kubeconfig file of the cluster')
  const dataDir = values.data ?? env['FLOTILLA_DATA']
  if (!dataDir)
    throw new AgentConfigError('--data is required: pass a directory for the keys and content of this agent')
  const joinCode = values.join ?? joinVariable(env)
  const clusterName = values.name ?? env['FLOTILLA_NAME']
  const localLimitsFile = values.ceiling ?? env['FLOTILLA_CEILING']
  return compact({
    kubeconfig,
    dataDir,
    proxyVariables: proxyVariablesOf(env),
    logLevel: parseLogLevel(values['log-level'] ?? env['FLOTILLA_LOG_LEVEL'] ?? 'info'),
    joinCode: joinCode || undefined,
    clusterName: clusterName || undefined,
    localLimitsFile: localLimitsFile || undefined,
    context: values.context || undefined,
    identitySecret: identitySecretOf(values['identity-secret'] ?? env['FLOTILLA_IDENTITY_SECRET']),
  })
}

/** The join code in the environment, which other users of the machine cannot read. */
export function joinVariable(env: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  return env['FLOTILLA_JOIN'] || undefined
}

/** Only the variables that name proxies: other variables may be secret. */
export function proxyVariablesOf(env: ProxyVariables = process.env): ProxyVariables {
  const names = ['HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy']
  return Object.fromEntries(names.map((name) => [name, env[name]]))
}

function identitySecretOf(name: string | undefined): string | undefined {
  if (name === undefined || name === '') return undefined
  if (/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name)) return name
  throw new AgentConfigError(`--identity-secret: ${JSON.stringify(name)} cannot be the name of a Secret`)
}

function parseLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text)
  if (!level)
    throw new AgentConfigError(
      `--log-level: ${JSON.stringify(text)} is not a log level; must be one of ${LOG_LEVELS.join(', ')}`,
    )
  return level
}
