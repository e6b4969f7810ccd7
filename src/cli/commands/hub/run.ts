/** `flotilla hub run`: starts a hub and stays until it is told to stop. */
import { readFile } from 'node:fs/promises'
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

/** What `hub run` works with. */
export interface HubRunInput {
  readonly terminal: Terminal
  readonly signal: AbortSignal
}

/** Runs a hub until the signal is aborted. */
export async function hubRun({ terminal, signal }: HubRunInput, flags: Record<string, unknown>): Promise<void> {
  const { printConfig, readHubConfig } = await import('../../../hub/config.ts')
  const file = await readConfigFile(flags['config'])
  const read = readHubConfig({ flags, ...(file && { file }) })
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
      `made the root key ${hub.newRoot}: move it to a safe place; only a change of trust needs it again`,
    )
  }
  terminal.data(`${readyLine(hub)}\n`)
  const stop = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => stop.resolve(), { once: true })
  if (signal.aborted) stop.resolve()
  await Promise.race([stop.promise, hub.ended])
  terminal.say('stopping')
  await hub.close()
}

async function readConfigFile(path: unknown): Promise<{ path: string; text: string } | undefined> {
  if (typeof path !== 'string') return undefined
  try {
    return { path, text: await readFile(path, 'utf8') }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CliError(EXIT.usage, { what: 'the settings cannot be read', where: path, why }, { cause })
  }
}
