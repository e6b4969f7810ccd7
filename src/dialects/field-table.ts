/** The fields of another system's files and kinds as a table: their types, and how exactly they are supported. */

/** How exactly a field is supported: the same result, nearly the same result, ignored with a warning, or refused. */
export type Verdict = 'exact' | 'approximated' | 'warned' | 'refused'

/** The type of a field. */
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

/** A field of the table. */
export interface Field {
  readonly shape: Shape
  readonly verdict: Verdict
  /** The effect of the field, for the documentation. */
  readonly how: string
}

/** Fields by name. */
export interface Fields {
  readonly [name: string]: Field
}

const field =
  (verdict: Verdict) =>
  (shape: Shape, how: string): Field => ({ shape, verdict, how })

/** The result is the same. */
export const exact = field('exact')
/** The result is nearly the same. */
export const near = field('approximated')
/** The field has no effect, and a finding says so. */
export const warned = field('warned')
/** An object with the field is refused. */
export const refused = field('refused')

/** Whether a field is a list of objects. */
export function isListOf(shape: Shape): shape is ListOf {
  return typeof shape === 'object' && 'items' in shape && !('shape' in shape.items)
}
