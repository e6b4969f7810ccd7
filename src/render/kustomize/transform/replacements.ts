/** Replacements: a value of an object copied into further objects, also into text that is itself YAML or JSON. */
import { textIfUtf8 } from '../resources/generated-data.ts'
import { decode, listOf } from '../decode.ts'
import { replacementShape } from '../kustomization.ts'
import type { FieldOptions, Replacement, Selector } from '../kustomization.ts'
import { KustomizeError, messageOf, wrapError } from '../kustomize-error.ts'
import type { Loader } from '../loader.ts'
import {
  copyNode,
  elementsOf,
  isNullOrEmpty,
  lookup,
  nodeText,
  plainScalar,
  splitFieldPath,
  textOf,
} from '../nodes/node.ts'
import { assignNode } from '../nodes/node.ts'
import type { YamlNode } from '../nodes/node.ts'
import { matchPath } from '../nodes/path-match.ts'
import { plainValue } from '../nodes/plain-value.ts'
import { isRecord } from '../is-record.ts'
import type { Resource } from '../resources/resource.ts'
import { effectiveNamespace, gvkText, idText, isSelectedBy } from '../resources/resource-id.ts'
import type { ResourceId } from '../resources/resource-id.ts'
import { compileSelector, selectorId } from '../resources/select.ts'
import type { Transformer } from './transformer.ts'
import { goJson } from '../../../yaml/go-json.ts'
import { readFirstNode } from '../nodes/read-node.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'

/** All entries of `replacements`. */
export function replacementTransformer(fields: readonly Replacement[], loader: Loader): Transformer {
  const replacements = fields.flatMap((field) => {
    const path = field.path ?? ''
    if (path === '') return [field]
    if (field.source || field.targets?.length) {
      throw new KustomizeError('cannot specify both path and inline replacement')
    }
    return readReplacements(loader.load(path))
  })
  return (map) => {
    for (const replacement of replacements) apply(map.resources, replacement)
  }
}

function readReplacements(content: Uint8Array): Replacement[] {
  const { value } = readFirstYaml(textIfUtf8(content) ?? content, { resolver: '1.1', duplicateKeys: 'last' })
  try {
    if (Array.isArray(value)) return decode(value, listOf(replacementShape), false) as Replacement[]
    if (isRecord(value)) return [decode(value, replacementShape, false) as Replacement]
  } catch (caught) {
    throw new KustomizeError(`error unmarshaling JSON: while decoding JSON: ${messageOf(caught)}`)
  }
  throw new KustomizeError(
    `unsupported replacement type encountered within replacement path: ${value === null ? 'invalid' : typeof value}`,
  )
}

function apply(resources: readonly Resource[], replacement: Replacement): void {
  const { source, sourceValue, targets } = replacement
  if ((!source && sourceValue === undefined) || !targets) {
    throw new KustomizeError('replacements must specify a source and at least one target')
  }
  const value = findValue(resources, replacement)
  for (const target of targets) {
    if (!target.select) throw new KustomizeError('target must specify resources to select')
    const select = compileSelector(target.select)
    const rejects = (target.reject ?? []).map((selector) => ({ selector, compiled: compileSelector(selector) }))
    for (const resource of resources) {
      const ids = idsOf(resource)
      if (!select.matchesMetadata(resource)) continue
      if (rejects.some(({ selector, compiled }) => hasMetadata(selector) && compiled.matchesMetadata(resource)))
        continue
      if (rejects.some(({ compiled }) => !compiled.isEmptyId && ids.some((id) => matchesId(compiled, id)))) continue
      if (ids.some((id) => matchesId(select, id))) {
        copyTo(resource.node!, value, target.fieldPaths?.length ? target.fieldPaths : ['metadata.name'], target.options)
      }
    }
  }
}

function hasMetadata({ annotationSelector, labelSelector }: Selector): boolean {
  return Boolean(annotationSelector) || Boolean(labelSelector)
}

function matchesId(compiled: ReturnType<typeof compileSelector>, id: ResourceId): boolean {
  return compiled.matchesType(id) && compiled.matchesName(id.name) && compiled.matchesNamespace(id.namespace)
}

function idsOf(resource: Resource): ResourceId[] {
  return [{ ...resource.currentId, clusterScoped: false }, ...resource.previousIds]
}

function findValue(resources: readonly Resource[], { source, sourceValue }: Replacement): YamlNode {
  if (sourceValue !== undefined) {
    if (source) throw new KustomizeError('value and resource selectors are mutually exclusive')
    return plainScalar(sourceValue)
  }
  const selector = selectorId(source!)
  const found = resources.filter((resource) =>
    idsOf(resource).some(
      (id) =>
        (selector.name === '' || selector.name === id.name) &&
        (selector.namespace === '' || effectiveNamespace(selector) === effectiveNamespace(id)) &&
        isSelectedBy(id, selector),
    ),
  )
  const { fieldPath: path = '', options } = source!
  const shown = `${idText(selector)}${path === '' ? '' : `:${path}`}${optionsText(options)}`
  if (found.length > 1) throw new KustomizeError(`multiple matches for selector ${shown}`)
  if (found.length === 0) throw new KustomizeError(`nothing selected by ${shown}`)
  const fieldPath = path || 'metadata.name'
  let node: YamlNode | undefined
  try {
    node = lookup(found[0]!.node, splitFieldPath(fieldPath))
  } catch (caught) {
    throw wrapError(caught, 'error looking up replacement source')
  }
  if (isNullOrEmpty(node)) {
    const { name, namespace } = selector
    const id = `${gvkText(selector)}/${name || '[noName]'}.${namespace || '[noNs]'}`
    throw new KustomizeError(`fieldPath \`${fieldPath}\` is missing for replacement source ${id}`)
  }
  return partOf(node!, options)
}

function optionsText(options: FieldOptions | undefined): string {
  const { delimiter = '', index = 0, create = false } = options ?? {}
  return delimiter === '' && !create ? '' : `:${delimiter}(${index}), create=${create}`
}

function partOf(node: YamlNode, options: FieldOptions | undefined): YamlNode {
  const { delimiter = '', index = 0 } = options ?? {}
  if (delimiter === '') return node
  if (node.kind !== 'scalar') throw new KustomizeError('delimiter option can only be used with scalar nodes')
  const parts = textOf(node).split(delimiter)
  if (index >= parts.length || index < 0) {
    throw new KustomizeError(`options.index ${index} is out of bounds for value ${textOf(node)}`)
  }
  return { ...copyNode(node), value: parts[index]! }
}

function copyTo(
  target: YamlNode,
  value: YamlNode,
  fieldPaths: readonly string[],
  options: FieldOptions | undefined,
): void {
  const create = options?.create ? value.kind : undefined
  for (const fieldPath of fieldPaths) {
    if (copyIntoText(target, value, fieldPath, options)) continue
    const what = create ? 'find or create' : 'find'
    const problem = `unable to ${what} field ${JSON.stringify(fieldPath)} in replacement target`
    let fields: YamlNode[]
    try {
      fields = elementsOf(matchPath(target, splitFieldPath(fieldPath), create))
    } catch (caught) {
      throw wrapError(caught, problem)
    }
    if (fields.length === 0) throw new KustomizeError(problem)
    for (const field of fields) setValue(field, value, options)
  }
}

function setValue(field: YamlNode, original: YamlNode, options: FieldOptions | undefined): void {
  const value = copyNode(original)
  const { delimiter = '', index = 0 } = options ?? {}
  if (delimiter !== '') {
    if (field.kind !== 'scalar') throw new KustomizeError('delimiter option can only be used with scalar nodes')
    const parts = field.value.split(delimiter)
    const text = textOf(value)
    if (index < 0) parts.unshift(text)
    else if (index >= parts.length) parts.push(text)
    else parts[index] = text
    value.value = parts.join(delimiter)
  }
  if (field.kind === 'scalar') field.value = value.value
  else assignNode(field, value)
}

// A path that goes on behind a text goes on in what the text says.
function copyIntoText(
  target: YamlNode,
  value: YamlNode,
  fieldPath: string,
  options: FieldOptions | undefined,
): boolean {
  try {
    return tryCopyIntoText(target, value, splitFieldPath(fieldPath), options)
  } catch {
    return false
  }
}

function tryCopyIntoText(
  target: YamlNode,
  value: YamlNode,
  path: readonly string[],
  options: FieldOptions | undefined,
): boolean {
  for (let i = 1; i < path.length; i++) {
    const outer = quietLookup(target, path.slice(0, i))
    if (outer?.kind !== 'scalar') continue
    const document = quietRead(outer.value)
    if (!document) continue
    const root = document.content[0]!
    const fields = elementsOf(matchPath(root, path.slice(i), options?.create ? value.kind : undefined))
    if (fields.length === 0) return false
    for (const field of fields) setValue(field, value, options)
    outer.value = written(root, outer.value)
    return true
  }
  return false
}

function quietLookup(node: YamlNode, path: readonly string[]): YamlNode | undefined {
  try {
    return lookup(node, path)
  } catch {
    return undefined
  }
}

function quietRead(text: string): YamlNode | undefined {
  try {
    return readFirstNode(text)
  } catch {
    return undefined
  }
}

function written(root: YamlNode, original: string): string {
  if (!/^\s*[{[]/.test(original)) return nodeText(root).trim()
  const json = goJson(plainValue(root))
  if (!original.includes('\n') || !original.includes('  ')) return json
  return indented(plainValue(root), '')
}

function indented(value: unknown, indent: string): string {
  const inner = `${indent}  `
  if (Array.isArray(value) && value.length > 0) {
    return `[\n${value.map((item) => inner + indented(item, inner)).join(',\n')}\n${indent}]`
  }
  if (value instanceof Map && value.size > 0) {
    const entries = [...(value as Map<string, unknown>)].sort(([a], [b]) => (a < b ? -1 : 1))
    return `{\n${entries.map(([key, item]) => `${inner}${goJson(key)}: ${indented(item, inner)}`).join(',\n')}\n${indent}}`
  }
  return goJson(value)
}
