/**
 * Objects of Flux that the build of a Kustomization yields, as every bootstrapped repository has them: they are written
 * to the hub for the clusters of that Kustomization, and never applied to a cluster.
 */
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject, UnknownObject } from '../../../kinds/meta.ts'
import type { Finding } from '../../read-fields.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { FLUX_KINDS, Kustomization } from '../kinds.ts'
import { HelmRelease } from '../release/release-kind.ts'
import { NESTED_FROM } from './compile-release.ts'
import { PLACEMENT_ANNOTATION, PLAN_ANNOTATION } from './compile-kustomization.ts'
import type { KustomizationScene } from './compile-kustomization.ts'
import {
  buildsSamePath,
  CLUSTER_TREE_ANNOTATION,
  clusterTreeOf,
  nameOnHub,
  withTreeReferences,
} from './cluster-trees.ts'
import type { ClusterTree } from './cluster-trees.ts'
import { COMPILED, isMadeFor } from './made-objects.ts'
import type { Desired } from './made-objects.ts'

/**
 * The annotation with the name of the outer Kustomization. An ownerReference would let the garbage collector delete the
 * object with the outer Kustomization, whatever its `prune`, `deletionPolicy` and `suspend` say.
 */
export const NESTED_IN = 'flotilla.dev/nested-in'
/** Annotations of the hub are a decision of its users; a repository only names clusters. */
const OWN_ANNOTATIONS = 'flotilla.dev/'
/** Versions with the same fields as the served version. */
const VERSIONS = /^v1(beta[1-3])?$/
const RELEASE_VERSIONS = /^v2(beta[12])?$/
/** The most nested objects of a build. */
const MAX_NESTED = 500

/** What the nested objects are compiled with. */
export interface NestedScene {
  readonly target: KustomizationScene['target']
  /** An object of the hub. */
  find(kind: Kind, name: string): KubeObject | undefined
}

/** The objects to write, and what is left out. */
export function compileNested(
  parent: Kustomization,
  objects: readonly UnknownObject[],
  scene: NestedScene,
): { readonly desired: readonly Desired[]; readonly findings: readonly Finding[] } {
  const findings: Finding[] = []
  if (objects.length > MAX_NESTED) {
    const message = `the build has ${objects.length} objects of Flux, and at most ${MAX_NESTED} are supported; all of them are left out`
    return { desired: [], findings: [{ level: 'warning', message }] }
  }
  const desired = objects.flatMap((object): Desired[] => {
    const { apiVersion, kind: name, metadata } = object
    const skip = (why: string): [] => {
      findings.push({ level: 'warning', message: `${name} ${metadata.name} of the build is left out: ${why}` })
      return []
    }
    const [group = '', version = ''] = apiVersion.split('/')
    const kind = FLUX_KINDS.find((one) => one.group === group && one.kind === name)
    if (!kind) return isInstaller(object) ? [] : skip('the kind is not served')
    if (!(kind.kind === HelmRelease.kind ? RELEASE_VERSIONS : VERSIONS).test(version))
      return skip(`version ${version} is not served`)
    const { namespace = '' } = parent.metadata
    // A HelmRelease and its sources have the namespace of what they install; Kustomizations have tenants' namespaces.
    if ((metadata.namespace ?? namespace) !== namespace && kind.kind === Kustomization.kind) {
      return skip(`it is for namespace ${metadata.namespace ?? ''}, and nested objects stay in namespace ${namespace}`)
    }
    const tree = clusterTreeOf(parent)
    const local = kind.kind === Kustomization.kind ? object : inNamespace(object, namespace)
    const hubName = tree ? nameOnHub(tree, kind.kind, local.metadata.name) : local.metadata.name
    // The repository of the trees, which the hub follows already.
    if (hubName === undefined) return []
    const placed = tree ? inTree(local, hubName, tree) : local
    const isRoot = isOwnRoot(parent, kind, placed) || (tree && isSameDirectory(parent, kind, placed))
    const present = scene.find(kind, hubName)
    if (isRoot && (present || tree)) return []
    if (present && !isNestedIn(present, parent)) return skip('an object of this name is there already')
    const other = isWorkload(kind) ? otherThanParent(parent, placed) : undefined
    if (other !== undefined) return skip(other)
    const dropped = Object.keys(metadata.annotations ?? {}).filter(
      (key) => isDropped(key) && !(key === PLAN_ANNOTATION && parent.metadata.annotations?.[key]),
    )
    if (dropped.length > 0) {
      const message = `${dropped.join(', ')} of ${name} ${metadata.name} of the build has no effect; annotate the object on the hub instead`
      findings.push({ level: 'warning', message })
    }
    const isRenamed = placed.metadata.name !== metadata.name && kind.kind !== Kustomization.kind
    const from = isRenamed ? `${metadata.namespace ?? namespace}/${metadata.name}` : undefined
    return [nested(parent, kind, placed, { target: scene.target, from })]
  })
  if (objects.some((object) => isInstaller(object))) {
    findings.push({
      level: 'warning',
      message: 'the installation of Flux in the build (gotk-components) is left out: clusters need no Flux',
    })
  }
  return { desired, findings }
}

/**
 * Whether an object was written for a Kustomization of this name. A Kustomization that is created again follows it, as
 * in Flux.
 */
export function isNestedIn(object: KubeObject, parent: KubeObject): boolean {
  return object.metadata.annotations?.[NESTED_IN] === parent.metadata.name || isMadeFor(object, parent)
}

/** Definitions and controllers of Flux. */
function isInstaller({ apiVersion }: UnknownObject): boolean {
  return !/\.fluxcd\.io\//.test(apiVersion)
}

/** Annotations of a nested object that are not written. */
function isDropped(key: string): boolean {
  return key.startsWith(OWN_ANNOTATIONS) && key !== PLACEMENT_ANNOTATION
}

/** Names a value other than that of the outer Kustomization, whose user and rings hold for all that it yields. */
function otherThanParent(parent: Kustomization, { metadata, ...rest }: UnknownObject): string | undefined {
  const spec = isObject(rest['spec']) ? rest['spec'] : {}
  const plan = parent.metadata.annotations?.[PLAN_ANNOTATION]
  const values = [
    ['spec.serviceAccountName', spec['serviceAccountName'], parent.spec['serviceAccountName']],
    [`annotation ${PLAN_ANNOTATION}`, metadata.annotations?.[PLAN_ANNOTATION], plan],
  ] as const
  const found = values.find(([, own, outer]) => Boolean(own) && Boolean(outer) && own !== outer)
  if (!found) return undefined
  const [field, own, outer] = found
  return `its ${field} is ${JSON.stringify(own)}, and the outer Kustomization has ${JSON.stringify(outer)}`
}

/** The objects that follow this repository itself (gotk-sync). */
function isOwnRoot({ metadata, spec }: Kustomization, kind: Kind, { metadata: { name } }: UnknownObject): boolean {
  if (kind.kind === Kustomization.kind) return name === metadata.name
  const source = spec['sourceRef']
  return isObject(source) && source['kind'] === kind.kind && source['name'] === name
}

function isSameDirectory({ spec }: Kustomization, kind: Kind, object: UnknownObject): boolean {
  const own = object['spec']
  return kind.kind === Kustomization.kind && isObject(own) && buildsSamePath(spec, own)
}

/** An object of a tree with its name on the hub, and the names of what it refers to. */
function inTree(object: UnknownObject, name: string, tree: ClusterTree): UnknownObject {
  const spec = isObject(object['spec']) ? withTreeReferences(object['spec'], tree) : object['spec']
  return { ...object, metadata: { ...object.metadata, name }, spec }
}

function nested(
  parent: Kustomization,
  kind: Kind,
  { metadata, ...rest }: UnknownObject,
  { target, from }: { readonly target: NestedScene['target']; readonly from: string | undefined },
): Desired {
  const { name, namespace = '' } = parent.metadata
  const annotations = Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !isDropped(key)))
  const said = isObject(rest['spec']) ? rest['spec'] : {}
  const isPlacedKind = isWorkload(kind)
  const tree = parent.metadata.annotations?.[CLUSTER_TREE_ANNOTATION]
  const isPlaced = tree !== undefined || !isPlacedKind || isObject(said['kubeConfig'])
  const placed = isPlaced || annotations[PLACEMENT_ANNOTATION] !== undefined
  const plan = parent.metadata.annotations?.[PLAN_ANNOTATION]
  const account = parent.spec['serviceAccountName']
  const own: Record<string, string> = compact({
    [PLACEMENT_ANNOTATION]: !placed && 'placement' in target ? target.placement : undefined,
    [PLAN_ANNOTATION]: isPlacedKind && plan ? plan : undefined,
    [CLUSTER_TREE_ANNOTATION]: tree,
    [NESTED_FROM]: from,
  })
  const spec = {
    ...said,
    ...compact({
      kubeConfig: !placed && 'cluster' in target ? parent.spec['kubeConfig'] : undefined,
      serviceAccountName: isPlacedKind && account ? account : undefined,
    }),
  }
  const all = { ...annotations, ...own, [NESTED_IN]: name }
  const labels = { ...metadata.labels }
  return {
    kind,
    object: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        name: metadata.name,
        namespace,
        labels,
        annotations: { ...all, [COMPILED]: digestOfJson({ spec, labels, annotations: all }) },
      },
      spec,
    },
  }
}

/** Whether objects of a kind are delivered to clusters. */
function isWorkload({ kind }: Kind): boolean {
  return kind === Kustomization.kind || kind === HelmRelease.kind
}

/** An object in the namespace of the outer Kustomization, with the names that its neighbours have there. */
function inNamespace(object: UnknownObject, own: string): UnknownObject {
  const { metadata, spec } = object
  const from = metadata.namespace ?? own
  const named = isObject(spec) ? withReferences(spec, from, own) : spec
  return { ...object, metadata: { ...metadata, name: nameInNamespace(metadata, own), namespace: own }, spec: named }
}

/** The name of a nested object: all stay in the namespace of the outer Kustomization. */
function nameInNamespace({ name, namespace }: UnknownObject['metadata'], own: string): string {
  return namespace === undefined || namespace === own ? name : `${namespace}.${name}`
}

/** The spec of an object of another namespace, with references to what its neighbours are called on the hub. */
function withReferences(spec: JsonObject, from: string, own: string): JsonObject {
  const renamed = (value: unknown): unknown => {
    if (!isObject(value) || typeof value['name'] !== 'string') return value
    const { namespace: said, ...reference } = value
    const namespace = typeof said === 'string' && said !== '' ? said : from
    if (namespace === own && from === own) return value
    return { ...reference, name: nameInNamespace({ name: value['name'], namespace }, own) }
  }
  const changed: JsonObject = { ...spec }
  for (const field of ['sourceRef', 'chartRef']) if (field in spec) changed[field] = renamed(spec[field])
  if (Array.isArray(spec['dependsOn'])) changed['dependsOn'] = spec['dependsOn'].map(renamed)
  const { chart } = spec
  if (isObject(chart) && isObject(chart['spec'])) {
    changed['chart'] = { ...chart, spec: { ...chart['spec'], sourceRef: renamed(chart['spec']['sourceRef']) } }
  }
  return changed
}
