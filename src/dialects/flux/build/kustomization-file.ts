// Tested by src/dialects/flux/recorded.contract.test.ts.
/**
 * The kustomization.yaml that Flux writes before it builds: the one of the directory, or a generated one, with the
 * fields of the Kustomization object in it.
 */
import { fromUtf8, utf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { withGeneratedKustomization } from '../../../render/kustomize/generated-kustomization.ts'
import { KUSTOMIZATION_FIELDS } from '../../../render/kustomize/kustomization.ts'
import { KustomizeError } from '../../../render/kustomize/kustomize-error.ts'
import { FILE_NAMES } from '../../../render/kustomize/target.ts'
import { cleanPath, joinPath } from '../../../render/kustomize/loader.ts'
import type { FileTree } from '../../../render/kustomize/loader.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { withoutIgnored } from './build-files.ts'
import { FluxBuildError } from './flux-build-error.ts'
import { scalarText } from './flux-kustomization.ts'
import type { FluxKustomization } from './flux-kustomization.ts'

/** The tree with the file that Flux writes; throws FluxBuildError. */
export function withFluxKustomization(
  files: FileTree,
  directory: string,
  kustomization: FluxKustomization,
  isIgnored: (path: string) => boolean = () => false,
): FileTree {
  const fail = (message: string): never => {
    throw new FluxBuildError(`failed to generate kustomization.yaml: ${message}`)
  }
  const tree = generated(withoutIgnored(files, directory, isIgnored), directory, fail)
  const name = FILE_NAMES.find((candidate) => tree.stat(`${directory}/${candidate}`)?.kind === 'file')
  if (name === undefined) return fail(`${directory} is not a directory`)
  const path = `${directory === '/' ? '' : directory}/${name}`
  const exists = (component: string): boolean => tree.stat(joinPath(directory, component)) !== undefined
  const own = readFile(tree.read(path), fail)
  if (Array.isArray(own['resources'])) {
    own['resources'] = own['resources'].filter(
      (resource) => !isIgnored(cleanPath(String(resource)).replace(/^\.\//, '')),
    )
  }
  const content = utf8(JSON.stringify(mergedFile(own, kustomization, exists, fail)))
  return {
    stat: (at) => tree.stat(at),
    read: (at) => (at === path ? content : tree.read(at)),
    list: (at) => tree.list(at),
  }
}

type Fail = (message: string) => never

function generated(files: FileTree, directory: string, fail: Fail): FileTree {
  if (files.stat(`${directory}/${FILE_NAMES[0]}`)?.kind === 'directory') {
    return fail(`open ${directory}/${FILE_NAMES[0]}: is a directory`)
  }
  try {
    return withGeneratedKustomization(files, directory)
  } catch (caught) {
    if (!(caught instanceof KustomizeError)) throw caught
    return fail(caught.message)
  }
}

function readFile(bytes: Uint8Array, fail: Fail): JsonObject {
  try {
    const { value } = readFirstYaml(fromUtf8(bytes), { duplicateKeys: 'last' })
    return isObject(value) ? value : {}
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    return fail(caught.goMessage)
  }
}

// Flux reads the file into its type and writes that: fields it does not know are lost.
function mergedFile(
  own: JsonObject,
  { spec }: FluxKustomization,
  exists: (component: string) => boolean,
  fail: Fail,
): JsonObject {
  const known = Object.fromEntries(Object.entries(own).filter(([key]) => KUSTOMIZATION_FIELDS.includes(key)))
  const overrides = Object.entries({
    namespace: spec['targetNamespace'],
    namePrefix: spec['namePrefix'],
    nameSuffix: spec['nameSuffix'],
  }).filter(([, value]) => typeof value === 'string' && value !== '')
  const merged: JsonObject = { ...known, ...Object.fromEntries(overrides) }
  const append = (field: string, items: readonly unknown[]): void => {
    if (items.length > 0) merged[field] = [...listOf(merged[field]), ...items]
  }
  append('patches', listOf(spec['patches']))
  append('components', componentsOf(spec, exists, fail))
  const images = listOf(spec['images']).filter(isObject)
  if (images.length > 0) merged['images'] = mergedImages(listOf(merged['images']), images)
  if (listOf(spec['buildMetadata']).length > 0) merged['buildMetadata'] = spec['buildMetadata']
  // Kustomize refuses a file that says nothing, so Flux lets it say something without effect.
  else if (listOf(merged['resources']).length === 0 && listOf(merged['buildMetadata']).length === 0) {
    merged['buildMetadata'] = ['originAnnotations']
  }
  return merged
}

function componentsOf(spec: JsonObject, exists: (component: string) => boolean, fail: Fail): string[] {
  const components = listOf(spec['components']).map((component) => {
    const path = String(component)
    const isLocal = !path.startsWith('/') && !/^[a-z][a-z0-9+.-]*:\/\//i.test(path)
    return isLocal ? path : fail(`component path '${path}' must be local and relative`)
  })
  return spec['ignoreMissingComponents'] === true ? components.filter(exists) : components
}

// An image that the file changes already keeps what the object does not say.
function mergedImages(own: readonly unknown[], images: readonly JsonObject[]): unknown[] {
  const merged = own.filter(isObject).map((image) => ({ ...image }))
  for (const image of images) {
    const given = Object.fromEntries(
      Object.entries(image)
        .map(([key, value]) => [key, scalarText(value)] as const)
        .filter(([, value]) => value !== ''),
    )
    const known = merged.find(({ name }) => name === image['name'])
    if (!known) merged.push(given)
    else {
      // A tag and a digest exclude each other: the one that is given takes the place of the other.
      if ('newTag' in given || 'digest' in given) {
        delete known['newTag']
        delete known['digest']
      }
      Object.assign(known, given)
    }
  }
  return merged
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}
