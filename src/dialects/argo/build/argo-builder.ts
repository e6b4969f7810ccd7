/**
 * The builder of Applications: a kustomization with the overrides of `source.kustomize`, or the manifests of a
 * directory with `include` and `exclude`. Everything else that an Application can say is a field of a Bundle.
 */
import { fromUtf8, utf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import type { Builder, BuilderRequest } from '../../../render/bundle/builder.ts'
import { RenderFailure } from '../../../render/bundle/render-failure.ts'
import { buildKustomization, buildObjects } from '../../../render/kustomize/build.ts'
import { createFileTree, joinPath } from '../../../render/kustomize/loader.ts'
import { FILE_NAMES } from '../../../render/kustomize/target.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { directoryObjects } from './directory-manifests.ts'
import type { DirectoryOptions } from './directory-manifests.ts'
import { editKustomization } from './kustomize-edits.ts'
import type { KustomizeOptions } from './kustomize-edits.ts'

/** The name of the builder in `spec.builder`. */
export const ARGO_BUILDER = 'argo'

/** The options of `spec.builder`: one of both. */
export interface ArgoBuilderOptions {
  readonly kustomize?: KustomizeOptions
  readonly directory?: DirectoryOptions
}

/** Builds the objects of a source of an Application. */
export const buildApplication: Builder = (request) => {
  const { kustomize, directory } = readOptions(request.options)
  const objects = kustomize ? kustomized(request, kustomize) : directoryObjects(request, directory ?? {})
  return { objects, written: objects, notes: [] }
}

const TEXT_FIELDS = ['namePrefix', 'nameSuffix', 'namespace', 'include', 'exclude']
const LIST_FIELDS = ['images', 'replicas', 'patches', 'components']
const MAP_FIELDS = ['commonLabels', 'commonAnnotations']

/** The options, which every author of a Bundle can write. */
function readOptions(options: JsonObject): ArgoBuilderOptions {
  const isRight = ([name, value]: [string, unknown]): boolean => {
    if (TEXT_FIELDS.includes(name)) return typeof value === 'string'
    if (MAP_FIELDS.includes(name))
      return isObject(value) && Object.values(value).every((one) => typeof one === 'string')
    if (!LIST_FIELDS.includes(name)) return typeof value === 'boolean'
    const isItem = (item: unknown): boolean =>
      name === 'images' || name === 'components'
        ? typeof item === 'string'
        : isObject(item) && (name !== 'replicas' || typeof item['name'] === 'string')
    return Array.isArray(value) && value.every(isItem)
  }
  const [part, ...others] = Object.entries(options)
  const isKnown = part !== undefined && ['kustomize', 'directory'].includes(part[0]) && others.length === 0
  if (isKnown && isObject(part[1]) && Object.entries(part[1]).every(isRight)) return options
  throw new RenderFailure('spec.builder.options is not what an Application is compiled to')
}

function kustomized({ files, path }: BuilderRequest, options: KustomizeOptions): UnknownObject[] {
  const directory = path === '' ? '/' : `/${path}`
  const tree = createFileTree(new Map([...files].map(([name, bytes]) => [`/${name}`, bytes])))
  const file = FILE_NAMES.map((name) => joinPath(directory, name)).find((name) => tree.stat(name)?.kind === 'file')
  if (file === undefined) throw new RenderFailure(`${JSON.stringify(path || '.')} holds no kustomization`)
  const exists = (component: string): boolean => tree.stat(joinPath(directory, component)) !== undefined
  const content = utf8(JSON.stringify(editKustomization(readKustomization(tree.read(file), file), options, exists)))
  const edited = { ...tree, read: (at: string) => (at === file ? content : tree.read(at)) }
  const { resources } = buildKustomization(edited, directory)
  return buildObjects(resources) as unknown as UnknownObject[]
}

function readKustomization(bytes: Uint8Array, file: string): JsonObject {
  try {
    const { value } = readFirstYaml(fromUtf8(bytes), { file, duplicateKeys: 'last' })
    return isObject(value) ? value : {}
  } catch (caught) {
    if (caught instanceof YamlError) throw caught
    throw new RenderFailure('the file is not UTF-8', { file: file.slice(1), cause: caught })
  }
}
