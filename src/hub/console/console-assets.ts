/**
 * The built files of the page: beside a built hub, or in console/dist of a clone, where they are built when the page is
 * first wanted.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Logger } from '../../core/log.ts'

/** A file, compressed. */
export interface Asset {
  readonly type: string
  readonly gzip: Uint8Array
  /** Its name changes with its content. */
  readonly isImmutable: boolean
}

/** The files of the page. */
export interface ConsoleAssets {
  /** Starts the build if this is a clone and nothing was built; a second call does nothing. */
  prepare(): void
  /** The file of a path; the document for `/`. Undefined if there is none. */
  get(path: string): Promise<Asset | undefined>
  /** Why there is no page yet; undefined if there is one. */
  problem(): Promise<string | undefined>
  close(): void
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

const compress = promisify(gzip)

interface Build {
  readonly kill: () => void
  /** Why it failed. */
  problem?: string
}

/** Where the built files are, and in a clone the script that builds them. */
export interface AssetPlaces {
  readonly folder: string
  readonly script?: string
}

/** The places of this program. */
export function assetPlaces({ dirname, filename } = import.meta): AssetPlaces {
  if (!filename.endsWith('.ts')) return { folder: join(dirname, 'console') }
  const clone = join(dirname, '../../..')
  return { folder: join(clone, 'console/dist'), script: join(clone, 'scripts/build-console.ts') }
}

/** Makes the assets; nothing is read or built before the first use. */
export function createConsoleAssets({
  places: { folder, script },
  log,
}: {
  readonly places: AssetPlaces
  readonly log: Logger
}): ConsoleAssets {
  let files: Promise<ReadonlyMap<string, Asset>> | undefined
  let building: Build | undefined

  function prepare(): void {
    if (script === undefined || building !== undefined) return
    const child = spawn(process.execPath, [script], { stdio: ['ignore', 'ignore', 'pipe'] })
    let words = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-2_000)))
    const build: Build = { kill: () => void child.kill() }
    building = build
    const end = (problem: string | undefined): void => {
      files = undefined
      if (problem === undefined) return
      build.problem = problem
      log.warn({ script, error: problem }, 'the console was not built')
    }
    child.on('error', (error) => end(error.message))
    child.on('close', (code) => end(code === 0 ? undefined : words.trim() || `the build ended with code ${code}`))
    try {
      if (child.pid !== undefined) setPriority(child.pid, 10)
    } catch {
      // a machine that forbids it builds at the usual priority
    }
  }

  const load = (): Promise<ReadonlyMap<string, Asset>> => (files ??= readAssets(folder))

  return {
    prepare,
    get: async (path) => (await load()).get(path === '/' ? '/index.html' : path),
    problem: async () => {
      const { size } = await load()
      if (size > 0) return undefined
      files = undefined
      if (script === undefined) return `The files of the console are missing: ${folder}.`
      return building?.problem === undefined ? BEING_BUILT : `The console could not be built: ${building.problem}`
    },
    close: () => building?.kill(),
  }
}

/** What the address answers while the page is built. */
export const BEING_BUILT =
  'The console is being built. This happens once per clone and takes about a minute. The page reloads by itself.'

async function readAssets(folder: string): Promise<ReadonlyMap<string, Asset>> {
  if (!existsSync(join(folder, 'index.html'))) return new Map()
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const assets = entries
    .filter((entry) => entry.isFile() && TYPES[extname(entry.name)] !== undefined)
    .map(async (entry): Promise<[string, Asset]> => {
      const file = join(entry.parentPath, entry.name)
      const path = file.slice(folder.length).replaceAll('\\', '/')
      const bytes = await compress(await readFile(file))
      return [path, { type: TYPES[extname(entry.name)]!, gzip: bytes, isImmutable: path.startsWith('/assets/') }]
    })
  return new Map(await Promise.all(assets))
}
