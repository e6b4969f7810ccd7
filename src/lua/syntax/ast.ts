// Tested by src/lua/lua.test.ts
/** The syntax tree of a script. Strings are byte strings: each character is a byte. */

/** An expression. */
export type Expr =
  | { readonly kind: 'constant'; readonly value: string | number | boolean | undefined }
  | { readonly kind: 'varargs' }
  | { readonly kind: 'function'; readonly body: FunctionBody }
  | { readonly kind: 'name'; readonly name: string; readonly line: number }
  | { readonly kind: 'index'; readonly object: Expr; readonly key: Expr; readonly line: number }
  | { readonly kind: 'call'; readonly callee: Expr; readonly args: readonly Expr[]; readonly line: number }
  | {
      readonly kind: 'method'
      readonly object: Expr
      readonly name: string
      readonly args: readonly Expr[]
      readonly line: number
    }
  | {
      readonly kind: 'binary'
      readonly operator: BinaryOperator
      readonly left: Expr
      readonly right: Expr
      readonly line: number
    }
  | { readonly kind: 'unary'; readonly operator: '-' | 'not' | '#'; readonly operand: Expr; readonly line: number }
  | { readonly kind: 'and' | 'or'; readonly left: Expr; readonly right: Expr }
  | { readonly kind: 'table'; readonly fields: readonly TableField[]; readonly line: number }
  /** An expression in parentheses: one value, also of a call that returns more. */
  | { readonly kind: 'single'; readonly inner: Expr }

/** Operators that always evaluate both sides. */
export type BinaryOperator = '+' | '-' | '*' | '/' | '%' | '^' | '..' | '==' | '~=' | '<' | '<=' | '>' | '>='

/** `key = value` of a table; without a key, the next position. */
export interface TableField {
  readonly key?: Expr
  readonly value: Expr
}

/** Parameters and statements of a function. */
export interface FunctionBody {
  readonly params: readonly string[]
  readonly hasVarargs: boolean
  readonly block: Block
  readonly line: number
}

export type Block = readonly Statement[]

/** A statement. */
export type Statement =
  | {
      readonly kind: 'local'
      readonly names: readonly string[]
      readonly values: readonly Expr[]
      readonly line: number
    }
  | { readonly kind: 'localFunction'; readonly name: string; readonly body: FunctionBody; readonly line: number }
  | {
      readonly kind: 'assign'
      readonly targets: readonly Expr[]
      readonly values: readonly Expr[]
      readonly line: number
    }
  | { readonly kind: 'call'; readonly call: Expr; readonly line: number }
  | { readonly kind: 'do'; readonly block: Block; readonly line: number }
  | { readonly kind: 'while'; readonly condition: Expr; readonly block: Block; readonly line: number }
  | { readonly kind: 'repeat'; readonly block: Block; readonly condition: Expr; readonly line: number }
  | {
      readonly kind: 'if'
      readonly branches: readonly { readonly condition: Expr; readonly block: Block }[]
      readonly otherwise: Block | undefined
      readonly line: number
    }
  | {
      readonly kind: 'count'
      readonly name: string
      readonly from: Expr
      readonly to: Expr
      readonly step: Expr | undefined
      readonly block: Block
      readonly line: number
    }
  | {
      readonly kind: 'each'
      readonly names: readonly string[]
      readonly values: readonly Expr[]
      readonly block: Block
      readonly line: number
    }
  | { readonly kind: 'return'; readonly values: readonly Expr[]; readonly line: number }
  | { readonly kind: 'break'; readonly line: number }
  | { readonly kind: 'goto'; readonly label: string; readonly line: number }
  | { readonly kind: 'label'; readonly label: string; readonly line: number }
