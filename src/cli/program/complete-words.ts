/** The hidden command `__complete`, which the completion scripts call. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { isObject } from '../../core/json.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import type { Connection } from '../api/connect.ts'
import { complete } from './completion.ts'
import type { LiveNames } from './completion.ts'
import { findResource, resourcesOf } from '../api/find-resource.ts'
import { collectionPath, withQuery } from '../../client/resource-paths.ts'

/** The input of completion. */
export interface CompletionInput {
  readonly connect: () => Promise<Connection>
  /** Cache of names, because a user presses TAB more than once. */
  readonly cacheFile: string
}

const KEPT_MS = 30_000
const MAX_NAMES = 1000

/** The candidates for the last word, one per line. */
export async function completeWords(
  program: Command,
  words: readonly string[],
  input: CompletionInput,
): Promise<string> {
  const found = await complete(program, words, liveNames(input))
  return found.map((candidate) => `${candidate}\n`).join('')
}

function liveNames({ connect, cacheFile }: CompletionInput): LiveNames {
  const cached = async (key: string, look: (connection: Connection) => Promise<readonly string[]>) => {
    try {
      const connection = await connect()
      const id = `${connection.server} ${key}`
      const cache = await readCache(cacheFile)
      const known = cache[id]
      if (known && systemClock.now() - known.at < KEPT_MS) return known.names
      const names = await look(connection)
      // Without a cache, the names are requested again.
      await writeCache(cacheFile, { ...cache, [id]: { at: systemClock.now(), names } }).catch(() => {})
      return names
    } catch {
      return [] // completion must not print errors while the user types
    }
  }
  return {
    kinds: () =>
      cached('kinds', async ({ rest }) =>
        (await resourcesOf(rest, 'flotilla.dev/v1alpha1')).map(({ plural }) => plural),
      ),
    names: (kind) =>
      cached(`names of ${kind}`, async ({ rest, namespace }) => {
        const resource = await findResource(rest, kind)
        const inNamespace = resource.scope === 'Namespaced' ? (namespace ?? 'default') : undefined
        const path = withQuery(collectionPath(resource, inNamespace), { limit: MAX_NAMES })
        const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json'
        const list = await rest.json({ method: 'GET', path, accept })
        const items = isObject(list) && Array.isArray(list['items']) ? list['items'].filter(isObject) : []
        return items.flatMap(({ metadata }) => (isObject(metadata) ? [String(metadata['name'])] : []))
      }),
  }
}

type Cache = Record<string, { readonly at: number; readonly names: readonly string[] }>

async function readCache(file: string): Promise<Cache> {
  try {
    const now = systemClock.now()
    const cache = JSON.parse(await readFile(file, 'utf8')) as Cache
    return Object.fromEntries(Object.entries(cache).filter(([, { at }]) => now - at < KEPT_MS))
  } catch {
    return {}
  }
}

async function writeCache(file: string, cache: Cache): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, JSON.stringify(cache), { mode: 0o600 })
}
