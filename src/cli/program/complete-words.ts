/** The hidden command `__complete`, which the completion scripts call. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { isObject } from '../../core/json.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import type { Connection } from '../api/connect.ts'
import { complete } from './completion.ts'
import type { LiveNames, LiveValues } from './completion.ts'
import { CLUSTERS, RELEASES, REPORTS, ROLLOUTS } from '../api/flotilla-resources.ts'
import { clientOver } from '../../client/create-client.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
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
      cached('kinds', async ({ rest }) => {
        // A home without the view API has only the kinds that are stored.
        const view = resourcesOf(rest, 'view.flotilla.dev/v1alpha1').catch(() => [])
        const lists = [await resourcesOf(rest, 'flotilla.dev/v1alpha1'), await view]
        return [...new Set(lists.flat().map(({ plural }) => plural))]
      }),
    values: (what) => cached(what, async (connection) => await valuesOf(what, connection)),
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

/** Values of objects of the hub; at most the first page of objects is read. */
async function valuesOf(what: LiveValues, { rest, namespace }: Connection): Promise<readonly string[]> {
  const inNamespace = namespace ?? 'default'
  const pageOf = async <T extends KubeObject>(kind: ResourceType<T>): Promise<readonly T[]> => {
    const scope = kind.scope === 'Namespaced' ? { namespace: inNamespace } : {}
    return (await clientOver(rest).list(kind, { ...scope, limit: MAX_NAMES })).items
  }
  const unique = (values: readonly string[]) => [...new Set(values)]
  if (what === 'rings')
    return unique((await pageOf(ROLLOUTS)).flatMap(({ spec }) => spec.rings.map(({ name }) => name)))
  if (what === 'labels') {
    const labels = (await pageOf(CLUSTERS)).flatMap(({ metadata }) => Object.entries(metadata.labels ?? {}))
    return unique(labels.map(([key, value]) => `${key}=${value}`))
  }
  if (what === 'driftedClusters') {
    const drifted = (await pageOf(REPORTS)).filter(({ spec }) =>
      spec.bundles.some(({ state, drift }) => state === 'Drifted' || drift !== undefined),
    )
    return drifted.map(({ metadata }) => metadata.name)
  }
  const bundle = what.slice('releasesOf '.length)
  const releases = (await pageOf(RELEASES)).filter(({ spec }) => spec.bundles.some(({ name }) => name === bundle))
  return releases.map(({ metadata }) => metadata.name)
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
