// Tested by src/cli/commands/flux/diff/diff-kustomization.contract.test.ts.
/**
 * The builds of both sides: the local directory, and the commits that clusters may have, from the clone that the
 * directory is in.
 */
import type { UnknownObject } from '../../../../kinds/meta.ts'
import type { Bundle } from '../../../../kinds/native/bundle.ts'
import { sortHooks } from '../../../../plan/apply/hooks.ts'
import { objectKey } from '../../../../plan/objects/object-id.ts'
import { optionsFor } from '../../../../plan/release/variants.ts'
import type { Builder } from '../../../../render/bundle/builder.ts'
import type { FileTree } from '../../../../render/kustomize/loader.ts'
import { renderVariants } from '../../../../render/bundle/render-variants.ts'
import type { SharedVariant } from '../../../../render/bundle/render-variants.ts'
import { describeProblems } from '../../../../render/render-result.ts'
import { ENTROPY, recipeFor } from '../../../repository/bundle-recipe.ts'
import type { ReadInputData } from '../../../repository/bundle-recipe.ts'
import { openRepository } from '../../../repository/git-repository.ts'
import type { Files } from '../../../repository/git-repository.ts'
import { findRepositoryRoot } from '../../../repository/repository-files.ts'
import { builtObject } from './compare-delivered.ts'
import type { BuiltObject } from './compare-delivered.ts'
import type { DeliveredScene, SceneData } from './read-scene.ts'

/** The local directory. */
export interface LocalDirectory {
  readonly tree: FileTree
  readonly directory: string
  readonly ignorePaths: readonly string[]
  readonly note: (text: string) => void
}

export interface SidesInput {
  readonly bundle: Bundle
  readonly live: Bundle | undefined
  readonly data: SceneData
  readonly local: LocalDirectory
}

export interface RenderedSides {
  /** The objects of the directory for a cluster, or why there are none. */
  built(cluster: string): readonly BuiltObject[] | string
  /** The builds of commits that a cluster may have, the likeliest first. */
  candidates(cluster: string): readonly (readonly BuiltObject[])[]
}

type Contents = ReadonlyMap<string, readonly BuiltObject[] | string>

/** The most commits that are built. */
const MOST_COMMITS = 4

export async function renderSides(scene: DeliveredScene, input: SidesInput): Promise<RenderedSides> {
  const { bundle, live, local } = input
  const { localBuilder, buildWithoutKeys } = await import('../../../../dialects/flux/build/flux-builder.ts')
  const built = contentsOf(bundle, localBuilder(local), new Map(), { scene, data: input.data })
  const revisions = [...new Set(scene.clusters.flatMap((cluster) => cluster.revisions))].slice(0, MOST_COMMITS)
  const known = new Map<string, Contents>()
  for (const revision of live ? revisions : []) {
    const files = await filesOf(local.directory, revision)
    if (files) known.set(revision, contentsOf(live!, buildWithoutKeys, files, { scene, data: input.data }))
  }
  return {
    built: (cluster) => built.get(cluster) ?? [],
    candidates: (cluster) =>
      (scene.clusters.find(({ inputs }) => inputs.name === cluster)?.revisions ?? []).flatMap((revision) => {
        const content = known.get(revision)?.get(cluster)
        return content === undefined || typeof content === 'string' ? [] : [content]
      }),
  }
}

/** The files of a revision such as `main@sha1:f2ca…`; undefined if no clone has the commit. */
async function filesOf(directory: string, revision: string): Promise<Files | undefined> {
  const repository = openRepository(findRepositoryRoot(directory))
  const commit = await repository.commitOf(revision.replace(/^.*sha\d+:/, ''))
  return commit === undefined ? undefined : await repository.filesAt(commit)
}

interface ContentScene {
  readonly scene: DeliveredScene
  readonly data: SceneData
}

/** The objects of a Bundle for each cluster. Values of Secrets count for equality, and are never shown. */
function contentsOf(bundle: Bundle, builder: Builder, files: Files, { scene, data }: ContentScene): Contents {
  const clusters = scene.clusters.map(({ inputs }) => inputs)
  const hasSecrets = Object.keys(data.secrets).length > 0
  const variantsWith = (isShown: boolean): readonly SharedVariant[] => {
    const recipe = recipeFor(bundle, { overrides: scene.overrides, sources: [] }, textsOf(data, isShown))
    return renderVariants({ recipe, clusters, frozen: {} }, { files, entropy: ENTROPY, builders: { flux: builder } })
      .variants
  }
  const real = contentsByCluster(variantsWith(false), bundle, scene)
  const shown = hasSecrets ? contentsByCluster(variantsWith(true), bundle, scene) : real
  const contents = new Map<string, readonly BuiltObject[] | string>()
  for (const { name } of clusters) {
    const content = real.get(name) ?? []
    const visible = shown.get(name)
    const known = new Map(typeof visible === 'string' ? [] : (visible ?? []).map((one) => [keyOf(one), one]))
    const objects =
      typeof content === 'string' ? content : content.map((one) => builtObject(one, known.get(keyOf(one))))
    contents.set(name, objects)
  }
  return contents
}

function contentsByCluster(
  variants: readonly SharedVariant[],
  { spec }: Bundle,
  { hasFacts }: DeliveredScene,
): Map<string, readonly UnknownObject[] | string> {
  return new Map(
    variants.flatMap(({ clusters, result, when, variants: own = [] }) => {
      const content = objectsOf(result, spec, own)
      const read = Object.keys(when).find((path) => path !== 'name')
      const unread = `the build reads ${read?.split('.')[0]} of clusters, and you may not list clusters`
      return clusters.map((cluster) => [cluster, read !== undefined && !hasFacts ? unread : content] as const)
    }),
  )
}

function objectsOf(
  result: SharedVariant['result'],
  spec: Bundle['spec'],
  variants: readonly string[],
): readonly UnknownObject[] | string {
  if (result.ok === 'skip') return []
  if (result.ok === 'prepared') return 'the content is rendered in the cluster'
  if (!result.ok) return describeProblems(result.problems)
  const sorted = sortHooks(optionsFor(spec, variants) ?? {}, result.objects)
  return sorted.ok ? sorted.objects : sorted.problem
}

function textsOf(data: SceneData, isShown: boolean): ReadInputData {
  return (kind, name) => {
    if (kind === 'ConfigMap') return data.configMaps[name]
    const texts = data.secrets[name]
    if (!texts || !isShown) return texts
    return Object.fromEntries(Object.keys(texts).map((key) => [key, `(${key} of Secret ${name})`]))
  }
}

function keyOf({ apiVersion, kind, metadata }: UnknownObject): string {
  return objectKey({ ...metadata, apiVersion, kind })
}
