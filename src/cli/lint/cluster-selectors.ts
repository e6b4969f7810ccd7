import { isObject } from '../../core/json.ts'
import type { LabelSelector } from '../../core/text/label-selector.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { FieldPath } from '../../plan/objects/managed-fields.ts'

const FIELDS: ReadonlySet<string> = new Set(['clusterSelector', 'labelSelector', 'selector'])

/** The cluster selectors of a Flotilla object, with their places. */
export function selectorsIn(object: UnknownObject): { readonly place: FieldPath; readonly selector: LabelSelector }[] {
  const found: { place: FieldPath; selector: LabelSelector }[] = []
  const walk = (value: unknown, place: FieldPath): void => {
    if (Array.isArray(value)) for (const [index, item] of value.entries()) walk(item, [...place, index])
    else if (isObject(value)) {
      for (const [field, item] of Object.entries(value)) {
        if (FIELDS.has(field) && isObject(item) && ('matchLabels' in item || 'matchExpressions' in item)) {
          found.push({ place: [...place, field], selector: item })
        } else if (field !== 'helm' && field !== 'patches') walk(item, [...place, field])
      }
    }
  }
  walk(object['spec'], ['spec'])
  return found
}

/** The cluster names in variants of a Bundle, or in an Override. */
export function clusterNamesIn(object: UnknownObject): { readonly place: FieldPath; readonly name: string }[] {
  const { spec } = object
  if (!isObject(spec)) return []
  const variants = object.kind === 'Bundle' && Array.isArray(spec['variants']) ? (spec['variants'] as unknown[]) : []
  const layers = object.kind === 'Override' ? [{ layer: spec, place: ['spec'] as FieldPath }] : []
  const all = [...layers, ...variants.map((layer, index) => ({ layer, place: ['spec', 'variants', index] }))]
  return all.flatMap(({ layer, place }) => {
    const names = isObject(layer) && Array.isArray(layer['clusters']) ? (layer['clusters'] as unknown[]) : []
    return names.flatMap((name, index) =>
      typeof name === 'string' ? [{ place: [...place, 'clusters', index], name }] : [],
    )
  })
}
