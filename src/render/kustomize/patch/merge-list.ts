/** Lists merged by key: which item of the patch belongs to which item of the list, and where it goes. */
import type { MergeSchema } from './merge-schema.ts'
import { expectKind, fieldOf, getField, isNull, isNullOrEmpty, plainScalar, setField } from '../nodes/node.ts'
import type { YamlNode } from '../nodes/node.ts'
import { applyDirective } from './merge-directive.ts'
import type { MergeContext, MergeOperands } from './merge-directive.ts'
import { makeNode } from '../../../yaml/node.ts'

/** Merges two lists whose items have keys, or are plain values. */
export function mergeList(sides: MergeOperands, schema: MergeSchema, context: MergeContext): YamlNode | undefined {
  const target = startList(sides)
  if (!target) return undefined
  sides.target = target
  const { keys } = schema
  const values = keys.length > 0 ? keyValues(sides, keys, context) : []
  if (values.length > 0 || keys.length > 0) return mergeItems({ sides, schema, context, values, keys })
  return mergeItems({ sides, schema, context, values: plainValues(sides, context), keys: [''] })
}

function startList({ target, patch }: MergeOperands): YamlNode | undefined {
  if (target && patch && target.kind !== 'scalar' && target.content.length === 0) target.style = patch.style
  if (isNull(target)) return patch
  return applyDirective({ target, patch })
}

function inOrder({ target, patch }: MergeOperands, context: MergeContext): YamlNode[] {
  const nodes = context.prepend ? [patch, target] : [target, patch]
  return nodes.filter((node) => node !== undefined)
}

function keyValues(sides: MergeOperands, keys: readonly string[], context: MergeContext): string[][] {
  const seen = new Set<string>()
  const result: string[][] = []
  for (const node of inOrder(sides, context)) {
    for (const item of node.content) {
      const values = keys.map((key) => {
        const field = fieldOf(item, key)
        return isNullOrEmpty(field) ? '' : field!.value
      })
      const id = JSON.stringify(values)
      if (seen.has(id)) continue
      seen.add(id)
      result.push(values)
    }
  }
  return result
}

function plainValues(sides: MergeOperands, context: MergeContext): string[][] {
  const items = inOrder(sides, context).flatMap((node) => node.content)
  return [...new Set(items.map((item) => item.value))].map((value) => [value])
}

interface ItemsInput {
  readonly sides: MergeOperands
  readonly schema: MergeSchema
  readonly context: MergeContext
  readonly values: readonly string[][]
  readonly keys: readonly string[]
}

function mergeItems({ sides, schema, context, values: given, keys }: ItemsInput): YamlNode | undefined {
  let target = sides.target!
  const added = makeNode('sequence')
  const elements = schema.elements()
  const values = keys.length > 1 ? joinPartial(given) : given
  let used: KeyValues = { keys: [], values: [] }
  for (const item of values) {
    if (item.length === 0) continue
    used = meaningfulKeys(values, item, keys)
    const merged = context.mergeNodes(
      { target: findItem(target, used), patch: findItem(sides.patch, used) },
      elements,
      context,
    )
    if (isNull(merged) || isEmptyMapping(merged)) {
      for (let i = 0; i < used.keys.length; i++) setItem(target, used, undefined)
      if (used.keys.length > 0) continue
    }
    for (const [i, key] of used.keys.entries()) {
      if (merged && fieldOf(merged, key) === undefined && used.values[i] !== '' && key !== '') {
        setField(merged, key, plainScalar(used.values[i]!))
      }
    }
    setItem(added, used, merged)
  }
  if (values.length > 0) {
    target = context.prepend ? appendItems(added, target, used.keys) : appendItems(target, added, used.keys)
  }
  return isNull(target) ? undefined : target
}

function isEmptyMapping(node: YamlNode | undefined): boolean {
  return node?.kind === 'mapping' && node.content.length === 0
}

interface KeyValues {
  readonly keys: readonly string[]
  readonly values: readonly string[]
}

// A key that no item has is left out; without any, all stay.
function meaningfulKeys(
  all: readonly (readonly string[])[],
  values: readonly string[],
  keys: readonly string[],
): KeyValues {
  const present = new Set<string>()
  for (const item of all) for (const [i, value] of item.entries()) if (value !== '') present.add(keys[i]!)
  if (present.size === 0) return { keys, values }
  return {
    keys: keys.filter((key) => present.has(key)),
    values: values.filter((value, i) => value !== '' || present.has(keys[i]!)),
  }
}

// Values that agree in their common keys are merged: `80` and `80, TCP`.
function joinPartial(all: readonly string[][]): string[][] {
  const list = all.map((values) => values)
  for (let i = 0; i < list.length; i++) {
    // Changes of this round are visible from the next round on.
    const first = list[i]!
    for (let j = 0; j < list.length; j++) {
      const joined = joinPair(first, list[j]!)
      if (!joined) continue
      list[i] = joined
      list[j] = joined
    }
  }
  return list
}

function joinPair(a: readonly string[], b: readonly string[]): string[] | undefined {
  if (a.length !== b.length) return undefined
  let common = false
  const result: string[] = []
  for (const [i, value] of a.entries()) {
    const other = b[i]!
    if (value === other) {
      common = true
      result.push(value)
    } else if (value !== '' && other !== '') return undefined
    else result.push(value === '' ? other : value)
  }
  return common ? result : undefined
}

function findItem(list: YamlNode | undefined, used: KeyValues): YamlNode | undefined {
  if (list === undefined || list.kind !== 'sequence') return undefined
  const { keys, values } = meaningfulKeys([used.values], used.values, used.keys)
  if (keys.length === 0 || keys[0] === '') return list.content.find((item) => item.value === (values[0] ?? ''))
  return list.content.find(
    (item) => item.kind === 'mapping' && keys.every((key, i) => fieldOf(item, key)?.value === values[i]),
  )
}

// Replaces the items with these keys, removes them, or appends when there are none.
function setItem(list: YamlNode, { keys: givenKeys, values }: KeyValues, element: YamlNode | undefined): void {
  const keys = givenKeys.length === 0 ? [''] : givenKeys
  expectKind(list, 'sequence')
  const forMappings = keys[0] !== '' && values.length > 0 && values[0] !== ''
  const content: YamlNode[] = []
  let found = false
  for (const item of list.content) {
    if (isNull(item) || isEmptyMapping(item)) continue
    if (item.kind !== 'mapping' && forMappings) {
      content.push(item)
      continue
    }
    if (!matchesKeys(item, keys, values)) {
      if (values.length > 0) content.push(item)
      continue
    }
    found = true
    if (element) content.push(element)
  }
  list.content = content
  if (element && !isNull(element) && !found) list.content.push(element)
}

function matchesKeys(item: YamlNode, keys: readonly string[], values: readonly string[]): boolean {
  let last: YamlNode | undefined
  for (const [i, key] of keys.entries()) {
    if (i < values.length) last = matchField(item, key, values[i]!)
    if (last === undefined) return false
  }
  return true
}

// An empty value matches whatever a field holds.
function matchField(item: YamlNode, key: string, value: string): YamlNode | undefined {
  if (key === '') {
    expectKind(item, 'scalar')
    return item.value === value ? item : undefined
  }
  const field = getField(item, key)
  return field && (value === '' || field.value === value) ? field : undefined
}

function appendItems(target: YamlNode, source: YamlNode, keys: readonly string[]): YamlNode {
  for (const item of source.content) {
    if (keys[0] === '' || keys.length === 0) {
      setItem(target, { keys: [''], values: [item.value] }, item)
      continue
    }
    const values: string[] = []
    for (const key of keys) {
      const field = getField(item, key)
      if (field === undefined) target.content.push(item)
      else values.push(field.value)
    }
    if (keys.length > 1) setItem(target, { keys, values }, undefined)
    setItem(target, { keys, values }, item)
  }
  return target
}
