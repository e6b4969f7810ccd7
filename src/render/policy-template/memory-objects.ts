/** Objects in memory as templates read them. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { labelsOf } from './cluster-lookup.ts'
import type { TemplateObjects } from './cluster-lookup.ts'

/** A kind that is served. */
export interface MemoryKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
}

/** Serves objects of the given kinds; lists are in the order of namespace and name. */
export function memoryObjects(kinds: readonly MemoryKind[], objects: readonly JsonObject[]): TemplateObjects {
  const served = new Map(
    kinds.map((kind) => [`${kind.group === '' ? '' : `${kind.group}/`}${kind.version} ${kind.kind}`, kind]),
  )
  const fieldOf = (object: JsonObject, field: 'name' | 'namespace'): string => {
    const value = isObject(object['metadata']) ? object['metadata'][field] : undefined
    return typeof value === 'string' ? value : ''
  }
  const ofKind = (apiVersion: string, kind: string): JsonObject[] =>
    objects.filter((object) => object['apiVersion'] === apiVersion && object['kind'] === kind)
  const keyOf = (object: JsonObject): string => `${fieldOf(object, 'namespace')}\u0000${fieldOf(object, 'name')}`
  return {
    resourceOf: ({ apiVersion, kind }) => {
      const found = served.get(`${apiVersion} ${kind}`)
      return found && { group: found.group, resource: found.plural, namespaced: found.namespaced }
    },
    get: ({ apiVersion, kind, namespace, name }) =>
      ofKind(apiVersion, kind).find(
        (object) => fieldOf(object, 'name') === name && fieldOf(object, 'namespace') === namespace,
      ),
    list: ({ apiVersion, kind, namespace, labels }) =>
      ofKind(apiVersion, kind)
        .filter((object) => namespace === '' || fieldOf(object, 'namespace') === namespace)
        .filter((object) => labels.matches(labelsOf(object)))
        .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
  }
}
