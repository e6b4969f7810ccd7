/** Builds the tree of each document from its tokens, with go-yaml's grammar and errors. */
import { compact } from '../../core/compact.ts'
import type { Input } from './input.ts'
import { FLOW, PLAIN, TAGGED, makeNode, shortTag } from '../node.ts'
import type { NodeKind, YamlNode } from '../node.ts'
import { CommentCollector } from './parse-comment.ts'
import { resolveTag } from '../resolve-scalar.ts'
import { Scanner } from './scanner.ts'
import { syntaxError } from './text-cursor.ts'
import type { Reading } from './text-cursor.ts'
import * as t from './token.ts'
import type { Mark, Token } from './token.ts'
import { YamlError } from '../yaml.ts'

/** What stands before the content of a node. */
interface Properties {
  readonly anchor: string
  readonly tag: string
  readonly start: Mark
}

/** Reads one document after the other. */
export class Parser {
  readonly #reading: Reading
  readonly #scanner: Scanner
  readonly #comments: CommentCollector
  readonly #v3: boolean
  #anchors = new Map<string, YamlNode>()
  #tagPrefixes = new Map<string, string>()
  #started = false
  #nodes = 0
  #aliases = 0

  constructor(input: Input, reading: Reading) {
    this.#reading = reading
    this.#scanner = new Scanner(input, reading)
    this.#comments = new CommentCollector(this.#scanner)
    this.#v3 = reading.resolver === '1.2'
  }

  /** The next document, or undefined at the end of the stream. */
  nextDocument(): YamlNode | undefined {
    const implicitAllowed = !this.#started
    if (!this.#started) {
      this.#started = true
      this.#peek()
      this.#skip()
    }
    const token = implicitAllowed ? this.#peek() : this.#peekPastDocumentEnds()
    if (token.type === t.STREAM_END) return undefined
    // yaml.v3 keeps anchors from one document to the next.
    if (!this.#v3) this.#anchors = new Map()
    const document = this.#node('document', token)
    const startsHere = [t.VERSION_DIRECTIVE, t.TAG_DIRECTIVE, t.DOCUMENT_START].includes(token.type)
    document.content.push(implicitAllowed && !startsHere ? this.#implicitContent(document) : this.#explicitContent())
    this.#documentEnd(document)
    return document
  }

  #peekPastDocumentEnds(): Token {
    let token = this.#peek()
    while (token.type === t.DOCUMENT_END) {
      this.#skip()
      token = this.#peek()
    }
    return token
  }

  #implicitContent(document: YamlNode): YamlNode {
    this.#directives()
    document.headComment = this.#comments.takeDocumentHead()
    return this.#parseNode(true, false)
  }

  #explicitContent(): YamlNode {
    this.#directives()
    if (this.#peek().type !== t.DOCUMENT_START) this.#fail('did not find expected <document start>', this.#peek())
    this.#skip()
    const token = this.#peek()
    switch (token.type) {
      case t.VERSION_DIRECTIVE:
      case t.TAG_DIRECTIVE:
      case t.DOCUMENT_START:
      case t.DOCUMENT_END:
      case t.STREAM_END:
        return this.#empty(token)
      default:
        return this.#parseNode(true, false)
    }
  }

  #documentEnd(document: YamlNode): void {
    if (this.#peek().type === t.DOCUMENT_END) this.#skip()
    this.#tagPrefixes.clear()
    const { head, foot } = this.#comments.take()
    document.footComment = foot === '' ? head : foot
    this.#comments.checkDeferred()
  }

  #directives(): void {
    let version = false
    let token = this.#peek()
    for (; token.type === t.VERSION_DIRECTIVE || token.type === t.TAG_DIRECTIVE; token = this.#peek()) {
      if (token.type === t.VERSION_DIRECTIVE) {
        if (version) this.#fail('found duplicate %YAML directive', token)
        if (token.value !== '1.1') this.#fail('found incompatible YAML document', token)
        version = true
      } else {
        if (this.#tagPrefixes.has(token.value)) this.#fail('found duplicate %TAG directive', token)
        this.#tagPrefixes.set(token.value, token.suffix)
      }
      this.#skip()
    }
    if (!this.#tagPrefixes.has('!')) this.#tagPrefixes.set('!', '!')
    if (!this.#tagPrefixes.has('!!')) this.#tagPrefixes.set('!!', 'tag:yaml.org,2002:')
  }

  #parseNode(block: boolean, indentlessSequence: boolean): YamlNode {
    let token = this.#peek()
    if (token.type === t.ALIAS) return this.#parseAlias(token)
    let properties: Properties = { anchor: '', tag: '', start: token }
    if (token.type === t.ANCHOR || token.type === t.TAG) {
      properties = this.#parseProperties(token)
      token = this.#peek()
    }
    switch (token.type) {
      case t.BLOCK_ENTRY:
        if (indentlessSequence) return this.#parseIndentlessSequence(this.#collection('sequence', properties, PLAIN))
        break
      case t.SCALAR:
        return this.#parseScalar(token, properties)
      case t.FLOW_SEQUENCE_START:
        return this.#parseFlowSequence(this.#collection('sequence', properties, FLOW))
      case t.FLOW_MAPPING_START:
        return this.#parseFlowMapping(this.#collection('mapping', properties, FLOW))
      case t.BLOCK_SEQUENCE_START:
        if (block) return this.#parseBlockSequence(this.#collection('sequence', properties, PLAIN))
        break
      case t.BLOCK_MAPPING_START:
        if (block) return this.#parseBlockMapping(this.#collection('mapping', properties, PLAIN))
        break
      default:
        break
    }
    if (properties.anchor === '' && properties.tag === '') {
      this.#fail('did not find expected node content', token, properties.start)
    }
    const node = this.#scalar(properties, '', PLAIN)
    this.#comments.checkDeferred()
    return node
  }

  #parseProperties(first: Token): Properties {
    let anchor = ''
    let tagToken: Token | undefined
    let token = first
    // One of each, in any order.
    for (let i = 0; i < 2; i++) {
      if (token.type === t.ANCHOR && anchor === '') anchor = token.value
      else if (token.type === t.TAG && !tagToken) tagToken = token
      else break
      this.#skip()
      token = this.#peek()
    }
    if (!tagToken) return { anchor, tag: '', start: first }
    if (tagToken.value === '') return { anchor, tag: tagToken.suffix, start: first }
    const prefix = this.#tagPrefixes.get(tagToken.value)
    if (prefix === undefined) this.#fail('found undefined tag handle', tagToken, first)
    return { anchor, tag: prefix + tagToken.suffix, start: first }
  }

  #parseAlias(token: Token): YamlNode {
    if (++this.#aliases > this.#reading.maxAliases) this.#fail(`more than ${this.#reading.maxAliases} aliases`, token)
    const node = this.#node('alias', token)
    node.value = token.value
    node.alias = this.#anchors.get(token.value)
    this.#comments.giveTo(node)
    this.#comments.checkDeferred()
    if (!node.alias) {
      const position = { line: node.line, column: node.column }
      throw new YamlError(`unknown anchor '${token.value}' referenced`, position, this.#reading.file)
    }
    this.#skip()
    return node
  }

  #parseScalar(token: Token, properties: Properties): YamlNode {
    const node = this.#scalar(properties, token.value, token.style)
    this.#comments.giveTo(node)
    this.#skip()
    this.#comments.checkDeferred()
    return node
  }

  #parseBlockSequence(node: YamlNode): YamlNode {
    this.#comments.giveStemTo(node)
    const start = this.#peek()
    this.#skip()
    for (;;) {
      const token = this.#peek()
      if (token.type === t.BLOCK_END) break
      if (token.type !== t.BLOCK_ENTRY) this.#fail("did not find expected '-' indicator", token, start)
      this.#comments.skipEntry()
      const { type } = this.#peek()
      node.content.push(
        type === t.BLOCK_ENTRY || type === t.BLOCK_END ? this.#emptyAfter(token) : this.#parseNode(true, false),
      )
    }
    this.#skip()
    return node
  }

  #parseIndentlessSequence(node: YamlNode): YamlNode {
    for (;;) {
      const token = this.#peek()
      if (token.type !== t.BLOCK_ENTRY) return node
      this.#comments.skipEntry()
      const { type } = this.#peek()
      const empty = type === t.BLOCK_ENTRY || type === t.KEY || type === t.VALUE || type === t.BLOCK_END
      node.content.push(empty ? this.#emptyAfter(token) : this.#parseNode(true, false))
    }
  }

  #parseBlockMapping(node: YamlNode): YamlNode {
    this.#comments.giveStemTo(node)
    const start = this.#peek()
    this.#skip()
    for (;;) {
      const token = this.#peek()
      if (token.type === t.BLOCK_END) break
      if (token.type !== t.KEY) this.#fail('did not find expected key', token, start)
      const key = this.#blockMappingPart(token)
      this.#comments.moveFootToPrior(node, key)
      node.content.push(key)
      const next = this.#peek()
      const value = next.type === t.VALUE ? this.#blockMappingPart(next) : this.#empty(next)
      node.content.push(value)
      moveFootToKey(key, value)
    }
    this.#comments.giveEndTo(node)
    const last = node.content.at(-2)
    if (last && node.footComment !== '') {
      last.footComment = node.footComment
      node.footComment = ''
    }
    this.#skip()
    this.#comments.checkDeferred()
    return node
  }

  // What follows KEY or VALUE, which may be nothing.
  #blockMappingPart(indicator: Token): YamlNode {
    this.#skip()
    const { type } = this.#peek()
    if (type === t.KEY || type === t.VALUE || type === t.BLOCK_END) return this.#emptyAfter(indicator)
    return this.#parseNode(true, true)
  }

  #parseFlowSequence(node: YamlNode): YamlNode {
    this.#comments.giveTo(node)
    const start = this.#peek()
    this.#skip()
    for (let first = true; ; first = false) {
      let token = this.#peek()
      if (token.type !== t.FLOW_SEQUENCE_END && !first) {
        if (token.type !== t.FLOW_ENTRY) this.#fail("did not find expected ',' or ']'", token, start)
        this.#skip()
        token = this.#peek()
      }
      if (token.type === t.FLOW_SEQUENCE_END) break
      node.content.push(token.type === t.KEY ? this.#parseFlowPair(token) : this.#parseNode(false, false))
    }
    this.#comments.giveEndTo(node)
    this.#skip()
    this.#comments.checkDeferred()
    return node
  }

  // `[a: b]` is a list with a mapping.
  #parseFlowPair(keyToken: Token): YamlNode {
    const node = this.#node('mapping', keyToken)
    node.style = FLOW
    if (this.#v3) node.tag = '!!map'
    this.#skip()
    let token = this.#peek()
    let key: YamlNode
    if (token.type === t.VALUE || token.type === t.FLOW_ENTRY || token.type === t.FLOW_SEQUENCE_END) {
      this.#skip()
      key = this.#emptyAfter(token)
    } else key = this.#parseNode(false, false)
    node.content.push(key)
    token = this.#peek()
    let value: YamlNode | undefined
    if (token.type === t.VALUE) {
      this.#skip()
      const { type } = this.#peek()
      if (type !== t.FLOW_ENTRY && type !== t.FLOW_SEQUENCE_END) value = this.#parseNode(false, false)
    }
    value ??= this.#empty(token)
    node.content.push(value)
    moveFootToKey(key, value)
    this.#peek()
    return node
  }

  #parseFlowMapping(node: YamlNode): YamlNode {
    this.#comments.giveTo(node)
    const start = this.#peek()
    this.#skip()
    for (let first = true; ; first = false) {
      let token = this.#peek()
      if (token.type !== t.FLOW_MAPPING_END && !first) {
        if (token.type !== t.FLOW_ENTRY) this.#fail("did not find expected ',' or '}'", token, start)
        this.#skip()
        token = this.#peek()
      }
      if (token.type === t.FLOW_MAPPING_END) break
      const key = this.#flowKey(token)
      node.content.push(key)
      const value = token.type === t.KEY ? this.#flowValue() : this.#empty(this.#peek())
      node.content.push(value)
      moveFootToKey(key, value)
    }
    this.#comments.giveEndTo(node)
    this.#skip()
    this.#comments.checkDeferred()
    return node
  }

  #flowKey(token: Token): YamlNode {
    if (token.type !== t.KEY) return this.#parseNode(false, false)
    this.#skip()
    const next = this.#peek()
    const empty = next.type === t.VALUE || next.type === t.FLOW_ENTRY || next.type === t.FLOW_MAPPING_END
    return empty ? this.#empty(next) : this.#parseNode(false, false)
  }

  #flowValue(): YamlNode {
    const token = this.#peek()
    if (token.type !== t.VALUE) return this.#empty(token)
    this.#skip()
    const next = this.#peek()
    if (next.type === t.FLOW_ENTRY || next.type === t.FLOW_MAPPING_END) return this.#empty(next)
    return this.#parseNode(false, false)
  }

  #collection(kind: 'sequence' | 'mapping', properties: Properties, style: number): YamlNode {
    const node = this.#node(kind, properties.start)
    node.style = style
    this.#setTag(node, properties.tag, kind === 'sequence' ? '!!seq' : '!!map')
    this.#setAnchor(node, properties.anchor)
    this.#comments.checkDeferred()
    return node
  }

  #scalar(properties: Properties, value: string, style: number): YamlNode {
    const node = this.#node('scalar', properties.start)
    node.value = value
    node.style = style
    const untagged = this.#v3 && (properties.tag === '' || properties.tag === '!')
    const implied = !untagged ? '' : style !== PLAIN ? '!!str' : value === '<<' ? '!!merge' : resolveTag(value, '1.2')
    this.#setTag(node, properties.tag, implied)
    this.#setAnchor(node, properties.anchor)
    return node
  }

  // yaml.v3 gives every node its tag; yaml.v2 keeps what is written, also the lone `!`.
  #setTag(node: YamlNode, written: string, implied: string): void {
    if (!this.#v3) node.tag = shortTag(written)
    else if (written === '' || written === '!') node.tag = implied
    else {
      node.tag = shortTag(written)
      node.style |= TAGGED
    }
  }

  #setAnchor(node: YamlNode, anchor: string): void {
    if (anchor === '') return
    node.anchor = anchor
    this.#anchors.set(anchor, node)
  }

  #empty(mark: Mark): YamlNode {
    const node = this.#node('scalar', mark)
    if (this.#v3) node.tag = '!!null'
    this.#comments.checkDeferred()
    return node
  }

  #emptyAfter(token: Token): YamlNode {
    return this.#empty({ index: token.index, line: token.line, column: token.column + token.width })
  }

  #node(kind: NodeKind, mark: Mark): YamlNode {
    if (++this.#nodes > this.#reading.maxNodes) this.#fail(`more than ${this.#reading.maxNodes} nodes`, mark)
    const node = makeNode(kind)
    node.line = mark.line + 1
    node.column = mark.column + 1
    return node
  }

  #peek(): Token {
    return this.#comments.peek()
  }

  #skip(): void {
    this.#scanner.skip()
  }

  #fail(problem: string, at: Mark, context?: Mark): never {
    throw syntaxError(problem, at, compact({ reading: this.#reading, context, scanning: false }))
  }
}

function moveFootToKey(key: YamlNode, value: YamlNode): void {
  if (key.footComment !== '' || value.footComment === '') return
  key.footComment = value.footComment
  value.footComment = ''
}
