/** How an object of a cluster is named, in inventories, decisions and messages. */
import { matchesGlob } from '../../core/text/glob.ts'
import type { ObjectSelector } from '../../kinds/fields/bundle-options.ts'

/** An object by group, kind, namespace and name; the version is not part of who it is. */
export interface ObjectId {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

/** Equal for the same object, whatever version of its API it was written in. */
export function objectKey(id: ObjectId): string {
  return `${groupOf(id)}/${id.kind}/${id.namespace ?? ''}/${id.name}`
}

/** For people: `Deployment default/web`. */
export function describeObject({ kind, namespace, name }: ObjectId): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`
}

/** The API group; empty for the core one. */
export function groupOf({ apiVersion }: Pick<ObjectId, 'apiVersion'>): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}

/** Whether a rule selects an object; an absent field selects all. */
export function selects(rule: ObjectSelector, id: ObjectId): boolean {
  return (
    (rule.group === undefined || matchesGlob(rule.group, groupOf(id))) &&
    (rule.kind === undefined || matchesGlob(rule.kind, id.kind)) &&
    (rule.namespace === undefined || matchesGlob(rule.namespace, id.namespace ?? '')) &&
    (rule.name === undefined || matchesGlob(rule.name, id.name))
  )
}
