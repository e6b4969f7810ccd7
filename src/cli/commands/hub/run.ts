/** `flotilla hub run`: runs a hub until a signal ends it. */
import { readFile } from 'node:fs/promises'
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

export interface HubRunInput {
  readonly terminal: Terminal
  readonly signal: AbortSignal
}

/** Runs a hub until the signal is aborted. */
export async function hubRun({ terminal, signal }: HubRunInput, flags: Record<string, unknown>): Promise<void> {
  const { printConfig, readHubConfig } = await import('../../../hub/config.ts')
  const file = await readConfigFile(flags['config'])
  const push = flags['push'] === false ? 'Disabled' : undefined
  const hubTemplates = flags['hubTemplates'] === true ? 'Served' : flags['hubTemplates']
  const read = readHubConfig({ flags: { ...flags, push, hubTemplates }, ...(file && { file }) })
  if (flags['printConfig']) return terminal.data(printConfig(read))
  const [{ readyLine, startHub }, { createLogger }] = await Promise.all([
    import('../../../hub/run.ts'),
    import('../../../hub/logger.ts'),
  ])
  const log = createLogger(read.config.logLevel)
  const hub = await startHub(read.config, { clock: systemClock, ids: systemIds, log })
  if (hub.newRoot !== undefined) {
    terminal.step(
      'warn',
      `created the root key ${hub.newRoot}: move it to a safe place; only "flotilla trust" commands need it`,
    )
  }
  terminal.data(terminal.isLive ? readyBlock(hub, terminal) : `${readyLine(hub)}\n`)
  const stop = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => stop.resolve(), { once: true })
  if (signal.aborted) stop.resolve()
  await Promise.race([stop.promise, hub.ended])
  terminal.say('stopping')
  await hub.close()
}

interface HubAddresses {
  readonly api: string
  readonly gateway: string
  readonly kubeconfig: string
  readonly roles: readonly string[]
  signInUrl(): string
}

/** The addresses for a person; scripts read `readyLine`. */
export function readyBlock(hub: HubAddresses, { sign, command }: Pick<Terminal, 'sign' | 'command'>): string {
  return command(`${sign('ok')} hub ready; Ctrl-C stops it

  API          ${hub.api}
  gateway      ${hub.gateway}
  console      ${hub.roles.includes('console') ? hub.signInUrl() : 'none'}
  kubeconfig   ${hub.kubeconfig}

Next, in another terminal:
  export FLOTILLA_KUBECONFIG=${hub.kubeconfig}
  flotilla status
  flotilla cluster add NAME
`)
}

async function readConfigFile(path: unknown): Promise<{ path: string; text: string } | undefined> {
  if (typeof path !== 'string') return undefined
  try {
    return { path, text: await readFile(path, 'utf8') }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CliError(EXIT.usage, { where: path, what: 'cannot read the settings', why }, { cause })
  }
}
