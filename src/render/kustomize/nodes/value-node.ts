/** Plain values as trees, in the styles that they have after being written and read. */
import type { YamlNode } from './node.ts'
import { DOUBLE_QUOTED, LITERAL, PLAIN, makeNode } from '../../../yaml/node.ts'
import { goFloat } from '../../../yaml/go-text.ts'
import { isYaml11Boolean, resolvePlain } from '../../../yaml/resolve-scalar.ts'

/** The tree of a JSON value; numbers are floats, as Go reads them from JSON. */
export function valueNode(value: unknown): YamlNode {
  if (typeof value === 'string') return stringNode(value)
  if (typeof value === 'number' || typeof value === 'bigint') {
    const text = goFloat(Number(value))
    return makeNode('scalar', { value: text, tag: resolvePlain(text, '1.2').tag })
  }
  if (typeof value === 'boolean') return makeNode('scalar', { value: String(value), tag: '!!bool' })
  if (Array.isArray(value)) return makeNode('sequence', { tag: '!!seq', content: value.map(valueNode) })
  if (value instanceof Map) {
    const entries = [...(value as Map<string, unknown>)].sort(([a], [b]) => (a < b ? -1 : 1))
    return makeNode('mapping', {
      tag: '!!map',
      content: entries.flatMap(([key, item]) => [stringNode(key), valueNode(item)]),
    })
  }
  return makeNode('scalar', { value: 'null', tag: '!!null' })
}

function stringNode(value: string): YamlNode {
  const quoted = resolvePlain(value, '1.2').tag !== '!!str' || isYaml11Boolean(value)
  const style = value.includes('\n') ? LITERAL : quoted ? DOUBLE_QUOTED : PLAIN
  return makeNode('scalar', { value, tag: '!!str', style })
}
