/**
 * Turns events into text as go-yaml's emitters do: yaml.v2's for sigs.k8s.io/yaml (kubectl, Helm, Kustomize's output)
 * and yaml.v3's for trees with comments. What differs between the two is marked `v3`.
 */
import { DOUBLE_QUOTED, FOLDED, LITERAL, PLAIN, SINGLE_QUOTED } from '../node.ts'
import { CommentWriter } from './emit-comment.ts'
import type { EventComments } from './emit-comment.ts'
import type { Context, EmitterOptions, Event, NodeEvent, ScalarEvent, StartEvent, State } from './emit-event.ts'
import { Printer } from './printer.ts'
import { analyzeScalar } from './scalar-analysis.ts'
import { splitTag, tagText } from './emit-tag.ts'
import type { TagParts } from './emit-tag.ts'

const ITEM: Context = {}
const ROOT: Context = { root: true }
const IN_MAPPING: Context = { mapping: true }
const SIMPLE_KEY: Context = { mapping: true, simpleKey: true }
const MAX_SIMPLE_KEY_BYTES = 128
const END: Event = { type: 'end' }

/** Writes documents in turn. */
export class Emitter {
  readonly #printer: Printer
  readonly #comments: CommentWriter
  readonly #options: EmitterOptions
  readonly #states: State[] = []
  readonly #indents: number[] = []
  #state: State = 'document-content'
  #flowLevel = 0
  #documents = 0
  #context: Context = ROOT

  constructor(options: EmitterOptions) {
    this.#options = options
    this.#printer = new Printer(options)
    this.#comments = new CommentWriter(this.#printer)
  }

  /** All text so far. */
  get text(): string {
    return this.#printer.text
  }

  startDocument(headComment = ''): void {
    this.#comments.take({ head: headComment })
    if (this.#documents++ > 0) {
      this.#printer.putIndent()
      this.#printer.putIndicator('---', true, false, false)
      if (this.#options.v3) this.#printer.putIndent()
    }
    if (headComment !== '') {
      this.#comments.writeHead()
      this.#printer.putBreak()
    }
    this.#state = 'document-content'
  }

  endDocument(footComment = ''): void {
    this.#comments.take({ foot: footComment })
    if (this.#options.v3) {
      this.#printer.footIndent = 0
      this.#comments.writeFoot()
      this.#printer.footIndent = -1
    }
    this.#printer.putIndent()
  }

  alias(name: string, comments: EventComments = {}): void {
    this.#comments.take(comments)
    this.#emit({ type: 'alias', name })
  }

  scalar(scalar: ScalarEvent): void {
    this.#comments.take(scalar)
    const analysis = analyzeScalar(scalar.value, this.#options.v3)
    this.#emit({ type: 'scalar', scalar, analysis, tag: splitTag(scalar.tag) })
  }

  startSequence(start: StartEvent): void {
    this.#comments.take(start)
    this.#emit({ type: 'sequence', start, tag: splitTag(start.tag) })
  }

  startMapping(start: StartEvent): void {
    this.#comments.take(start)
    this.#emit({ type: 'mapping', start, tag: splitTag(start.tag) })
  }

  /** Ends the collection that was started last. */
  end(comments: EventComments = {}): void {
    this.#comments.take(comments)
    this.#emit(END)
  }

  #emit(event: Event): void {
    const state = this.#state
    switch (state) {
      case 'document-content':
        return this.#documentContent(event)
      case 'flow-sequence-first':
      case 'flow-sequence-item':
      case 'flow-sequence-trail':
        return this.#flowSequenceItem(event, state)
      case 'flow-mapping-first':
      case 'flow-mapping-key':
      case 'flow-mapping-trail':
        return this.#flowMappingKey(event, state)
      case 'flow-mapping-value':
      case 'flow-mapping-simple-value':
        return this.#flowMappingValue(event, state === 'flow-mapping-simple-value')
      case 'block-sequence-first':
      case 'block-sequence-item':
        return this.#blockSequenceItem(event, state === 'block-sequence-first')
      case 'block-mapping-first':
      case 'block-mapping-key':
        return this.#blockMappingKey(event, state === 'block-mapping-first')
      case 'block-mapping-value':
      case 'block-mapping-simple-value':
        return this.#blockMappingValue(event, state === 'block-mapping-simple-value')
      case 'document-end':
        throw new Error('invariant violated: a document has one node')
    }
  }

  #documentContent(event: Event): void {
    this.#comments.writeHead()
    this.#node(event, 'document-end', ROOT)
    this.#comments.writeLineAndFoot()
  }

  #flowSequenceItem(event: Event, state: State): void {
    const first = state === 'flow-sequence-first'
    if (first) this.#openFlow('[')
    if (event.type === 'end') {
      this.#flowLevel--
      this.#printer.indent = this.#indents.pop()!
      if (this.#options.v3 && this.#printer.column === 0) this.#printer.putIndent()
      this.#closeFlow(']')
      return
    }
    if (state === 'flow-sequence-item') this.#printer.putIndicator(',', false, false, false)
    this.#startFlowEntry()
    const trailing = this.#comments.hasTrailing()
    this.#node(event, trailing ? 'flow-sequence-trail' : 'flow-sequence-item', ITEM)
    this.#endFlowEntry()
  }

  #flowMappingKey(event: Event, state: State): void {
    const first = state === 'flow-mapping-first'
    if (first) this.#openFlow('{')
    if (event.type === 'end') {
      if (state === 'flow-mapping-key' && this.#comments.hasHeadOrFoot()) {
        this.#printer.putIndicator(',', false, false, false)
      }
      this.#comments.writeHead()
      this.#flowLevel--
      this.#printer.indent = this.#indents.pop()!
      this.#closeFlow('}')
      return
    }
    if (state === 'flow-mapping-key') this.#printer.putIndicator(',', false, false, false)
    this.#startFlowEntry()
    if (this.#isSimpleKey(event)) return this.#node(event, 'flow-mapping-simple-value', SIMPLE_KEY)
    this.#printer.putIndicator('?', true, false, false)
    this.#node(event, 'flow-mapping-value', IN_MAPPING)
  }

  #flowMappingValue(event: Event, simple: boolean): void {
    if (!simple && this.#printer.column > this.#options.width) this.#printer.putIndent()
    this.#printer.putIndicator(':', !simple, false, false)
    const trailing = this.#comments.hasTrailing()
    this.#node(event, trailing ? 'flow-mapping-trail' : 'flow-mapping-key', IN_MAPPING)
    this.#endFlowEntry()
  }

  #openFlow(bracket: string): void {
    this.#printer.putIndicator(bracket, true, true, false)
    this.#increaseIndent(true, 'none')
    this.#flowLevel++
  }

  #closeFlow(bracket: string): void {
    this.#printer.putIndicator(bracket, false, false, false)
    this.#comments.writeLineAndFoot()
    this.#state = this.#states.pop()!
  }

  #startFlowEntry(): void {
    this.#comments.writeHead()
    if (this.#options.v3 && this.#printer.column === 0) this.#printer.putIndent()
    if (this.#printer.column > this.#options.width) this.#printer.putIndent()
  }

  #endFlowEntry(): void {
    if (this.#comments.hasTrailing()) this.#printer.putIndicator(',', false, false, false)
    this.#comments.writeLineAndFoot()
  }

  #blockSequenceItem(event: Event, first: boolean): void {
    const printer = this.#printer
    if (first) {
      const underKey = this.#context.mapping === true
      if (!this.#options.v3) this.#increaseIndent(false, underKey && !printer.indention ? 'indentless' : 'none')
      else {
        const compact = underKey && (printer.column === 0 || !printer.indention) && this.#options.compactSequences
        this.#increaseIndent(false, compact ? 'compact' : 'none')
      }
    }
    if (event.type === 'end') return this.#endBlock()
    this.#comments.writeHead()
    printer.putIndent()
    printer.putIndicator('-', true, false, true)
    this.#node(event, 'block-sequence-item', ITEM)
    this.#comments.writeLineAndFoot()
  }

  #blockMappingKey(event: Event, first: boolean): void {
    if (first) this.#increaseIndent(false, 'none')
    this.#comments.writeHead()
    if (event.type === 'end') return this.#endBlock()
    this.#printer.putIndent()
    this.#comments.keepKeyLine()
    if (this.#isSimpleKey(event)) return this.#node(event, 'block-mapping-simple-value', SIMPLE_KEY)
    this.#printer.putIndicator('?', true, false, true)
    this.#node(event, 'block-mapping-value', IN_MAPPING)
  }

  #blockMappingValue(event: Event, simple: boolean): void {
    if (!simple) this.#printer.putIndent()
    this.#printer.putIndicator(':', !simple, false, !simple)
    if (event.type === 'scalar') this.#comments.giveKeyLine()
    else if ((event.type === 'mapping' || event.type === 'sequence') && !event.start.flow) this.#comments.writeKeyLine()
    this.#node(event, 'block-mapping-key', IN_MAPPING)
    this.#comments.writeLineAndFoot()
  }

  #endBlock(): void {
    this.#printer.indent = this.#indents.pop()!
    this.#state = this.#states.pop()!
  }

  #node(event: Event, next: State, context: Context): void {
    this.#states.push(next)
    this.#context = context
    switch (event.type) {
      case 'alias':
        this.#printer.putIndicator('*', true, false, false)
        this.#printer.putWord(event.name, false)
        this.#state = this.#states.pop()!
        return
      case 'scalar':
        return this.#scalar(event)
      case 'sequence':
      case 'mapping': {
        this.#anchorAndTag(event.start.anchor, event.tag)
        const flow = this.#flowLevel > 0 || event.start.flow || event.start.empty
        this.#state = `${flow ? 'flow' : 'block'}-${event.type}-first`
        return
      }
      case 'end':
        throw new Error('invariant violated: a collection ends that was not started')
    }
  }

  #scalar(event: Event & { type: 'scalar' }): void {
    const style = this.#styleOf(event)
    this.#anchorAndTag(event.scalar.anchor, event.tag)
    this.#increaseIndent(true, 'none')
    const { value } = event.scalar
    const allowBreaks = this.#context.simpleKey !== true
    switch (style) {
      case PLAIN:
        this.#printer.putPlain(value, allowBreaks)
        break
      case SINGLE_QUOTED:
        this.#printer.putSingleQuoted(value, allowBreaks)
        break
      case DOUBLE_QUOTED:
        this.#printer.putDoubleQuoted(value, allowBreaks)
        break
      default:
        this.#blockScalar(value, style)
    }
    this.#endBlock()
  }

  #blockScalar(value: string, style: number): void {
    this.#printer.putIndicator(style === LITERAL ? '|' : '>', true, false, false)
    this.#printer.putBlockHints(value)
    if (!this.#comments.writeLine()) this.#printer.putBreak()
    if (style === LITERAL) this.#printer.putLiteralLines(value)
    else this.#printer.putFoldedLines(value)
  }

  #styleOf({ scalar, analysis }: Event & { type: 'scalar' }): number {
    const simpleKey = this.#context.simpleKey === true
    const inFlow = this.#flowLevel > 0
    let { style } = scalar
    if (simpleKey && analysis.multiline) style = DOUBLE_QUOTED
    if (style === PLAIN) {
      const allowed = inFlow ? analysis.flowPlain : analysis.blockPlain
      if (!allowed || (scalar.value === '' && (inFlow || simpleKey))) style = SINGLE_QUOTED
    }
    if (style === SINGLE_QUOTED && !analysis.singleQuoted) style = DOUBLE_QUOTED
    if ((style === LITERAL || style === FOLDED) && (!analysis.block || inFlow || simpleKey)) style = DOUBLE_QUOTED
    return style
  }

  #anchorAndTag(anchor: string | undefined, tag: TagParts): void {
    if (anchor !== undefined && anchor !== '') {
      this.#printer.putIndicator('&', true, false, false)
      this.#printer.putWord(anchor, false)
    }
    const text = tagText(tag)
    if (text !== '') this.#printer.putWord(text, true)
  }

  #isSimpleKey(event: Event): boolean {
    switch (event.type) {
      case 'alias':
        return byteLength(event.name) <= MAX_SIMPLE_KEY_BYTES
      case 'scalar':
        if (event.analysis.multiline) return false
        return keyBytes(event.scalar, event.tag) + byteLength(event.scalar.value) <= MAX_SIMPLE_KEY_BYTES
      case 'sequence':
      case 'mapping':
        return event.start.empty && keyBytes(event.start, event.tag) <= MAX_SIMPLE_KEY_BYTES
      case 'end':
        return false
    }
  }

  #increaseIndent(flow: boolean, sequence: 'none' | 'indentless' | 'compact'): void {
    const printer = this.#printer
    const { indent, v3 } = this.#options
    this.#indents.push(printer.indent)
    if (printer.indent < 0) printer.indent = flow ? indent : 0
    else if (sequence === 'indentless') return
    else if (!v3) printer.indent += indent
    else if (this.#states.at(-1) === 'block-sequence-item') printer.indent += 2
    else {
      printer.indent = indent * Math.trunc((printer.indent + indent) / indent)
      if (sequence === 'compact') printer.indent -= 2
    }
  }
}

function keyBytes(event: NodeEvent, tag: TagParts): number {
  return byteLength(event.anchor ?? '') + byteLength(tag.handle) + byteLength(tag.suffix)
}

// Only exact near the limit.
function byteLength(text: string): number {
  if (text.length * 3 <= 40 || text.length > MAX_SIMPLE_KEY_BYTES) return text.length
  let bytes = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    bytes += c < 0x80 ? 1 : c < 0x800 || (c & 0xf800) === 0xd800 ? 2 : 3
  }
  return bytes
}
