/**
 * The tree of a YAML document: what yaml.v3's Node is, for callers that must keep comments, styles and the order of
 * keys.
 */
import { resolveTag } from './resolve-scalar.ts'

/** What a node is. */
export type NodeKind = 'document' | 'sequence' | 'mapping' | 'scalar' | 'alias'

/** A plain scalar, or a block collection. */
export const PLAIN = 0
/** The tag was written in the text; added to one of the others. */
export const TAGGED = 1
export const DOUBLE_QUOTED = 2
export const SINGLE_QUOTED = 4
export const LITERAL = 8
export const FOLDED = 16
/** A collection in brackets. */
export const FLOW = 32

/** A node. All fields may be changed before the tree is written again. */
export interface YamlNode {
  kind: NodeKind
  /** A sum of the styles above. */
  style: number
  /** `!!str`, `!!int`…; with resolver 1.2 always the resolved one, with 1.1 only what the text says. */
  tag: string
  /** Of scalars their text without quotes, of aliases their name. */
  value: string
  anchor: string
  /** What an alias stands for. */
  alias: YamlNode | undefined
  /** Items of a sequence; keys and values in turn of a mapping; the one node of a document. */
  content: YamlNode[]
  headComment: string
  lineComment: string
  footComment: string
  /** Counts from 1; 0 in nodes that come from no text. */
  line: number
  column: number
}

/** A node with nothing but its kind, unless told. */
export function makeNode(kind: NodeKind, fields: Partial<Omit<YamlNode, 'kind'>> = {}): YamlNode {
  return {
    kind,
    style: fields.style ?? 0,
    tag: fields.tag ?? '',
    value: fields.value ?? '',
    anchor: fields.anchor ?? '',
    alias: fields.alias,
    content: fields.content ?? [],
    headComment: fields.headComment ?? '',
    lineComment: fields.lineComment ?? '',
    footComment: fields.footComment ?? '',
    line: fields.line ?? 0,
    column: fields.column ?? 0,
  }
}

/** A string scalar, in the style yaml.v3 gives it. */
export function makeString(value: string): YamlNode {
  return makeNode('scalar', { tag: '!!str', value, style: value.includes('\n') ? LITERAL : PLAIN })
}

const QUOTED_STYLES = DOUBLE_QUOTED | SINGLE_QUOTED | LITERAL | FOLDED
const LONG_TAG_PREFIX = 'tag:yaml.org,2002:'

/** `!!str` for `tag:yaml.org,2002:str`; other tags as they are. */
export function shortTag(tag: string): string {
  return tag.startsWith(LONG_TAG_PREFIX) ? `!!${tag.slice(LONG_TAG_PREFIX.length)}` : tag
}

/** `tag:yaml.org,2002:str` for `!!str`; other tags as they are. */
export function longTag(tag: string): string {
  return tag.startsWith('!!') ? LONG_TAG_PREFIX + tag.slice(2) : tag
}

/** Whether quotes, a block style or a tag say that a scalar is a string, whatever it looks like. */
export function isMarkedString(node: YamlNode): boolean {
  if (node.kind !== 'scalar') return false
  if (node.tag === '' || node.tag === '!') return (node.style & QUOTED_STYLES) !== 0
  return shortTag(node.tag) === '!!str'
}

/** The tag that says what a node is, as yaml.v3 resolves it when none is set. */
export function tagOf(node: YamlNode): string {
  if (isMarkedString(node)) return '!!str'
  if (node.tag !== '' && node.tag !== '!') return shortTag(node.tag)
  switch (node.kind) {
    case 'mapping':
      return '!!map'
    case 'sequence':
      return '!!seq'
    case 'alias':
      return node.alias ? tagOf(node.alias) : ''
    case 'scalar':
      return resolveTag(node.value, '1.2')
    case 'document':
      return ''
  }
}
