/** The syntax tree. Macros are already expanded: `all`, `map` and the rest are one kind of fold, as in cel-go. */
import type { CelValue } from '../values.ts'

interface Node {
  /** Unique in its tree; what the checker learns is kept beside the tree, by id. */
  readonly id: number
  /** Where it is in the source, in UTF-16 units. */
  readonly at: number
}

/** A constant. */
export interface LiteralExpr extends Node {
  readonly kind: 'literal'
  readonly value: CelValue
}

/** A name. */
export interface IdentExpr extends Node {
  readonly kind: 'ident'
  readonly name: string
}

/** `operand.field`, or `has(operand.field)`. */
export interface SelectExpr extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  readonly isTest: boolean
}

/** A call of a function or operator; operators have names like `_+_`. */
export interface CallExpr extends Node {
  readonly kind: 'call'
  readonly fn: string
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
}

/** `[a, ?b]`. */
export interface ListExpr extends Node {
  readonly kind: 'list'
  readonly items: readonly Expr[]
  readonly optional: ReadonlySet<number>
}

/** `{key: value}`. */
export interface MapExpr extends Node {
  readonly kind: 'map'
  readonly entries: readonly { readonly key: Expr; readonly value: Expr; readonly optional: boolean }[]
}

/** `Name{field: value}`. */
export interface StructExpr extends Node {
  readonly kind: 'struct'
  readonly name: string
  readonly fields: readonly {
    readonly name: string
    readonly value: Expr
    readonly optional: boolean
    readonly at: number
  }[]
}

/** A loop over a list or map with an accumulator. */
export interface FoldExpr extends Node {
  readonly kind: 'fold'
  readonly range: Expr
  readonly iterVar: string
  readonly iterVar2: string | undefined
  /** The accumulator's name: a user's own name only where a value is bound to it (`optMap`). */
  readonly accuVar: string
  readonly init: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

/** Any expression. */
export type Expr = LiteralExpr | IdentExpr | SelectExpr | CallExpr | ListExpr | MapExpr | StructExpr | FoldExpr

/** The accumulator of a fold: no identifier a user can write. */
export const ACCUMULATOR = '@result'

/** What is wrong with an expression, and where. */
export interface CelProblem {
  readonly message: string
  /** Offset in UTF-16 units. */
  readonly at: number
}
