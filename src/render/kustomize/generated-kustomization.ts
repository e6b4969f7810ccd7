/** The kustomization that Flux generates for a directory without a kustomization: it lists every manifest below. */
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { KustomizeError, messageOf } from './kustomize-error.ts'
import type { FileTree } from './loader.ts'
import { readResources } from './resources/read-resources.ts'
import { FILE_NAMES } from './target.ts'

const MAX_DEPTH = 64

/** Adds a kustomization to the directory. Returns the same tree if the directory already has a kustomization. */
export function withGeneratedKustomization(tree: FileTree, directory: string): FileTree {
  if (tree.stat(directory)?.kind !== 'directory' || hasKustomization(tree, directory)) return tree
  const resources = manifestsBelow(tree, directory, '.', 0)
  const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources }
  const path = `${directory === '/' ? '' : directory}/${FILE_NAMES[0]}`
  const content = utf8(JSON.stringify(kustomization))
  return {
    stat: (at) => (at === path ? { path, kind: 'file' } : tree.stat(at)),
    read: (at) => (at === path ? content : tree.read(at)),
    list: (at) => tree.list(at),
  }
}

function hasKustomization(tree: FileTree, directory: string): boolean {
  return FILE_NAMES.some((name) => tree.stat(`${directory}/${name}`)?.kind === 'file')
}

function manifestsBelow(tree: FileTree, directory: string, shown: string, depth: number): string[] {
  if (depth > MAX_DEPTH) throw new KustomizeError(`${directory} is more than ${MAX_DEPTH} directories deep`)
  return [...tree.list(directory)].sort().flatMap((name) => {
    const path = `${directory}/${name}`
    const here = `${shown}/${name}`
    // A directory with a kustomization of its own is one resource.
    if (tree.stat(path)?.kind === 'directory') {
      return hasKustomization(tree, path) ? [here] : manifestsBelow(tree, path, here, depth + 1)
    }
    if (!/\.ya?ml$/.test(name)) return []
    checkManifest(tree, path)
    return [here]
  })
}

function checkManifest(tree: FileTree, path: string): void {
  try {
    readResources(fromUtf8(tree.read(path)))
  } catch (caught) {
    throw new KustomizeError(`failed to decode Kubernetes YAML from ${path}: ${messageOf(caught)}`, { cause: caught })
  }
}
