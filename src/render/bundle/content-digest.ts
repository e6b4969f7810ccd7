import { digestOfJson } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { BundleRecipe, LayerOptions } from './recipe.ts'

/** A file of an artifact with the digest of its content. */
export interface DigestedFile {
  readonly path: string
  readonly digest: Digest
}

/**
 * The digest of the files that rendering may read: a commit that changes none of them does not change the bundle. A
 * kustomization or a builder may refer to any file, so all files count for it.
 */
export function contentDigest(all: readonly DigestedFile[], recipe: BundleRecipe): Digest {
  if (recipe.builder) return digestOfAll(all)
  const base = (recipe.path ?? '')
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
  const folder = base === '' ? '' : `${base}/`
  const inside = all.filter(({ path }) => path.startsWith(folder))
  const layers: readonly LayerOptions[] = [recipe, ...(recipe.variants ?? []), ...(recipe.overrides ?? [])]
  const reaches = [
    ...layers.flatMap(({ helm, kustomize }) => [...(helm?.valuesFiles ?? []), helm?.chart ?? '', kustomize?.dir ?? '']),
    ...Object.values(recipe.inputs ?? {}).map((input) =>
      'file' in input ? input.file : 'table' in input ? input.table : '',
    ),
  ].some((path) => path.split('/').includes('..') || path.includes('${'))
  const isKustomized =
    layers.some(({ kustomize }) => kustomize?.dir !== undefined) ||
    inside.some(({ path }) => /(^|\/)([Kk]ustomization)(\.ya?ml)?$/.test(path))
  return digestOfAll(reaches || isKustomized ? all : inside)
}

const digests = new WeakMap<readonly DigestedFile[], Digest>()

/** The digest of a list of files; the Bundles of a commit share the list of its artifact. */
function digestOfAll(files: readonly DigestedFile[]): Digest {
  const known = digests.get(files) ?? digestOfJson(files.map(({ path, digest }) => [path, digest]))
  digests.set(files, known)
  return known
}
