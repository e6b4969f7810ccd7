// Tested by src/render/bundle/prepare-content.test.ts
/**
 * The files of a chart, together with the local charts that it names as dependencies: the content that `helm dependency
 * update` would put into `charts/`.
 */
import { fromUtf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { RenderFailure } from '../render-failure.ts'

/** Where a chart is, and which files of the repository belong to it. */
export interface ChartLocation {
  readonly files: ReadonlyMap<string, Uint8Array>
  /** The directory of the bundle. Dependencies must be below it, because only its content is watched for changes. */
  readonly base: string
  /** Patterns of files and directories that are ignored. */
  readonly ignored: readonly string[]
}

const DEEPEST = 8

/** Returns the files by their path in the chart. */
export function chartFiles(path: string, place: ChartLocation, depth = 0): Map<string, Uint8Array> {
  if (depth > DEEPEST) throw new RenderFailure(`the charts of ${path} depend on one another more than ${DEEPEST} deep`)
  const own = filesBelow(path, place)
  for (const { name, repository } of dependenciesOf(own.get('Chart.yaml'))) {
    if (!repository.startsWith('file://') || isThere(name, own)) continue
    const target = pathFrom(path, repository.slice('file://'.length))
    const folder = place.base === '' ? '' : `${place.base}/`
    if (target === undefined || !`${target}/`.startsWith(folder)) {
      throw new RenderFailure(
        `the chart depends on ${JSON.stringify(repository)}, which is outside the directory of the bundle; put ${name} into charts/`,
      )
    }
    for (const [file, bytes] of chartFiles(target, place, depth + 1)) own.set(`charts/${name}/${file}`, bytes)
  }
  return own
}

function filesBelow(path: string, { files, ignored }: ChartLocation): Map<string, Uint8Array> {
  const folder = path === '' ? '' : `${path}/`
  return new Map(
    [...files]
      .filter(([name]) => name.startsWith(folder))
      .filter(([name]) => !ignored.some((one) => name === one || name.startsWith(`${one}/`)))
      .map(([name, bytes]) => [name.slice(folder.length), bytes]),
  )
}

/**
 * Reads the dependencies of a Chart.yaml. A file that cannot be read has none here; loading the chart reports the
 * error.
 */
function dependenciesOf(bytes: Uint8Array | undefined): { readonly name: string; readonly repository: string }[] {
  if (!bytes) return []
  try {
    const { value } = readFirstYaml(fromUtf8(bytes), { resolver: '1.1', duplicateKeys: 'last' })
    const list = isObject(value) && Array.isArray(value['dependencies']) ? (value['dependencies'] as unknown[]) : []
    return list.flatMap((one) => {
      if (!isObject(one) || typeof one['name'] !== 'string' || typeof one['repository'] !== 'string') return []
      return /^[A-Za-z0-9._-]+$/.test(one['name']) ? [{ name: one['name'], repository: one['repository'] }] : []
    })
  } catch (caught) {
    if (caught instanceof YamlError || caught instanceof TypeError) return []
    throw caught
  }
}

function isThere(name: string, files: ReadonlyMap<string, Uint8Array>): boolean {
  if (files.has(`charts/${name}/Chart.yaml`)) return true
  return [...files.keys()].some((path) => path.startsWith(`charts/${name}-`) && path.endsWith('.tgz'))
}

/** Resolves a path against a directory. Returns undefined when the path leaves the repository. */
export function pathFrom(from: string, path: string): string | undefined {
  const parts: string[] = []
  for (const part of `${from}/${path}`.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}
