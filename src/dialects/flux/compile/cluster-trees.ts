// Tested by src/dialects/flux/controllers/cluster-trees.sim.test.ts.
/**
 * Repositories with a directory per cluster, as `flux bootstrap` makes them: the Kustomization of each directory, for
 * the Cluster of its name. The trees of several clusters have objects of equal names, so the hub calls each object
 * CLUSTER.NAME.
 */
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { cleanPath } from '../../../render/kustomize/loader.ts'
import type { Finding } from '../../read-fields.ts'
import { GitRepository, Kustomization } from '../kinds.ts'
import { COMPILED } from './made-objects.ts'
import type { Desired } from './made-objects.ts'

/** The annotation of a GitRepository with the path of the directories of clusters. */
export const CLUSTERS_ANNOTATION = 'flotilla.dev/clusters'
/** The annotation of an object of a tree: the GitRepository and the Cluster, for example `fleet/store-1`. */
export const CLUSTER_TREE_ANNOTATION = 'flotilla.dev/cluster-tree'

/** The name that `flux bootstrap` gives to the objects that follow the repository itself. */
const BOOTSTRAP = 'flux-system'
const INTERVAL = '10m'

/** The tree that an object belongs to. */
export interface ClusterTree {
  readonly repository: string
  readonly cluster: string
}

/** The tree of an object, if it belongs to one. */
export function clusterTreeOf({ metadata }: KubeObject): ClusterTree | undefined {
  const [repository = '', cluster = '', ...rest] = metadata.annotations?.[CLUSTER_TREE_ANNOTATION]?.split('/') ?? []
  return repository === '' || cluster === '' || rest.length > 0 ? undefined : { repository, cluster }
}

/** The name of an object in its own cluster: what its tree calls it. */
export function nameInTree(object: KubeObject): string {
  const { name } = object.metadata
  const prefix = `${clusterTreeOf(object)?.cluster ?? ''}.`
  return prefix !== '.' && name.startsWith(prefix) ? name.slice(prefix.length) : name
}

/** The name on the hub of an object of a tree; undefined for the repository of the trees itself. */
export function nameOnHub({ repository, cluster }: ClusterTree, kind: string, name: string): string | undefined {
  if (kind === GitRepository.kind && (name === BOOTSTRAP || name === repository)) return undefined
  return `${cluster}.${name}`
}

/** A spec whose references name the objects of the same tree. */
export function withTreeReferences(spec: JsonObject, tree: ClusterTree): JsonObject {
  const named = (reference: JsonObject, kind: string): JsonObject => {
    const { name } = reference
    if (typeof name !== 'string') return reference
    return { ...reference, name: nameOnHub(tree, kind, name) ?? tree.repository }
  }
  const next: JsonObject = { ...spec }
  for (const field of ['sourceRef', 'chartRef']) {
    const reference = spec[field]
    if (isObject(reference)) next[field] = named(reference, String(reference['kind']))
  }
  if (Array.isArray(spec['dependsOn'])) {
    next['dependsOn'] = spec['dependsOn'].map((one: unknown) => (isObject(one) ? named(one, '') : one))
  }
  if (Array.isArray(spec['include'])) {
    next['include'] = spec['include'].map((one: unknown) =>
      isObject(one) && isObject(one['repository'])
        ? { ...one, repository: named(one['repository'], GitRepository.kind) }
        : one,
    )
  }
  const chart = spec['chart']
  if (isObject(chart) && isObject(chart['spec'])) {
    next['chart'] = { ...chart, spec: withTreeReferences(chart['spec'], tree) }
  }
  return next
}

/** Whether a nested Kustomization builds the directory of its outer one: the one that `flux bootstrap` wrote. */
export function buildsSamePath(outer: JsonObject, nested: JsonObject): boolean {
  const pathOf = ({ path }: JsonObject): string => cleanPath(`/${typeof path === 'string' ? path : ''}`)
  const sourceOf = ({ sourceRef }: JsonObject): unknown => (isObject(sourceRef) ? sourceRef['name'] : undefined)
  return pathOf(outer) === pathOf(nested) && sourceOf(outer) === sourceOf(nested)
}

/** The Kustomizations of the directories below the annotated path, and directories without a Cluster. */
export function compileClusterTrees(
  repository: GitRepository,
  files: Iterable<string>,
  isCluster: (name: string) => boolean,
): { readonly desired: readonly Desired[]; readonly findings: readonly Finding[] } {
  const path = repository.metadata.annotations?.[CLUSTERS_ANNOTATION]
  if (path === undefined) return { desired: [], findings: [] }
  const root = cleanPath(`/${path}`).slice(1)
  const prefix = root === '' ? '' : `${root}/`
  const directories = new Set<string>()
  for (const file of files) {
    if (!file.startsWith(prefix)) continue
    const end = file.indexOf('/', prefix.length)
    if (end > 0) directories.add(file.slice(prefix.length, end))
  }
  const names = [...directories].sort()
  const [known, unknown] = [names.filter(isCluster), names.filter((name) => !isCluster(name))]
  const warn = (message: string): Finding => ({ level: 'warning', message })
  const findings =
    names.length === 0
      ? [
          warn(
            `annotation ${CLUSTERS_ANNOTATION} is ${JSON.stringify(path)}, and the repository has no directory there`,
          ),
        ]
      : unknown.length > 0
        ? [warn(`no Cluster has the name of these directories of ${root || 'the root'}: ${nameSome(unknown)}`)]
        : []
  return { desired: known.map((cluster) => rootOf(repository, `./${prefix}${cluster}`, cluster)), findings }
}

/**
 * The Kustomization of a directory. Like a nested one it has no ownerReference: the garbage collector would empty the
 * clusters when the GitRepository is deleted, and Flux deletes nothing then.
 */
function rootOf({ metadata }: GitRepository, path: string, cluster: string): Desired {
  const { name: repository, namespace = '' } = metadata
  const annotations = { [CLUSTER_TREE_ANNOTATION]: `${repository}/${cluster}` }
  const spec = {
    interval: INTERVAL,
    path,
    prune: true,
    sourceRef: { kind: GitRepository.kind, name: repository },
  }
  return {
    kind: Kustomization,
    object: {
      apiVersion: apiVersionOf(Kustomization),
      kind: Kustomization.kind,
      metadata: {
        name: `${cluster}.${BOOTSTRAP}`,
        namespace,
        annotations: { ...annotations, [COMPILED]: digestOfJson({ spec, annotations }) },
      },
      spec,
    },
  }
}

/** Whether an object was made for a tree of a repository. */
export function isOfTrees(object: KubeObject, repository: KubeObject): boolean {
  return clusterTreeOf(object)?.repository === repository.metadata.name
}
