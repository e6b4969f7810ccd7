/** Values in Go's own syntax (`%#v`), for the errors that show them. */
import { goQuote } from '../core/text/go-quote.ts'
import { goFloat } from './go-text.ts'
import { PLAIN, isMarkedString, tagOf } from './node.ts'
import type { YamlNode } from './node.ts'
import { isResolvable, resolvePlain } from './resolve-scalar.ts'
import type { Resolver } from './yaml.ts'

const NIL = 'interface {}(nil)'

// Go prints everything. The limit keeps aliases from making the message endless.
const MAX_NODES = 10_000

/** A node as Go prints the value it decodes to; a null inside a collection looks different from one on its own. */
export function goSyntax(node: YamlNode, resolver: Resolver, place: 'inside' | 'top' = 'inside'): string {
  let nodes = 0
  const show = (shown: YamlNode, where: 'inside' | 'top'): string => {
    if (++nodes > MAX_NODES) return '…'
    if (shown.kind === 'alias') return shown.alias ? show(shown.alias, where) : ''
    if (shown.kind === 'sequence') return `[]interface {}{${shown.content.map(inside).join(', ')}}`
    if (shown.kind !== 'mapping') return scalarSyntax(shown, resolver, where)
    const entries = new Map<string, { text: string; value: string }>()
    collect(shown, entries)
    const sorted = [...entries].sort(([keyA, a], [keyB, b]) => {
      const byNumber = rank(keyA) === 2 ? Number(a.text) - Number(b.text) : 0
      return rank(keyA) - rank(keyB) || byNumber || (a.text < b.text ? -1 : 1)
    })
    const fields = sorted.map(([key, { value }]) => `${key}:${value}`).join(', ')
    return `map[${keyType(shown, resolver)}]interface {}{${fields}}`
  }
  const inside = (shown: YamlNode): string => show(shown, 'inside')
  const collect = (mapping: YamlNode, entries: Map<string, { text: string; value: string }>): void => {
    if (++nodes > MAX_NODES) return
    for (let i = 0; i + 1 < mapping.content.length; i += 2) {
      const key = mapping.content[i]!
      const value = mapping.content[i + 1]!
      if (key.value === '<<' && key.style === PLAIN) {
        const sources = value.kind === 'sequence' ? value.content : [value]
        for (const source of sources) collect(source.alias ?? source, entries)
      } else entries.set(inside(key), { text: key.value, value: inside(value) })
    }
  }
  return show(node, place)
}

// Go sorts keys by type first: nil, then strings, then the rest.
function rank(key: string): number {
  return key === NIL ? 0 : key.startsWith('"') ? 1 : 2
}

function keyType(node: YamlNode, resolver: Resolver): string {
  if (resolver === '1.1') return 'interface {}'
  return node.content.every((child, i) => i % 2 === 1 || tagOf(child) === '!!str') ? 'string' : 'interface {}'
}

function scalarSyntax(node: YamlNode, resolver: Resolver, place: 'inside' | 'top'): string {
  const isText = isMarkedString(node) || !isResolvable(node.tag)
  const resolved = isText ? undefined : resolvePlain(node.value, resolver)
  switch (resolved?.tag) {
    case '!!null':
      return place === 'top' ? '<nil>' : NIL
    case '!!bool':
      return String(resolved.value)
    case '!!float':
      return goFloat(resolved.value)
    case '!!int':
      return resolved.value >= 2n ** 63n ? `0x${resolved.value.toString(16)}` : String(resolved.value)
    default:
      return goQuote(node.value)
  }
}
