/** What the scanner hands to the parser. */

export const STREAM_START = 1
export const STREAM_END = 2
export const VERSION_DIRECTIVE = 3
export const TAG_DIRECTIVE = 4
export const DOCUMENT_START = 5
export const DOCUMENT_END = 6
export const BLOCK_SEQUENCE_START = 7
export const BLOCK_MAPPING_START = 8
export const BLOCK_END = 9
export const FLOW_SEQUENCE_START = 10
export const FLOW_SEQUENCE_END = 11
export const FLOW_MAPPING_START = 12
export const FLOW_MAPPING_END = 13
export const BLOCK_ENTRY = 14
export const FLOW_ENTRY = 15
export const KEY = 16
export const VALUE = 17
export const ALIAS = 18
export const ANCHOR = 19
export const TAG = 20
export const SCALAR = 21

/** A place in the text; line and column count from 0, the index counts UTF-16 units. */
export interface Mark {
  readonly index: number
  readonly line: number
  readonly column: number
}

/** A copy of a place that moves. */
export function markOf({ index, line, column }: Mark): Mark {
  return { index, line, column }
}

/** A token. It is its own mark: where it starts. */
export class Token implements Mark {
  readonly type: number
  readonly index: number
  readonly line: number
  readonly column: number
  /** How far it reaches: an empty value after it stands there. Only of single-character tokens. */
  readonly width: number
  /** Of scalars, aliases and anchors; the handle of a tag; the version of a directive. */
  value = ''
  /** The suffix of a tag, the prefix of a tag directive. */
  suffix = ''
  /** One of the scalar styles in node.ts. */
  style = 0

  constructor(type: number, mark: Mark, width: number) {
    this.type = type
    this.index = mark.index
    this.line = mark.line
    this.column = mark.column
    this.width = width
  }
}
