/** `kustomize build`: files in, objects out. Pure: the same files and options give the same bytes. */
import { withAdditions } from './additions.ts'
import type { Additions } from './additions.ts'
import { ORIGIN, TRANSFORMATIONS } from './resources/build-annotations.ts'
import { withGeneratedKustomization } from './generated-kustomization.ts'
import { addHashes } from './transform/hash-names.ts'
import type { RenderHelm } from './helm-charts.ts'
import type { SortOptions } from './kustomization.ts'
import { KustomizeError, messageOf } from './kustomize-error.ts'
import { startLoader } from './loader.ts'
import type { FileTree } from './loader.ts'
import { BUILT_IN_SCHEMAS } from './patch/merge-schema.ts'
import { entriesTransformer } from './transform/metadata-transformers.ts'
import { updateNameReferences } from './transform/name-references.ts'
import { plainValue } from './nodes/plain-value.ts'
import { checkMetadata } from './resources/read-resources.ts'
import type { Resource } from './resources/resource.ts'
import type { ResourceMap } from './resources/resource-map.ts'
import { sortResources } from './resources/sort-output.ts'
import { accumulate, emptyAccumulator, loadKustomization, setSchema } from './target.ts'
import type { Accumulator, BuildContext, Target } from './target.ts'
import { resolveVars } from './transform/vars.ts'

/** What a build is told beside its files. */
export interface BuildOptions {
  /** Files outside the root of a kustomization may be read (`LoadRestrictionsNone`). */
  readonly allowOutside?: boolean
  /**
   * The order when the kustomization does not say: the command line sorts (`legacy`), the Go library does not (`fifo`).
   */
  readonly order?: 'legacy' | 'fifo'
  /** Remote bases and files that were fetched beforehand: address to path in the tree. */
  readonly remotes?: ReadonlyMap<string, string>
  /** Renders charts; without it `helmCharts` is refused. */
  readonly renderHelm?: RenderHelm
  /** Adds the label `app.kubernetes.io/managed-by`. */
  readonly managedByLabel?: boolean
  /** The version that this label names. */
  readonly version?: string
  /** Told at once of fields with better names, also when the build then fails. */
  readonly warn?: (message: string) => void
  /** What a delivery tool adds to the kustomization, as Flux and Argo CD do. */
  readonly additions?: Additions
  /**
   * If true, a directory without a kustomization gets a generated file that lists all manifests below it, as in Flux.
   */
  readonly generate?: boolean
}

/** A finished build. */
export interface Build {
  readonly resources: readonly Resource[]
  /** Warnings for the user, for example about deprecated fields. */
  readonly warnings: readonly string[]
}

/** The version whose behaviour this is. */
const KUSTOMIZE_VERSION = 'v5.8.1'

/** Builds the kustomization in a directory of a tree; throws KustomizeError in kustomize's words. */
export function buildKustomization(tree: FileTree, directory: string, options: BuildOptions = {}): Build {
  const warnings: string[] = []
  try {
    return { resources: build(tree, directory, options, warnings), warnings }
  } catch (caught) {
    if (caught instanceof KustomizeError) throw caught
    // An error that a library reports about a text; the remaining errors are defects of this engine.
    if (caught instanceof Error && 'goMessage' in caught) throw new KustomizeError(messageOf(caught), { cause: caught })
    throw caught
  }
}

function build(files: FileTree, directory: string, options: BuildOptions, warnings: string[]): Resource[] {
  const tree = options.generate ? withGeneratedKustomization(files, directory) : files
  const loader = startLoader(directory, {
    tree,
    allowOutside: options.allowOutside ?? false,
    remotes: options.remotes ?? new Map(),
  })
  const scene: BuildContext = {
    schemas: BUILT_IN_SCHEMAS,
    schemaIsSet: false,
    renderHelm: options.renderHelm,
    isDirectory: (path) => tree.stat(path)?.kind === 'directory',
    warn: (message) => {
      warnings.push(message)
      options.warn?.(message)
    },
  }
  const { kustomization: own, fileName } = loadKustomization(loader, scene)
  const kustomization = withAdditions(own, options.additions ?? {})
  const origin = kustomization.buildMetadata.length > 0 ? {} : undefined
  const target: Target = { loader, kustomization, fileName, scene, origin, helmNamespace: '' }
  setSchema(target)
  const accumulator = accumulate(target, emptyAccumulator())
  finish(accumulator, scene.warn)
  const sort: SortOptions = kustomization.sortOptions ?? { order: options.order ?? 'legacy' }
  accumulator.map.resources = sortResources(accumulator.map.resources, sort)
  const wants = (what: string): boolean => kustomization.buildMetadata.includes(what)
  if (options.managedByLabel || wants('managedByLabel')) {
    const specs = [{ group: '', version: '', kind: '', path: 'metadata/labels', create: true }]
    const label = new Map([['app.kubernetes.io/managed-by', `kustomize-${options.version ?? KUSTOMIZE_VERSION}`]])
    entriesTransformer(label, specs)(accumulator.map)
  }
  addCommonMetadata(accumulator.map, options.additions)
  const { resources } = accumulator.map
  for (const resource of resources) resource.removeBuildAnnotations()
  if (!wants('originAnnotations')) for (const resource of resources) removeAnnotation(resource, ORIGIN)
  if (!wants('transformerAnnotations')) for (const resource of resources) removeAnnotation(resource, TRANSFORMATIONS)
  return resources
}

function addCommonMetadata(map: ResourceMap, additions: Additions | undefined): void {
  const { labels, annotations } = additions?.commonMetadata ?? {}
  for (const [path, entries] of [
    ['metadata/labels', labels] as const,
    ['metadata/annotations', annotations] as const,
  ]) {
    if (entries) entriesTransformer(entries, [{ group: '', version: '', kind: '', path, create: true }])(map)
  }
}

// What happens once, when all kustomizations are together.
function finish(accumulator: Accumulator, warn: (message: string) => void): void {
  const { map, config, vars } = accumulator
  addHashes(map.resources)
  updateNameReferences(map.resources, config.nameReference)
  const unused = resolveVars(map.resources, vars, config.varReference)
  if (unused.length > 0) warn(`well-defined vars that were never replaced: ${unused.join(',')}`)
  map.resources = map.resources.filter((resource) => !isLocal(resource))
}

function isLocal(resource: Resource): boolean {
  if (resource.isEmpty) return true
  checkMetadata(resource.node!)
  const value = resource.annotation('config.kubernetes.io/local-config')
  return value !== undefined && value !== 'false'
}

// Also without that annotation all of them are written anew.
function removeAnnotation(resource: Resource, key: string): void {
  const { annotations } = resource
  annotations.delete(key)
  resource.setAnnotations(annotations)
}

/** The text of a build, as the command line prints it. */
export function buildText(resources: readonly Resource[]): string {
  return resources
    .map((resource) => {
      try {
        return resource.toYaml()
      } catch (caught) {
        throw new KustomizeError(`map[string]interface {}(nil): ${messageOf(caught)}`, { cause: caught })
      }
    })
    .join('---\n')
}

/** The objects of a build as plain JSON. */
export function buildObjects(resources: readonly Resource[]): Record<string, unknown>[] {
  return resources.map((resource) => toPlain(plainValue(resource.node!)) as Record<string, unknown>)
}

function toPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlain)
  if (!(value instanceof Map)) return typeof value === 'bigint' ? Number(value) : value
  const object: Record<string, unknown> = {}
  for (const [key, item] of value as Map<string, unknown>) {
    Object.defineProperty(object, key, { value: toPlain(item), enumerable: true, configurable: true, writable: true })
  }
  return object
}
