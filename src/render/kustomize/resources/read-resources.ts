/** Text to objects: documents split as kustomize splits them, aliases resolved, lists taken apart. */
import { KustomizeError, wrapError } from '../kustomize-error.ts'
import { clearField, copyNode, fieldOf, getField, isNull, isNullOrEmpty, textOf } from '../nodes/node.ts'
import type { YamlNode } from '../nodes/node.ts'
import { plainValue } from '../nodes/plain-value.ts'
import { Resource, textMap } from './resource.ts'
import type { StringMap } from './resource.ts'
import { goJson } from '../../../yaml/go-json.ts'
import { readFirstNode } from '../nodes/read-node.ts'

/** The objects of a text; what has no kind or no name is an error. */
export function readResources(text: string): Resource[] {
  return expandLists(checked(readDocuments(text))).map((node) => new Resource(node))
}

/** The trees of a text, one per document. */
export function readDocuments(text: string): YamlNode[] {
  const documents = readWrittenDocuments(text)
  const nodes: YamlNode[] = []
  for (const node of documents) {
    if (isNull(node)) continue
    const found = node
    const kind = textOf(fieldOf(found, 'kind'))
    if (documents.length === 1 && (kind === 'ResourceList' || kind === 'List')) {
      const items = fieldOf(found, 'items')
      if (items || fieldOf(found, 'functionConfig')) {
        nodes.push(...(items?.content ?? []))
        continue
      }
    }
    nodes.push(found)
  }
  const budget = { nodes: 10_000_000 }
  return nodes.map((node) => withoutAliases(node, budget))
}

/** The trees of a text as they are written: with aliases and lists. */
export function readWrittenDocuments(text: string): (YamlNode | undefined)[] {
  const documents = splitDocuments(text.replaceAll('\r\n', '\n'))
  return documents.map((document, i) => readDocument(i === documents.length - 1 ? document : `${document}\n`))
}

function readDocument(text: string): YamlNode | undefined {
  try {
    return readFirstNode(text)?.content[0]
  } catch (caught) {
    throw wrapError(caught, 'MalformedYAMLError')
  }
}

function splitDocuments(text: string): string[] {
  if (text === '') return []
  const documents: string[] = []
  let previous = 0
  for (const match of text.matchAll(/\n---.*\n/g)) {
    const rest = match[0].slice(4).trim()
    if (rest !== '' && !rest.startsWith('#')) {
      throw new KustomizeError(`invalid document separator: ${match[0].trim()}`)
    }
    documents.push(text.slice(previous, match.index))
    previous = match.index + match[0].length
  }
  documents.push(text.slice(previous))
  return documents
}

// Replaces aliases by copies of what they stand for, and `<<` by what it brings.
function withoutAliases(node: YamlNode, budget: { nodes: number }): YamlNode {
  if (--budget.nodes < 0) throw new KustomizeError('document contains excessive aliasing')
  node.anchor = ''
  switch (node.kind) {
    case 'alias':
      return copyNode(withoutAliases(node.alias!, budget))
    case 'mapping':
      mergeKeys(node)
      break
    default:
  }
  node.content = node.content.map((child) => withoutAliases(child, budget))
  return node
}

function mergeKeys(node: YamlNode): void {
  const at = node.content.findIndex((key, i) => i % 2 === 0 && key.tag === '!!merge')
  if (at < 0) return
  if (node.content.some((key, i) => i % 2 === 0 && i > at && key.tag === '!!merge')) {
    throw new KustomizeError('duplicate merge key')
  }
  const sources = mergeSources(node.content[at + 1]!)
  clearField(node, '<<')
  const result = copyNode(node)
  for (const source of [...sources, node]) {
    const copy = copyNode(source)
    for (let i = 0; i < copy.content.length; i += 2) setEntry(result, copy.content[i]!, copy.content[i + 1]!)
  }
  node.content = result.content
}

function setEntry(node: YamlNode, key: YamlNode, value: YamlNode): void {
  const at = node.content.findIndex((other, i) => i % 2 === 0 && other.value === key.value)
  if (at < 0) node.content.push(key, value)
  else node.content.splice(at, 2, key, value)
}

function mergeSources(node: YamlNode): YamlNode[] {
  switch (node.kind) {
    case 'mapping':
      return [node]
    case 'alias':
      if (node.alias?.kind !== 'mapping') {
        throw new KustomizeError('invalid map merge: received alias for a non-map value')
      }
      return [node.alias]
    case 'sequence': {
      let sources: YamlNode[] = []
      for (const item of node.content) {
        if (item.kind === 'sequence') throw new KustomizeError('invalid map merge: received a nested sequence')
        sources = [...mergeSources(item), ...sources]
      }
      return sources
    }
    default:
      throw new KustomizeError('map merge requires map or sequence of maps as the value')
  }
}

function checked(nodes: readonly YamlNode[]): YamlNode[] {
  const result: YamlNode[] = []
  for (const node of nodes) {
    if (isNullOrEmpty(node)) continue
    checkMetadata(node)
    result.push(node)
  }
  return result
}

/** Throws unless an object says its kind and its name; lists need no name. */
export function checkMetadata(node: YamlNode): void {
  const kind = presentText(node, 'kind')
  const apiVersion = presentText(node, 'apiVersion')
  const metadata = fieldOf(node, 'metadata')
  const name = presentText(metadata, 'name')
  const namespace = presentText(metadata, 'namespace')
  const labels = textMap(fieldOf(metadata, 'labels'))
  const annotations = textMap(fieldOf(metadata, 'annotations'))
  if (kind === '' && apiVersion === '' && name === '' && namespace === '' && labels.size + annotations.size === 0) {
    throw new KustomizeError('missing Resource metadata')
  }
  const shown = `{{${apiVersion} ${kind}} {{${name} ${namespace}} ${goMap(labels)} ${goMap(annotations)}}}`
  if (kind === '') throw new KustomizeError(`missing kind in object ${shown}`)
  if (!kind.endsWith('List') && name === '') throw new KustomizeError(`missing metadata.name in object ${shown}`)
}

function presentText(node: YamlNode | undefined, name: string): string {
  const field = fieldOf(node, name)
  return isNullOrEmpty(field) ? '' : field!.value
}

/** A map of strings as Go prints it with `%v`. */
function goMap(map: StringMap): string {
  const entries = [...map].sort(([a], [b]) => (a < b ? -1 : 1))
  return `map[${entries.map(([key, value]) => `${key}:${value}`).join(' ')}]`
}

function expandLists(nodes: readonly YamlNode[]): YamlNode[] {
  const result: YamlNode[] = []
  const queue = [...nodes]
  for (let node = queue.shift(); node; node = queue.shift()) {
    const kind = fieldOf(node, 'kind')?.value ?? ''
    if (!kind.endsWith('List') || getField(node, 'items') === undefined) {
      result.push(node)
      continue
    }
    const value = plainValue(node)
    const items = value instanceof Map ? value.get('items') : undefined
    if (items === null) continue
    if (!Array.isArray(items)) {
      throw new KustomizeError(`expected array in ${kind}/items, but found ${goTypeOf(items)}`)
    }
    for (const item of items) queue.push(...checked(readDocuments(goJson(item))))
  }
  return result
}

function goTypeOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float64'
    default:
      return 'map[string]interface {}'
  }
}
