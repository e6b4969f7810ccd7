/** Keys of ConfigMaps and Secrets of the cluster that a recipe names. */
import type { ClusterValues, LayerOptions } from '../recipe.ts'

/** The key that is read when the reference names none. */
export const VALUES_KEY = 'values.yaml'

/** A key of an object in the cluster. */
export interface ClusterKey {
  readonly kind: ClusterValues['kind']
  readonly namespace: string
  readonly name: string
  readonly key: string
  readonly isOptional: boolean
}

/** The namespace that templates see as `.Release.Namespace`. */
export function releaseNamespace({ helm, targetNamespace, defaultNamespace }: LayerOptions): string {
  return helm?.namespace ?? targetNamespace ?? defaultNamespace ?? 'default'
}

/** The references of `helm.valuesFrom`, in order. */
export function clusterKeys(options: LayerOptions): ClusterKey[] {
  return (options.helm?.valuesFrom ?? []).map(({ kind, name, namespace, key, optional }) => ({
    kind,
    namespace: namespace ?? releaseNamespace(options),
    name,
    key: key ?? VALUES_KEY,
    isOptional: optional === true,
  }))
}

/** A key as text for messages. */
export function describeKey({ kind, namespace, name, key }: ClusterKey): string {
  return `key ${key} of ${kind} ${namespace}/${name}`
}
