/** Trees as yaml.v3's encoder writes them. */
import type { Emitter } from './emitter.ts'
import { DOUBLE_QUOTED, FLOW, FOLDED, LITERAL, PLAIN, SINGLE_QUOTED, TAGGED, longTag, shortTag } from '../node.ts'
import type { YamlNode } from '../node.ts'
import { resolveTag } from '../resolve-scalar.ts'

/** Sends the events of a tree to an emitter, as a document of its own. */
export function encodeNode(emitter: Emitter, node: YamlNode): void {
  if (node.kind === 'document') {
    emitter.startDocument(node.headComment)
    for (const child of node.content) emitNode(emitter, child, '')
    emitter.endDocument(node.footComment)
    return
  }
  emitter.startDocument()
  emitNode(emitter, node, '')
  emitter.endDocument()
}

function emitNode(emitter: Emitter, node: YamlNode, tail: string): void {
  const { headComment: head, lineComment: line, footComment: foot, anchor, content } = node
  const { tag, mustQuote } = writtenTag(node)
  const flow = (node.style & FLOW) !== 0
  switch (node.kind) {
    case 'document':
      for (const child of content) emitNode(emitter, child, '')
      return
    case 'alias':
      emitter.alias(node.value, { head, line, foot })
      return
    case 'sequence':
      emitter.startSequence({ flow, empty: content.length === 0, anchor, tag: longTag(tag), head })
      for (const child of content) emitNode(emitter, child, '')
      emitter.end({ line, foot })
      return
    case 'mapping': {
      emitter.startMapping({ flow, empty: content.length < 2, anchor, tag: longTag(tag), head, tail })
      // What stands below an entry can only be written after its value, so it goes with the next key.
      let lastFoot = ''
      for (let i = 0; i + 1 < content.length; i += 2) {
        const key = content[i]!
        emitNode(emitter, key.footComment === '' ? key : { ...key, footComment: '' }, lastFoot)
        lastFoot = key.footComment
        emitNode(emitter, content[i + 1]!, '')
      }
      emitter.end({ line, foot, tail: lastFoot })
      return
    }
    case 'scalar':
      emitter.scalar({
        value: node.value.toWellFormed(),
        style: scalarStyle(node, mustQuote),
        anchor,
        tag: longTag(tag),
        head,
        line,
        foot,
        tail,
      })
  }
}

function scalarStyle({ style, value }: YamlNode, mustQuote: boolean): number {
  if (style & DOUBLE_QUOTED) return DOUBLE_QUOTED
  if (style & SINGLE_QUOTED) return SINGLE_QUOTED
  if (style & LITERAL) return LITERAL
  if (style & FOLDED) return FOLDED
  if (value.includes('\n')) return LITERAL
  return mustQuote ? DOUBLE_QUOTED : PLAIN
}

// A tag without source text is omitted when the text says the same, or can be made to by quotes.
function writtenTag(node: YamlNode): { tag: string; mustQuote: boolean } {
  const { tag, style } = node
  if (tag === '' || (style & TAGGED) !== 0) return { tag, mustQuote: false }
  const short = shortTag(tag)
  if (node.kind === 'mapping' || node.kind === 'sequence') {
    return { tag: short === (node.kind === 'mapping' ? '!!map' : '!!seq') ? '' : tag, mustQuote: false }
  }
  if (node.kind !== 'scalar') return { tag, mustQuote: false }
  if (short === '!!str' && (style & (SINGLE_QUOTED | DOUBLE_QUOTED | LITERAL | FOLDED)) !== 0) {
    return { tag: '', mustQuote: false }
  }
  if (resolveTag(node.value, '1.2') === short) return { tag: '', mustQuote: false }
  return short === '!!str' ? { tag: '', mustQuote: true } : { tag, mustQuote: false }
}
