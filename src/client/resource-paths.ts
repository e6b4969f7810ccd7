import { ApiError } from '../core/errors.ts'
import { apiVersionOf } from '../kinds/meta.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../kinds/meta.ts'

/** Query parameters; undefined parameters are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** The path of a kind's collection, in one namespace or across all. */
export function collectionPath(type: ResourceType<KubeObject>, namespace?: string): string {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${apiVersionOf(type)}`
  if (namespace === undefined || namespace === '') return `${root}/${type.plural}`
  return `${root}/namespaces/${segment(type, 'namespace', namespace)}/${type.plural}`
}

/** The path of an object, or of a part of it. */
export function objectPath(type: ResourceType<KubeObject>, key: ObjectKey, subresource?: string): string {
  const collection = collectionPath(type, namespaceOf(type, key))
  const path = `${collection}/${segment(type, 'name', key.name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

/** The collection an object is created in. */
export function creationPath(type: ResourceType<KubeObject>, key: ObjectKey): string {
  return collectionPath(type, namespaceOf(type, key))
}

/** A path with its query. */
export function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`],
  )
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
}

function namespaceOf(type: ResourceType<KubeObject>, key: ObjectKey): string | undefined {
  if (type.scope === 'Cluster') return undefined
  if (!key.namespace) {
    throw new ApiError(
      'BadRequest',
      `${type.kind} ${JSON.stringify(key.name)} has no namespace: say which one it is in`,
    )
  }
  return key.namespace
}

// A name that is no path segment would silently address something else: a collection, a parent, another object's part.
function segment(type: ResourceType<KubeObject>, what: string, text: string): string {
  if (text === '' || text === '.' || text === '..' || /[/%]/.test(text)) {
    throw new ApiError(
      'BadRequest',
      `${JSON.stringify(text)} cannot be the ${what} of a ${type.kind}: it must not be empty, "." or "..", nor contain "/" or "%"`,
    )
  }
  return encodeURIComponent(text)
}
