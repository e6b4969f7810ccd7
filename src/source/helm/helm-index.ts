/** The index of a Helm repository: which charts it has, in which versions. */
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { isObject } from '../../core/json.ts'
import { readYamlDocument } from '../../yaml/read/read-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import { newestVersion } from '../git/choose-commit.ts'
import { SourceError } from '../source-error.ts'

/** The largest index, in bytes. */
export const MAX_INDEX = 64 * 1024 * 1024
/** An index of 40 MB from a real repository has about this many; each needs some 350 bytes of memory. */
const MAX_INDEX_NODES = 2_000_000

/** A version of a chart. */
export interface ChartVersion {
  readonly version: string
  /** The address of the archive; it can be relative to the repository. */
  readonly url: string
  readonly digest: string | undefined
}

/** An index without the fields that the hub does not need. */
export interface HelmIndex {
  /** The digest of index.yaml. */
  readonly digest: Digest
  /** The size of index.yaml. */
  readonly bytes: number
  readonly charts: ReadonlyMap<string, readonly ChartVersion[]>
}

/** A shared cache of indexes holds some 200,000 versions, which need about 60 MB. */
export const INDEX_CACHE = {
  most: 200_000,
  weigh: ({ charts }: HelmIndex): number => [...charts.values()].reduce((sum, versions) => sum + versions.length, 1),
}

/** Reads an index; throws SourceError. */
export function readIndex(bytes: Uint8Array, file: string): HelmIndex {
  let value: unknown
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const limits = { maxBytes: MAX_INDEX, maxNodes: MAX_INDEX_NODES }
    value = readYamlDocument(text, { resolver: '1.1', duplicateKeys: 'last', limits }).value
  } catch (caught) {
    const why = caught instanceof YamlError ? caught.message : 'it is not UTF-8'
    throw new SourceError('BadIndex', `${file} cannot be read: ${why}.`, { retry: true, cause: caught })
  }
  const entries = isObject(value) && isObject(value['entries']) ? value['entries'] : undefined
  if (!entries)
    throw new SourceError('BadIndex', `${file} is no index of a Helm repository: it has no "entries".`, { retry: true })
  const charts = Object.entries(entries).map(([chart, versions]) => [chart, versionsOf(versions)] as const)
  return { digest: digestOf(bytes), bytes: bytes.byteLength, charts: new Map(charts) }
}

function versionsOf(versions: unknown): ChartVersion[] {
  if (!Array.isArray(versions)) return []
  return versions.flatMap((entry: unknown): ChartVersion[] => {
    if (!isObject(entry)) return []
    const { version, urls, digest } = entry
    const url = Array.isArray(urls) ? urls[0] : undefined
    if (typeof version !== 'string' || typeof url !== 'string') return []
    // An unreadable digest never matches an archive. Only an entry without a digest is accepted without this check.
    const hash = typeof digest === 'string' || typeof digest === 'number' ? String(digest).replace(/^sha256:/, '') : ''
    return [{ version, url, digest: hash === '' ? undefined : `sha256:${hash.toLowerCase()}` }]
  })
}

/** The newest version of a chart in a range; throws SourceError. */
export function chooseVersion(
  { charts }: HelmIndex,
  { chart, version }: { readonly chart: string; readonly version?: string | undefined },
  file: string,
): ChartVersion {
  const versions = charts.get(chart) ?? []
  if (versions.length === 0) {
    const names = [...charts.keys()].slice(0, 5).join(', ')
    const message = `${file} has no chart ${JSON.stringify(chart)}; it has ${names || 'none'}.`
    throw new SourceError('ChartNotFound', message, { retry: true })
  }
  const names = versions.map((one) => one.version)
  const chosen = versions.find((one) => one.version === version)?.version ?? newestVersion(names, version ?? '*')
  const found = versions.find((one) => one.version === chosen)
  if (found) return found
  const some = names.slice(0, 5).join(', ')
  const message = `Chart ${chart} has no version in the range ${JSON.stringify(version ?? '*')}; it has ${some}.`
  throw new SourceError('VersionNotFound', message, { retry: true })
}
