/** Paths that lead to several nodes: `[name=pattern]`, `*`, indexes, and fields that are made on the way. */
import { KustomizeError, wrapError } from '../kustomize-error.ts'
import {
  elementsOf,
  fieldOf,
  getField,
  isIndex,
  isListKey,
  kindFor,
  nodeText,
  plainScalar,
  setField,
  splitListKey,
} from './node.ts'
import type { NodeKind, YamlNode } from './node.ts'
import { compilePattern } from '../go-regexp.ts'
import { makeNode } from '../../../yaml/node.ts'
import { readFirstNode } from './read-node.ts'

/** All nodes at a path, as a list node; nothing when the path leads nowhere. */
export function matchPath(
  node: YamlNode | undefined,
  path: readonly string[],
  create?: NodeKind,
): YamlNode | undefined {
  const part = path[0]
  if (part === undefined) return listOf(node ? [node] : [])
  const rest = path.slice(1)
  if (isIndex(part)) return matchIndex(node, Number(part), rest, create)
  if (isListKey(part)) return matchItems(node, part, rest, create)
  if (part === '*') {
    return joined(elementsOf(node).map((item) => matchPath(item, rest, create)))
  }
  return matchField(node, part, rest, create)
}

function listOf(content: YamlNode[]): YamlNode {
  return makeNode('sequence', { content })
}

function joined(found: readonly (YamlNode | undefined)[]): YamlNode | undefined {
  const content = found.flatMap((list) => list?.content ?? [])
  return content.length === 0 ? undefined : listOf(content)
}

function matchField(
  node: YamlNode | undefined,
  name: string,
  rest: readonly string[],
  create: NodeKind | undefined,
): YamlNode | undefined {
  let field = getField(node, name)
  if (!field) {
    if (create === undefined || !node) return undefined
    field = makeNode(kindFor(rest[0] ?? '', create))
    setField(node, name, field)
  }
  if (field.kind === 'scalar' && rest.length > 0) {
    return matchPath(readFirstNode(field.value)?.content[0], rest, create)
  }
  return matchPath(field, rest, create)
}

function matchIndex(
  node: YamlNode | undefined,
  index: number,
  rest: readonly string[],
  create: NodeKind | undefined,
): YamlNode | undefined {
  const items = elementsOf(node)
  if (items.length === index && create && node) node.content.push(makeNode(kindFor(rest[0] ?? '', create)))
  const found = elementsOf(node)
  if (found.length < index + 1) {
    throw new KustomizeError(`index ${index} specified but only ${found.length} elements found`)
  }
  return matchPath(found[index], rest, create)
}

function matchItems(
  node: YamlNode | undefined,
  part: string,
  rest: readonly string[],
  create: NodeKind | undefined,
): YamlNode | undefined {
  const { name, value } = splitListKey(part)
  const find = (): YamlNode | undefined =>
    joined(
      elementsOf(node).map((item) => {
        const text = name === '' ? item : fieldOf(item, name)
        if (!text || !compilePattern(value).test(nodeText(text).trim())) return undefined
        return name === '' ? listOf([item]) : matchPath(item, rest, create)
      }),
    )
  const found = find()
  if (found || create === undefined) return found
  const made =
    name === '' ? plainScalar(value) : makeNode('mapping', { content: [plainScalar(name), plainScalar(value)] })
  try {
    if (elementsOf(node) && node) node.content.push(made)
  } catch (caught) {
    throw wrapError(caught, `failed to create element for ${JSON.stringify(part)}`)
  }
  return find()
}
