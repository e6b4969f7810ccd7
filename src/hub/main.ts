/** The entry point of a build that has only the hub: `hub.mjs --data DIR …`, with the flags of `flotilla hub run`. */
import { parseArgs } from 'node:util'
import { readFileSync } from 'node:fs'
import { toError } from '../core/errors.ts'
import { systemClock } from '../core/time/system-clock.ts'
import { systemIds } from '../core/system-ids.ts'
import { HubConfig, printConfig, readHubConfig } from './config.ts'
import { createLogger } from './logger.ts'
import { readyLine, startHub } from './run.ts'

const stop = Promise.withResolvers<void>()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.resolve())

try {
  await main(process.argv.slice(2))
} catch (caught) {
  process.stderr.write(`error: ${toError(caught).message}\n`)
  process.exitCode = 1
}

async function main(args: string[]): Promise<void> {
  const names = Object.keys(HubConfig.properties)
  const flagOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const { values } = parseArgs({
    args,
    options: {
      ...Object.fromEntries(names.map((name) => [flagOf(name), { type: 'string' as const }])),
      config: { type: 'string' },
      'print-config': { type: 'boolean' },
    },
  })
  const given = values as Readonly<Record<string, string | undefined>>
  const path = given['config']
  const read = readHubConfig({
    flags: Object.fromEntries(names.map((name) => [name, given[flagOf(name)]])),
    ...(path !== undefined && { file: { path, text: readFileSync(path, 'utf8') } }),
  })
  if (values['print-config']) {
    process.stdout.write(printConfig(read))
    return
  }
  const log = createLogger(read.config.logLevel)
  const hub = await startHub(read.config, { clock: systemClock, ids: systemIds, log })
  if (hub.newRoot !== undefined) {
    process.stderr.write(
      `created the root key ${hub.newRoot}: move it to a safe place; only rotations of keys and CAs need it\n`,
    )
  }
  process.stdout.write(`${readyLine(hub)}\n`)
  await Promise.race([stop.promise, hub.ended])
  await hub.close()
}
