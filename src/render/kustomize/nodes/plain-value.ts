/** Plain values of trees. The original writes a tree as text and reads that; here only where it makes a difference. */
import { DOUBLE_QUOTED, LITERAL, SINGLE_QUOTED, makeNode } from '../../../yaml/node.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { resolvePlain } from '../../../yaml/resolve-scalar.ts'
import { writeNode } from '../../../yaml/write/write-yaml.ts'
import type { YamlNode } from '../../../yaml/node.ts'

/** The plain value of a tree, as JSON holds it: mappings are Maps, large integers bigints. */
export function plainValue(node: YamlNode): unknown {
  try {
    return valueOf(node)
  } catch (caught) {
    if (caught !== UNUSUAL) throw caught
    return readBack(node)
  }
}

// Thrown where only the whole text tells what the original does: repeated keys, keys that are no strings, aliases.
const UNUSUAL = new Error('unusual')

function readBack(node: YamlNode): unknown {
  return readFirstYaml(writeNode(node), { resolver: '1.2', integers: 'bigint', mappings: 'map' }).value
}

function valueOf(node: YamlNode): unknown {
  switch (node.kind) {
    case 'mapping':
      return mappingOf(node.content)
    case 'sequence':
      return node.content.map(valueOf)
    case 'scalar':
      return scalarOf(node)
    default:
      throw UNUSUAL
  }
}

function mappingOf(content: readonly YamlNode[]): Map<string, unknown> {
  const map = new Map<string, unknown>()
  for (let i = 0; i < content.length; i += 2) {
    const key = content[i]!
    const value = content[i + 1]
    if (!value || key.kind !== 'scalar' || !isStringKey(key) || map.has(key.value)) throw UNUSUAL
    map.set(key.value, valueOf(value))
  }
  return map
}

function isStringKey({ tag, style, value }: YamlNode): boolean {
  if (tag === '!!str') return true
  return tag === '' && (style !== 0 || resolvePlain(value, '1.2').tag === '!!str') && value !== '<<'
}

const QUOTED = DOUBLE_QUOTED | SINGLE_QUOTED
// Text that may not survive being written in a block and read again.
const RISKY = /^[ \n\t]|[\r\u0085\u2028\u2029\ufeff]|[^\t\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd]|[ \t]\n/

function scalarOf(node: YamlNode): unknown {
  const { tag, style, value } = node
  if (style === 0) {
    if (tag === '!!str') return value.includes('\n') ? textOf(node) : value
    const resolved = resolvePlain(value, '1.2')
    if (tag !== '' && tag !== resolved.tag) return readScalar(node)
    if (resolved.tag === '!!str') return value.includes('\n') ? textOf(node) : value
    return resolved.tag === '!!timestamp' ? readScalar(node) : resolved.value
  }
  if (tag !== '!!str' && tag !== '' && resolvePlain(value, '1.2').tag !== tag) return readScalar(node)
  if (style & QUOTED) return value
  return style === LITERAL ? textOf(node) : readScalar(node)
}

function textOf(node: YamlNode): unknown {
  return RISKY.test(node.value) ? readScalar(node) : node.value
}

function readScalar(node: YamlNode): unknown {
  const key = makeNode('scalar', { value: 'a', tag: '!!str' })
  const value = readBack(makeNode('mapping', { content: [key, node] }))
  return (value as Map<string, unknown>).get('a')
}
