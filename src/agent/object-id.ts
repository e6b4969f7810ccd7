/** How the agent names an object of the cluster, in inventories and in messages. */

/** An object by group, kind, namespace and name; the version is not part of who it is. */
export interface ObjectId {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

/** Equal for the same object, whatever version of its API it was written in. */
export function objectKey({ apiVersion, kind, namespace = '', name }: ObjectId): string {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : ''
  return `${group}/${kind}/${namespace}/${name}`
}

/** For people: `Deployment default/web`. */
export function describeObject({ kind, namespace, name }: ObjectId): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`
}
