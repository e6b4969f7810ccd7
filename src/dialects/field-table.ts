/** Fields of another system's files and kinds as a table: what may stand there, and how far it is honoured. */

/** How far a field is honoured: the same result, nearly the same, ignored with a warning, or the bundle is not taken. */
export type Verdict = 'exact' | 'approximated' | 'warned' | 'refused'

/** What may stand in a field. */
export type Shape =
  | 'text'
  | 'flag'
  | 'int'
  | 'limit'
  | 'texts'
  | 'textMap'
  | 'map'
  | 'selector'
  | 'maps'
  | Fields
  | ListOf

/** A list of objects. */
export interface ListOf {
  readonly items: Fields
}

/** One field. */
export interface Field {
  readonly shape: Shape
  readonly verdict: Verdict
  /** What becomes of it, for people. */
  readonly how: string
}

/** Fields by name. */
export interface Fields {
  readonly [name: string]: Field
}

const field =
  (verdict: Verdict) =>
  (shape: Shape, how: string): Field => ({ shape, verdict, how })

/** The same result. */
export const exact = field('exact')
/** Nearly the same. */
export const near = field('approximated')
/** No effect, which is said. */
export const warned = field('warned')
/** What has it is not taken. */
export const refused = field('refused')

/** Whether a field is a list of objects. */
export function isListOf(shape: Shape): shape is ListOf {
  return typeof shape === 'object' && 'items' in shape && !('shape' in shape.items)
}
