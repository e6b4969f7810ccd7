/** What goes into the emitter, and where it stands. */
import type { EventComments } from './emit-comment.ts'
import type { TagParts } from './emit-tag.ts'
import type { PrinterOptions } from './printer.ts'
import type { ScalarAnalysis } from './scalar-analysis.ts'

/** How to write. */
export interface EmitterOptions extends PrinterOptions {
  /** v3: whether `- ` counts as indentation of a list under its key, as Kustomize has it. */
  readonly compactSequences: boolean
}

/** What a node starts with. */
export interface NodeEvent extends EventComments {
  readonly anchor?: string
  /** The long form of a tag, or empty when the text says it. */
  readonly tag?: string
}

/** A scalar in the style that is wanted; a safer one is taken if need be. */
export interface ScalarEvent extends NodeEvent {
  readonly value: string
  readonly style: number
}

/** The start of a collection. */
export interface StartEvent extends NodeEvent {
  readonly flow: boolean
  readonly empty: boolean
}

/** What the emitter expects next. */
export type State =
  | 'document-content'
  | 'document-end'
  | 'flow-sequence-first'
  | 'flow-sequence-item'
  | 'flow-sequence-trail'
  | 'flow-mapping-first'
  | 'flow-mapping-key'
  | 'flow-mapping-trail'
  | 'flow-mapping-value'
  | 'flow-mapping-simple-value'
  | 'block-sequence-first'
  | 'block-sequence-item'
  | 'block-mapping-first'
  | 'block-mapping-key'
  | 'block-mapping-value'
  | 'block-mapping-simple-value'

/** Anything that follows the start of a document. */
export type Event =
  | { readonly type: 'alias'; readonly name: string }
  | { readonly type: 'scalar'; readonly scalar: ScalarEvent; readonly analysis: ScalarAnalysis; readonly tag: TagParts }
  | { readonly type: 'sequence' | 'mapping'; readonly start: StartEvent; readonly tag: TagParts }
  | { readonly type: 'end' }

/** Where a node stands in its parent. */
export interface Context {
  readonly root?: boolean
  readonly mapping?: boolean
  readonly simpleKey?: boolean
}
