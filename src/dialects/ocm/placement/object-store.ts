// Tested by src/dialects/ocm/recorded.contract.test.ts: recorded answers of Open Cluster Management.
/** The objects of an offline Placement, by kind and name, checked and defaulted as the CRDs would. */
import { isObject, jsonClone } from '../../../core/json.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { defaultObject, pruneObject, validateObject } from '../../../kinds/validation/validate-object.ts'
import { OCM_CLUSTER_GROUP, OCM_PLACEMENT_KINDS } from '../kinds.ts'
import type {
  AddOnPlacementScore,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  OcmPlacement,
  OcmPlacementDecision,
} from '../kinds.ts'

/** The objects that a Placement reads, and its pages. */
export interface PlacementObjects {
  clusters(): readonly ManagedCluster[]
  sets(): readonly ManagedClusterSet[]
  bindingsIn(namespace: string): readonly ManagedClusterSetBinding[]
  pages(): readonly OcmPlacementDecision[]
  scoresByCluster(): ReadonlyMap<string, readonly AddOnPlacementScore[]>
  replacePages(before: readonly OcmPlacementDecision[], after: readonly OcmPlacementDecision[]): void
}

/** The objects of files. */
export interface OcmObjects extends PlacementObjects {
  /** Adds or replaces an object. Objects of other API groups have no effect. */
  apply(object: unknown): void
  /** Removes an object by `Kind/name` or `Kind/namespace/name`. */
  delete(key: string): void
  placements(): readonly OcmPlacement[]
  placement(key: string): OcmPlacement | undefined
}

/** An object that Open Cluster Management's API would refuse. */
export class RefusedObject extends Error {
  override readonly name = 'RefusedObject'
}

export function createOcmObjects(): OcmObjects {
  const byKey = new Map<string, KubeObject>()
  const all = <T extends KubeObject>(kind: string): T[] =>
    [...byKey.values()].filter((object): object is T => object.kind === kind)
  return {
    apply: (object) => {
      const admitted = admit(object)
      if (admitted) byKey.set(keyOf(admitted), admitted)
    },
    delete: (key) => void byKey.delete(key),
    clusters: () => all<ManagedCluster>('ManagedCluster'),
    sets: () => all<ManagedClusterSet>('ManagedClusterSet'),
    bindingsIn: (namespace) =>
      all<ManagedClusterSetBinding>('ManagedClusterSetBinding').filter(
        ({ metadata }) => metadata.namespace === namespace,
      ),
    placements: () => all<OcmPlacement>('Placement'),
    placement: (key) => byKey.get(`Placement/${key}`),
    pages: () => all<OcmPlacementDecision>('PlacementDecision'),
    scoresByCluster: () => groupByNamespace(all<AddOnPlacementScore>('AddOnPlacementScore')),
    replacePages: (before, after) => {
      for (const page of before) byKey.delete(keyOf(page))
      for (const page of after) byKey.set(keyOf(page), page)
    },
  }
}

/** Objects by their namespace, which is the name of a cluster. */
export function groupByNamespace<T extends KubeObject>(objects: readonly T[]): ReadonlyMap<string, readonly T[]> {
  return Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '')
}

function keyOf({ kind, metadata }: KubeObject): string {
  return metadata.namespace === undefined
    ? `${kind}/${metadata.name}`
    : `${kind}/${metadata.namespace}/${metadata.name}`
}

function admit(raw: unknown): KubeObject | undefined {
  if (!isObject(raw) || typeof raw['apiVersion'] !== 'string') return undefined
  const [group, version] = raw['apiVersion'].split('/')
  const kind = OCM_PLACEMENT_KINDS.find(({ kind: name }) => name === raw['kind'])
  if (group !== OCM_CLUSTER_GROUP || version === undefined || !kind) return undefined
  const object = jsonClone(raw) as unknown as KubeObject
  // Older versions have the same fields, as far as Placements read them.
  object.apiVersion = `${kind.group}/${kind.version}`
  pruneObject(kind, object)
  defaultObject(kind, object)
  const [problem] = validateObject(kind, object)
  if (problem) throw new RefusedObject(`${kind.kind} ${object.metadata.name}: ${problem.field}: ${problem.message}`)
  return object
}
