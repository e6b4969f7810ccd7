/** Vars: `$(NAME)` replaced by a field of some object. */
import { visitField } from './field-spec.ts'
import type { FieldSpec } from './field-spec.ts'
import type { Var } from '../kustomization.ts'
import { KustomizeError } from '../kustomize-error.ts'
import { isNull, isStringNode, lookup, splitFieldPath } from '../nodes/node.ts'
import type { YamlNode } from '../nodes/node.ts'
import { plainValue } from '../nodes/plain-value.ts'
import type { Resource } from '../resources/resource.ts'
import type { ResourceMap } from '../resources/resource-map.ts'
import { gvkText, parseApiVersion, sameGvk, sameId } from '../resources/resource-id.ts'
import type { ResourceId } from '../resources/resource-id.ts'

/** Vars by name. */
export type VarSet = Map<string, Var>

/** Adds vars, and notes in the objects which vars they feed. */
export function addVars(set: VarSet, vars: readonly Var[], map: ResourceMap): void {
  for (const item of vars) {
    const id = varTarget(item)
    const matches =
      id.namespace === ''
        ? (other: ResourceId): boolean => other.name === id.name && sameGvk(other, id)
        : (other: ResourceId): boolean => sameId(id, other)
    const found = map.byAnyId(matches)
    if (found.length > 1) {
      throw new KustomizeError(`found ${found.length} resId matches for var ${varText(item)} (unable to disambiguate)`)
    }
    found[0]?.varNames.push(item.name ?? '')
  }
  mergeVars(set, vars)
}

/** Adds vars; a name may be used once. */
export function mergeVars(set: VarSet, vars: Iterable<Var>): void {
  for (const item of vars) {
    const name = item.name ?? ''
    if (set.has(name)) throw new KustomizeError(`var '${name}' already encountered`)
    set.set(name, item)
  }
}

function varTarget({ objref = {} }: Var): ResourceId {
  const { apiVersion = '', kind = '', name = '', namespace = '' } = objref
  const { group = '', version = '' } = objref
  const parsed = apiVersion === '' ? { group, version } : parseApiVersion(apiVersion)
  return { ...parsed, kind, name, namespace, clusterScoped: false }
}

function varText(item: Var): string {
  return `{${item.name ?? ''} ${gvkText(varTarget(item))} {${item.fieldref?.fieldPath || 'metadata.name'}}}`
}

/** Replaces all vars; returns the names of unused vars. */
export function resolveVars(resources: readonly Resource[], set: VarSet, specs: readonly FieldSpec[]): string[] {
  if (set.size === 0) return []
  const values = new Map<string, unknown>()
  for (const name of [...set.keys()].sort()) values.set(name, varValue(resources, set.get(name)!))
  const used = new Set<string>()
  const replace = (node: YamlNode): void => {
    if (isStringNode(node)) update(node, expand(node.value, values, used))
  }
  for (const { node } of resources)
    for (const spec of specs) visitField(node!, spec, { set: (at) => visit(at, replace) })
  return [...values.keys()].filter((name) => !used.has(name))
}

function varValue(resources: readonly Resource[], item: Var): unknown {
  const owner = resources.find((resource) => resource.varNames.includes(item.name ?? ''))
  if (!owner) {
    throw new KustomizeError(`var '${varText(item)}' cannot be mapped to a field in the set of known resources`)
  }
  try {
    const value = fieldValue(owner, item.fieldref?.fieldPath || 'metadata.name')
    if (value !== undefined) return value
  } catch {
    // told below
  }
  throw new KustomizeError(`field specified in var '${varText(item)}' not found in corresponding resource`)
}

function fieldValue(resource: Resource, path: string): unknown {
  const parts = splitFieldPath(path).flatMap((part) => {
    const match = /^(.*)\[(\d+)\]$/.exec(part)
    return match ? [match[1]!, match[2]!].filter((piece) => piece !== '') : [part]
  })
  const node = lookup(resource.node, parts)
  if (!node) return undefined
  if (node.kind !== 'scalar') return plainValue(node)
  switch (node.tag) {
    case '!!int':
      if (!/^[+-]?\d+$/.test(node.value)) throw new KustomizeError('invalid syntax')
      return BigInt(node.value)
    case '!!float':
      return Number(node.value)
    case '!!bool':
      if (!/^(1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$/.test(node.value))
        throw new KustomizeError('invalid syntax')
      return /^[1tT]/.test(node.value)
    default:
      return node.value
  }
}

function visit(node: YamlNode, replace: (node: YamlNode) => void): void {
  if (isNull(node)) return
  const { kind, content } = node
  if (kind === 'scalar') replace(node)
  else if (kind === 'mapping') {
    for (let i = 0; i < content.length; i += 2) {
      const key = content[i]!
      if (!isStringNode(key)) {
        throw new KustomizeError(`invalid map key: value='${key.value}', tag='${key.tag}'`)
      }
      if (isStringNode(content[i + 1]!)) replace(content[i + 1]!)
    }
  } else if (kind === 'sequence') {
    for (const item of content) {
      if (!isStringNode(item)) throw new KustomizeError('invalid value type expect a string')
      replace(item)
    }
  } else throw new KustomizeError('invalid type encountered')
}

function update(node: YamlNode, value: unknown): void {
  node.style = 0
  if (typeof value === 'bigint') {
    node.value = String(value)
    node.tag = '!!int'
  } else if (typeof value === 'number') {
    node.value = plainDecimal(value)
    node.tag = '!!float'
  } else {
    node.value = String(value)
    node.tag = typeof value === 'boolean' ? '!!bool' : '!!str'
  }
}

// Without an exponent, however long it gets.
function plainDecimal(value: number): string {
  const text = String(value)
  return text.includes('e') ? value.toFixed(20).replace(/\.?0+$/, '') : text
}

function isScalar(value: unknown): value is string | number | bigint | boolean {
  return value !== undefined && typeof value !== 'object'
}

// `$$` is a dollar sign, `$(NAME)` a var; unknown vars stay.
function expand(input: string, values: ReadonlyMap<string, unknown>, used: Set<string>): unknown {
  let result = ''
  let i = 0
  while (i < input.length) {
    const char = input[i]!
    if (char !== '$' || i + 1 >= input.length) {
      result += char
      i++
      continue
    }
    const next = input[i + 1]!
    const close = next === '(' ? input.indexOf(')', i + 2) : -1
    if (close < 0) {
      result += next === '$' ? '$' : `$${next}`
      i += 2
      continue
    }
    const name = input.slice(i + 2, close)
    const value = values.get(name)
    const isPlain = isScalar(value)
    if (isPlain) used.add(name)
    const mapped = isPlain ? value : `$(${name})`
    if (input === `$(${name})`) return mapped
    result += String(mapped)
    i = close + 1
  }
  return result
}
