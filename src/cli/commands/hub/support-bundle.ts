/** `flotilla support-bundle`: diagnostics of a hub in one archive, without secrets and workload content. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { settleAll } from '../../../core/async/settle-all.ts'
import { utf8 } from '../../../core/bytes.ts'
import { toError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { createTar } from '../../../core/tar.ts'
import { formatTime } from '../../../core/time/time.ts'
import { VERSION } from '../../../core/version.ts'
import { clientOver } from '../../../client/create-client.ts'
import type { Connection } from '../../api/connect.ts'
import type { CliEnvironment } from '../../config.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { listAll } from '../../api/flotilla-resources.ts'
import { redacted } from './redact.ts'
import { resourcesOf } from '../../api/find-resource.ts'
import type { Terminal } from '../../print/terminal.ts'

export interface SupportInput {
  readonly connect: () => Promise<Connection>
  readonly terminal: Terminal
  readonly environment: CliEnvironment
  readonly signal: AbortSignal
  readonly flags: { readonly cluster?: readonly string[] }
}

interface Part {
  readonly name: string
  read(): Promise<string>
}

const OWN = ['flotilla.dev/v1alpha1', 'view.flotilla.dev/v1alpha1']
/** Rows per Bundle and cluster, and per Release and object, are many; the other parts have what they are made from. */
const TOO_MANY: ReadonlySet<string> = new Set(['bundlestates', 'bundleobjects', 'releaseobjects'])
const MAX_PART = 32 * 1024 * 1024

/** Writes the archive. Parts that cannot be read are listed in its missing.txt. */
export async function supportBundle(words: readonly string[], input: SupportInput): Promise<void> {
  const { terminal, flags } = input
  const stamp = formatTime(systemClock.now()).replaceAll(/[-:]/g, '')
  const file = words[0] ?? `flotilla-support-${stamp}.tar.gz`
  if (existsSync(file)) throw cannotWrite(file, 'the file already exists')
  const connection = await input.connect()
  const files: { name: string; data: Uint8Array }[] = []
  const missing: string[] = []
  for (const { name, read } of await partsOf(connection, input, flags.cluster ?? [])) {
    terminal.step('wait', name)
    try {
      files.push({ name: `flotilla-support/${name}`, data: utf8((await read()).slice(0, MAX_PART)) })
    } catch (caught) {
      if (input.signal.aborted) throw caught
      missing.push(`${name}: ${toError(caught).message}`)
    }
  }
  if (missing.length > 0) files.push({ name: 'flotilla-support/missing.txt', data: utf8(`${missing.join('\n')}\n`) })
  const bytes = gzipSync(createTar(files))
  try {
    await writeFile(file, bytes, { flag: 'wx', mode: 0o600 })
  } catch (caught) {
    throw cannotWrite(file, toError(caught).message)
  }
  terminal.data(`${file}\n`)
  terminal.step(
    'ok',
    `${files.length} parts, ${Math.ceil(bytes.byteLength / 1024)} KiB; review the archive before you send it`,
  )
  if (missing.length > 0)
    terminal.step(
      'warn',
      `${missing.length} ${missing.length === 1 ? 'part' : 'parts'} could not be read; see missing.txt in the archive`,
    )
}

function cannotWrite(file: string, why: string): CliError {
  return new CliError(EXIT.failed, {
    where: file,
    what: 'cannot write the support bundle',
    why,
    todo: 'give another file with "flotilla support-bundle FILE"',
  })
}

async function partsOf(connection: Connection, input: SupportInput, clusters: readonly string[]): Promise<Part[]> {
  const { rest } = connection
  const client = clientOver(rest)
  const groups = await settleAll(OWN.map((apiVersion) => resourcesOf(rest, apiVersion)))
  const kinds = groups.flat().filter(({ plural, verbs }) => verbs.includes('list') && !TOO_MANY.has(plural))
  const events = { group: '', version: 'v1', kind: 'Event', plural: 'events', scope: 'Namespaced' } as const
  const objects = [...kinds, events].map((kind) => ({
    name: `objects/${kind.plural}.json`,
    read: async () => linesOf(await listAll(client, kind)),
  }))
  return [
    { name: 'about.json', read: async () => JSON.stringify(aboutOf(connection, input.environment), undefined, 2) },
    { name: 'version.json', read: async () => JSON.stringify(await rest.json({ method: 'GET', path: '/version' })) },
    { name: 'status.txt', read: () => printedBy('status', undefined, input) },
    { name: 'check.json', read: () => printedBy('check', undefined, input) },
    ...clusters.map((cluster) => ({
      name: `check-${cluster}.json`,
      read: () => printedBy('check', cluster, input),
    })),
    { name: 'audit.jsonl', read: () => printedBy('audit', undefined, input) },
    ...objects,
  ]
}

function aboutOf({ server, kubeconfig }: Connection, { nodeVersion, program }: CliEnvironment): object {
  const { platform, arch } = process
  return {
    time: formatTime(systemClock.now()),
    cli: VERSION,
    node: nodeVersion,
    platform,
    arch,
    server,
    kubeconfig,
    program,
  }
}

function linesOf(items: readonly object[]): string {
  return items.map((item) => `${JSON.stringify(redacted(item))}\n`).join('')
}

/** The output of another command. */
async function printedBy(
  command: 'status' | 'check' | 'audit',
  cluster: string | undefined,
  input: SupportInput,
): Promise<string> {
  let text = ''
  const terminal: Terminal = { ...input.terminal, data: (more) => (text += more), paint: (_color, plain) => plain }
  const connection = await input.connect()
  if (command === 'status') {
    const { status } = await import('../observe/status.ts')
    await status({ ...input, connection, terminal, flags: {} })
  } else if (command === 'check') {
    const { check } = await import('./check.ts')
    await check(cluster, { ...input, terminal, flags: { output: 'json' } })
  } else {
    const { audit } = await import('./audit.ts')
    await audit({ connection, terminal, flags: { output: 'json', tail: '500' } })
  }
  return text
}
