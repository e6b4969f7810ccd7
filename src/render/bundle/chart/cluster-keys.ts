/** Which keys of ConfigMaps and Secrets of the cluster a recipe names. */
import type { ClusterValues, LayerOptions } from '../recipe.ts'

/** The key that is read unless another one is named. */
export const VALUES_KEY = 'values.yaml'

/** A key of an object in the cluster. */
export interface ClusterKey {
  readonly kind: ClusterValues['kind']
  readonly namespace: string
  readonly name: string
  readonly key: string
  readonly isOptional: boolean
}

/** The namespace that templates see as the release's. */
export function releaseNamespace({ targetNamespace, defaultNamespace }: LayerOptions): string {
  return targetNamespace ?? defaultNamespace ?? 'default'
}

/** What `helm.valuesFrom` names, in order. */
export function clusterKeys(options: LayerOptions): ClusterKey[] {
  return (options.helm?.valuesFrom ?? []).map(({ kind, name, namespace, key, optional }) => ({
    kind,
    namespace: namespace ?? releaseNamespace(options),
    name,
    key: key ?? VALUES_KEY,
    isOptional: optional === true,
  }))
}

/** A key, for people. */
export function describeKey({ kind, namespace, name, key }: ClusterKey): string {
  return `key ${key} of ${kind} ${namespace}/${name}`
}
