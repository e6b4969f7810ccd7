/**
 * The basic operations on trees. They follow kyaml step by step, also where it shares nodes: a value set in two places
 * is a single node, and a later change in either place shows in both.
 */
import { DOUBLE_QUOTED, LITERAL, PLAIN, makeNode } from '../../../yaml/node.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { writeNode } from '../../../yaml/write/write-yaml.ts'
import type { NodeKind, YamlNode } from '../../../yaml/node.ts'
import { KustomizeError, NodeKindError } from '../kustomize-error.ts'

export type { NodeKind, YamlNode }

export const NULL_TAG = '!!null'
const STRING_TAG = '!!str'

/** Whether there is no node, or an explicit null. */
export function isNull(node: YamlNode | undefined): node is undefined {
  return node === undefined || node.tag === NULL_TAG
}

/** Whether there is nothing in a node: null, or an empty collection. */
export function isNullOrEmpty(node: YamlNode | undefined): boolean {
  return isNull(node) || (node.kind !== 'scalar' && node.content.length === 0)
}

/** Whether a scalar is taken for a string. */
export function isStringNode(node: YamlNode): boolean {
  return node.kind === 'scalar' && (node.tag === STRING_TAG || node.tag === '')
}

/** The text of a scalar; of nulls and of nothing the empty string. */
export function textOf(node: YamlNode | undefined): string {
  return isNull(node) ? '' : node.value
}

/** A scalar whose text decides what it is. */
export function plainScalar(value: string, tag = ''): YamlNode {
  return makeNode('scalar', { value, tag })
}

/** A scalar that is a string. */
export function stringScalar(value: string): YamlNode {
  return makeNode('scalar', { value, tag: STRING_TAG, style: value.includes('\n') ? LITERAL : PLAIN })
}

/** A distinct copy of a tree. */
export function copyNode(node: YamlNode): YamlNode {
  return { ...node, content: node.content.map(copyNode) }
}

/** Replaces the content of a node in place: all holders of the node see the change. */
export function assignNode(target: YamlNode, source: YamlNode): void {
  if (target !== source) Object.assign(target, source, { content: [...source.content] })
}

const KIND_NAMES: Readonly<Record<NodeKind, string>> = {
  document: 'DocumentNode',
  sequence: 'SequenceNode',
  mapping: 'MappingNode',
  scalar: 'ScalarNode',
  alias: 'AliasNode',
}

/** Throws unless a node is of a kind; nothing and null are of every kind. */
export function expectKind(node: YamlNode | undefined, kind: NodeKind): void {
  if (isNull(node)) return
  const { kind: actual } = node
  if (actual === kind) return
  const text = nodeText(node)
  throw new NodeKindError(
    `wrong node kind: expected ${KIND_NAMES[kind]} but got ${KIND_NAMES[actual]}: node contents:\n${text}`,
    actual,
  )
}

/** The YAML text of a tree. */
export function nodeText(node: YamlNode): string {
  return writeNode(node)
}

/** The value of a field, without looking at the kind of the node. */
export function fieldOf(node: YamlNode | undefined, name: string): YamlNode | undefined {
  if (node?.kind !== 'mapping') return undefined
  return rawField(node, name)
}

function rawField(node: YamlNode, name: string): YamlNode | undefined {
  const { content } = node
  for (let i = 0; i < content.length; i += 2) if (content[i]!.value === name) return content[i + 1]
  return undefined
}

/** The value of a field; a node that is no mapping is an error. */
export function getField(node: YamlNode | undefined, name: string): YamlNode | undefined {
  if (isNull(node)) return undefined
  expectKind(node, 'mapping')
  return rawField(node, name)
}

/** The names of all fields, in their order. */
export function fieldNames(node: YamlNode | undefined): string[] {
  expectKind(node, 'mapping')
  const names: string[] = []
  const content = node?.content ?? []
  for (let i = 0; i < content.length; i += 2) names.push(content[i]!.value)
  return names
}

/** Removes the first field of a name; with `ifEmpty` only a field without content. */
export function clearField(node: YamlNode | undefined, name: string, ifEmpty = false): void {
  expectKind(node, 'mapping')
  if (!node) return
  const { content } = node
  for (let i = 0; i < content.length; i += 2) {
    if (content[i]!.value !== name) continue
    if (ifEmpty && content[i + 1]!.content.length > 0) continue
    node.content = [...content.slice(0, i), ...content.slice(i + 2)]
    return
  }
}

/** What else `setField` may be told. */
export interface SetFieldOptions {
  /** Keeps a null instead of removing the field. */
  readonly keepNull?: boolean
  /** The style of the key when it is added. */
  readonly keyStyle?: number
}

/** Sets a field; null and nothing remove it. An existing value keeps its node and its style. */
export function setField(
  node: YamlNode,
  name: string,
  value: YamlNode | undefined,
  options: SetFieldOptions = {},
): YamlNode | undefined {
  if (value) quoteOldBooleans(value)
  if (value === undefined || (value.tag === NULL_TAG && !options.keepNull)) {
    clearField(node, name)
    return undefined
  }
  const existing = getField(node, name)
  if (existing) {
    value.style = existing.style
    assignNode(existing, value)
    return existing
  }
  node.content.push(makeNode('scalar', { value: name, style: options.keyStyle ?? PLAIN }), value)
  return value
}

/** Sets the text of a scalar, which keeps its style. */
export function setScalar(node: YamlNode, value: YamlNode): void {
  quoteOldBooleans(value)
  expectKind(node, 'scalar')
  if (isNull(value)) return
  value.style = node.style
  assignNode(node, value)
}

function quoteOldBooleans(value: YamlNode): void {
  if (value.style === PLAIN && isStringNode(value) && isOldNonString(value.value)) value.style = DOUBLE_QUOTED
}

// Texts that YAML 1.1 does not read as strings.
function isOldNonString(text: string): boolean {
  if (text === '' || text.includes('\n')) return false
  try {
    return typeof readFirstYaml(text, { resolver: '1.1' }).value !== 'string'
  } catch {
    return false
  }
}

/** The items of a sequence; nothing and null have none. */
export function elementsOf(node: YamlNode | undefined): YamlNode[] {
  expectKind(node, 'sequence')
  return node?.content ?? []
}

/** Splits `[name=value]`. */
export function splitListKey(part: string): { name: string; value: string } {
  const inner = part.replace(/\]$/, '').replace(/^\[/, '')
  const at = inner.indexOf('=')
  if (at < 0) throw new KustomizeError('list path element must contain fieldName=fieldValue for element to match')
  return { name: inner.slice(0, at), value: inner.slice(at + 1) }
}

/** Whether a part of a path picks list items: `[name=value]`. */
export function isListKey(part: string): boolean {
  return part.startsWith('[') && part.endsWith(']')
}

/** Whether a part of a path is an index. */
export function isIndex(part: string): boolean {
  return /^\+?\d+$/.test(part)
}

/** Finds the node at a path; with a kind, missing parts are created, the last part with that kind. */
export function lookup(node: YamlNode | undefined, path: readonly string[], create?: NodeKind): YamlNode | undefined {
  const parts = path.map((part) => part.trim()).filter((part) => part !== '')
  let current = node
  for (const [i, part] of parts.entries()) {
    if (current === undefined) return undefined
    current = step(current, part, create && kindFor(parts[i + 1] ?? '', create))
  }
  return current
}

function step(node: YamlNode, part: string, create: NodeKind | undefined): YamlNode | undefined {
  if (/^[+-]?\d+$/.test(part)) {
    const index = Number(part)
    if (index < 0) throw new KustomizeError(`array index ${index} cannot be negative`)
    return elementsOf(node)[index]
  }
  if (part === '-') {
    const items = elementsOf(node)
    if (items.length === 0) throw new KustomizeError('runtime error: index out of range [-1]')
    return items.at(-1)
  }
  if (part === '*') throw new KustomizeError('wildcard is not supported in PathGetter')
  if (isListKey(part)) return listElement(node, part, create !== undefined)
  const found = getField(node, part)
  if (found || create === undefined || isNull(node)) return found
  return setField(node, part, makeNode(create))
}

function listElement(node: YamlNode, part: string, create: boolean): YamlNode | undefined {
  const { name, value } = splitListKey(part)
  expectKind(node, 'sequence')
  const found = node.content.find((item) =>
    name === '' ? item.value === value : item.kind === 'mapping' && fieldOf(item, name)?.value === value,
  )
  if (found || !create) return found
  const made =
    name === '' ? plainScalar(value) : makeNode('mapping', { content: [plainScalar(name), plainScalar(value)] })
  node.content.push(made)
  return made
}

/** The kind a part of a path must have, seen from the part after it. */
export function kindFor(nextPart: string, last: NodeKind): NodeKind {
  if (isListKey(nextPart) || isIndex(nextPart)) return 'sequence'
  return nextPart === '' ? last : 'mapping'
}

/** Splits a path at a delimiter that may be escaped with a backslash. */
export function splitPath(path: string, delimiter: string): string[] {
  let parts = path.split(delimiter)
  if (parts.length > 1 && parts[0] === '') parts = parts.slice(1)
  const result = [parts[0]!]
  for (const part of parts.slice(1)) {
    const last = result.at(-1)!
    if (last.endsWith('\\')) result[result.length - 1] = last.slice(0, -1) + delimiter + part
    else result.push(part)
  }
  return result
}

/** Splits a path at dots that are not within brackets. */
export function splitFieldPath(path: string): string[] {
  const parts = splitPath(path, '.')
  const result: string[] = []
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!
    if (!part.startsWith('[') || part.endsWith(']')) {
      result.push(part)
      continue
    }
    let whole = part
    while (i < parts.length - 1) {
      whole += `.${parts[++i]}`
      if (parts[i]!.endsWith(']')) break
    }
    result.push(whole.includes('=') ? whole : whole.replace(/^[[\]]+|[[\]]+$/g, ''))
  }
  return result
}
