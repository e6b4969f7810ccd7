/** The render context: files, cluster data, and texts and options with their `${ }` expanded. */
import { utf8 } from '../../core/bytes.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { readYamlDocument } from '../../yaml/read/read-yaml.ts'
import type { ClusterFacts } from '../helm/capabilities.ts'
import type { Entropy, FrozenRecord } from '../helm/frozen-random.ts'
import type { LookUp } from '../helm/functions/helm-functions.ts'
import type { RenderLimits, RenderBudget } from '../helm/render-limits.ts'
import { createFileTree } from '../kustomize/loader.ts'
import type { FileTree } from '../kustomize/loader.ts'
import { insidePath } from './detect-style.ts'
import type { OpenedMessages } from '../sops/key-ring.ts'
import type { Builders } from './builder.ts'
import type { Expander } from './expander.ts'
import { MANIFEST, decodeManifestText } from './raw-directory.ts'
import type { BundleRecipe, InputSource, LayerOptions } from './recipe.ts'
import { RenderFailure } from './render-failure.ts'
import { goValue } from './track-reads.ts'
import type { TrackedInputs } from './track-reads.ts'

/** Files of an artifact by path. */
export type ArtifactFiles = ReadonlyMap<string, Uint8Array>

/** The dependencies of a render in addition to its recipe. */
export interface RenderDependencies {
  readonly files: ArtifactFiles
  readonly entropy: Entropy
  /** Random values that charts drew in earlier renders. */
  readonly frozen: FrozenRecord
  /** Receives the position of the render, and can stop it. */
  readonly watch?: RenderBudget
  readonly limits?: RenderLimits
  /** Builders that recipes can name. If omitted, none. */
  readonly builders?: Builders
  /** Messages of OpenPGP that builders need. */
  readonly openedMessages?: OpenedMessages
  /** Data that was read in the cluster; only for rendering in the cluster, or a preview of it. */
  readonly cluster?: ClusterReads
}

/** Cluster data that charts see when they are rendered in the cluster. */
export interface ClusterReads {
  /** The texts of `helm.valuesFrom`, in order; undefined for an optional object that does not exist. */
  readonly values: readonly (string | undefined)[]
  readonly lookUp: LookUp
  readonly facts: ClusterFacts
}

/** The context of a render. */
export interface RenderContext extends RenderDependencies {
  readonly watched: TrackedInputs
}

/** Returns the cached value of a key, or computes and stores it. */
export function memoize<K extends object, V>(known: WeakMap<K, V>, key: K, make: () => V): V {
  const found = known.get(key) ?? make()
  known.set(key, found)
  return found
}

// Variants of the same artifact read the same directories. A directory is read once while the files are in memory.
const trees = new WeakMap<ArtifactFiles, FileTree>()

/** The data that `${ }` can name. */
export function templateData(recipe: BundleRecipe, { watched, files }: RenderContext): Map<string, unknown> {
  const inputs = new Map<string, unknown>()
  for (const [name, source] of Object.entries(recipe.inputs ?? {})) {
    inputs.set(name, inputValue(name, source, { watched, files, path: recipe.path ?? '' }))
  }
  return new Map<string, unknown>([
    ['Cluster', watched.map],
    ['Inputs', inputs],
  ])
}

function inputValue(
  name: string,
  source: InputSource,
  from: { readonly watched: TrackedInputs; readonly files: ArtifactFiles; readonly path: string },
): unknown {
  if ('value' in source) return goValue({ value: source.value })['value']
  const file = 'file' in source ? source.file : source.table
  const path = insidePath(from.path, file, `input ${name}`)
  const bytes = from.files.get(path)
  if (!bytes) throw new RenderFailure(`input ${name} names the file ${JSON.stringify(file)}, which does not exist`)
  const { value } = readYamlDocument(decodeManifestText(bytes, path), { file: path, resolver: '1.1' })
  if ('file' in source) return goValue({ value })['value']
  const key = source.key === 'name' ? (from.watched.map.get('Name') as string) : from.watched.label(source.key)
  if (key === undefined)
    throw new RenderFailure(
      `${path}: input ${name} needs the label ${JSON.stringify(source.key)}, and the cluster has none`,
    )
  const row = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  if (row === undefined) throw new RenderFailure(`${path}: input ${name} has no row ${JSON.stringify(key)}`)
  return goValue({ row })['row']
}

/** Expands templates in the options. Values of charts are expanded as text later, when they become YAML. */
export function expandOptions(options: LayerOptions, expander: Expander): LayerOptions {
  const expand = (text: string | undefined, where: string): string | undefined =>
    text === undefined ? undefined : expander.expand(text, where)
  return {
    ...options,
    helm: {
      ...options.helm,
      releaseName: expand(options.helm?.releaseName, 'helm.releaseName'),
      valuesFrom: options.helm?.valuesFrom?.map((ref) => ({
        ...ref,
        name: expander.expand(ref.name, 'helm.valuesFrom'),
        namespace: expand(ref.namespace, 'helm.valuesFrom'),
      })),
    },
    kustomize: { dir: expand(options.kustomize?.dir, 'kustomize.dir') },
    defaultNamespace: expand(options.defaultNamespace, 'defaultNamespace'),
    targetNamespace: expand(options.targetNamespace, 'targetNamespace'),
    labels: Object.fromEntries(
      Object.entries(options.labels ?? {}).map(([key, value]) => [key, expander.expand(value, `labels.${key}`)]),
    ),
    images: (options.images ?? []).map(({ from, to }) => ({ from, to: expander.expand(to, 'images') })),
    patches: (options.patches ?? []).map((patch) => ({
      ...patch,
      patch: expandJson(patch.patch, expander, `patch of ${patch.kind} ${patch.name}`) as JsonObject,
    })),
  }
}

function expandJson(value: unknown, expander: Expander, where: string): unknown {
  if (typeof value === 'string') return expander.expand(value, where)
  if (Array.isArray(value)) return value.map((item) => expandJson(item, expander, where))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expandJson(item, expander, where)]))
}

/** The files as a kustomization sees them, each expanded when it is read. */
export function expandedTree(files: ArtifactFiles, expander: Expander | undefined): FileTree {
  const tree = memoize(trees, files, () =>
    createFileTree(new Map([...files].map(([path, bytes]) => [`/${path}`, bytes]))),
  )
  if (!expander) return tree
  const known = new Map<string, Uint8Array>()
  return {
    stat: (path) => tree.stat(path),
    list: (path) => tree.list(path),
    read: (path) => {
      const before = known.get(path)
      if (before) return before
      const bytes = tree.read(path)
      const isText =
        MANIFEST.test(path) || /\.(env|properties|txt|conf|cfg|ini)$/.test(path) || path.endsWith('/Kustomization')
      const made = isText ? utf8(expander.expand(decodeManifestText(bytes, path.slice(1)), path.slice(1))) : bytes
      known.set(path, made)
      return made
    },
  }
}
