import { isObject } from '../../core/json.ts'
import { atomOf, atomKind, itemElement, ListProblem } from './atoms.ts'
import type { ListAtom, MapAtom, TypeRef } from './atoms.ts'
import type { PathElement } from './field-set.ts'

/** Merges a configuration into a live value: what it names is set, what it does not name stays. */
export function merge(live: unknown, config: unknown, type: TypeRef): unknown {
  if (live === undefined && config === undefined) return undefined
  const atom = atomOf(type)
  const liveForm = atomKind(atom, live)
  const configForm = atomKind(atom, config)
  const form = config === undefined ? liveForm : configForm
  switch (form) {
    case 'map':
      return mergeMap(live, config, atom.map!)
    case 'list':
      return mergeList(live, config, atom.list!)
    case 'scalar':
      return mergeLeaf(live, config)
  }
}

function mergeLeaf(live: unknown, config: unknown): unknown {
  return config === undefined ? live : config
}

function mergeMap(live: unknown, config: unknown, map: MapAtom): unknown {
  const left = isObject(live) ? live : {}
  const right = isObject(config) ? config : {}
  const fields = new Set([...Object.keys(left), ...Object.keys(right)])
  if (map.isAtomic || fields.size === 0) return mergeLeaf(live, config)
  const result: Record<string, unknown> = {}
  for (const field of fields) {
    const value = merge(
      Object.hasOwn(left, field) ? left[field] : undefined,
      Object.hasOwn(right, field) ? right[field] : undefined,
      map.fieldType(field),
    )
    if (value !== undefined) result[field] = value
  }
  return result
}

function mergeList(live: unknown, config: unknown, list: ListAtom): unknown {
  const left: unknown[] = Array.isArray(live) ? live : []
  const right: unknown[] = Array.isArray(config) ? config : []
  if (list.isAtomic || left.length + right.length === 0) return mergeLeaf(live, config)
  const merged = mergeItems(indexItems(list, left, true), indexItems(list, right, false), left, list)
  return merged.length > 0 ? merged : undefined
}

interface Indexed {
  readonly order: readonly PathElement[]
  /** The item of an element; null for items that come more than once in a live list. */
  readonly items: ReadonlyMap<PathElement, unknown>
}

function indexItems(list: ListAtom, values: readonly unknown[], allowDuplicates: boolean): Indexed {
  const order: PathElement[] = []
  const items = new Map<PathElement, unknown>()
  for (const value of values) {
    const element = itemElement(list, value)
    if (items.has(element) && !allowDuplicates) throw new ListProblem(`duplicate entries for key ${element.slice(2)}`)
    items.set(element, items.has(element) ? null : value)
    order.push(element)
  }
  return { order, items }
}

/**
 * The order of structured-merge-diff: the configuration's own order wins among its items, live items that it does not
 * name keep their place relative to their neighbours.
 */
function mergeItems(left: Indexed, right: Indexed, leftValues: readonly unknown[], list: ListAtom): unknown[] {
  const out: unknown[] = []
  const shared = right.order.filter((element) => left.items.has(element))
  const merged = new Set<PathElement>()
  const push = (live: unknown, config: unknown) => {
    const value = merge(live, config, list.element)
    if (value !== undefined) out.push(value)
  }
  let l = 0
  let r = 0
  while (l < left.order.length || r < right.order.length) {
    const leftElement = left.order[l]
    const rightElement = right.order[r]
    if (leftElement !== undefined && rightElement !== undefined) {
      if (leftElement === rightElement) {
        merged.add(leftElement)
        push(left.items.get(leftElement), right.items.get(leftElement))
        l += 1
        r += 1
        shared.shift()
        continue
      }
      if (right.items.has(leftElement) && shared.length > 0 && shared[0] !== leftElement) {
        l += 1
        continue
      }
    }
    if (leftElement !== undefined) {
      if (!right.items.has(leftElement)) {
        push(leftValues[l], undefined)
        l += 1
        continue
      }
      if (merged.has(leftElement)) l += 1
    }
    if (rightElement !== undefined) {
      merged.add(rightElement)
      push(left.items.get(rightElement), right.items.get(rightElement))
      r += 1
      if (shared[0] === rightElement) shared.shift()
    }
  }
  return out
}
