/** How what a template writes down, or has at hand, becomes an argument of a Go function. */
import { canBeNil, isAssignable } from './assignable.ts'
import { paramTypeName } from './function.ts'
import type { ParamType } from './function.ts'
import { nodeText } from './node.ts'
import type { BoolNode, NumberNode, StringNode } from './node.ts'
import { boxed, GoInt, goInt, plainValue, typeName } from './value.ts'

/** Says that a value cannot be what a parameter asks for. */
export const REFUSED = Symbol('refused')

type Literal = BoolNode | NumberNode | StringNode

/** The value of a number that nothing asks a type of. */
export function idealConstant(node: NumberNode): unknown {
  if (node.isComplex) return REFUSED
  const isHex = /^0[xX]/.test(node.text) && !/[pP]/.test(node.text)
  if (node.float !== undefined && !isHex && !node.text.startsWith("'") && /[.eEpP]/.test(node.text)) return node.float
  return node.int === undefined ? REFUSED : goInt(node.int)
}

/** Why a number has no value. */
export function constantProblem(node: NumberNode): string {
  return node.isComplex ? `complex numbers are not supported: ${node.text}` : `${node.text} overflows int`
}

/** A literal as a parameter's type. */
export function literalAs(node: Literal, type: ParamType): unknown {
  switch (type) {
    case 'any':
    case 'value':
      if (node.type === 'number') return idealConstant(node)
      return node.type === 'string' ? node.text : node.value
    case 'bool':
      return node.type === 'bool' ? node.value : REFUSED
    case 'string':
      return node.type === 'string' ? node.text : REFUSED
    case 'int':
    case 'int64':
    case 'time.Duration':
      return node.type === 'number' && node.int !== undefined
        ? new GoInt(node.int, type === 'int' ? type : 'int64')
        : REFUSED
    case 'uint32':
      return node.type === 'number' && node.uint !== undefined ? new GoInt(node.uint, type) : REFUSED
    case 'float64':
      return node.type === 'number' && node.float !== undefined ? node.float : REFUSED
    default:
      return REFUSED
  }
}

const EXPECTED: ReadonlyMap<ParamType, string> = new Map<ParamType, string>([
  ['bool', 'bool'],
  ['string', 'string'],
  ['int', 'integer'],
  ['int64', 'integer'],
  ['time.Duration', 'integer'],
  ['uint32', 'unsigned integer'],
  ['float64', 'float'],
])

/** Why a literal was refused. */
export function literalProblem(node: Literal, type: ParamType): string {
  if ((type === 'any' || type === 'value') && node.type === 'number') return constantProblem(node)
  const expected = EXPECTED.get(type)
  if (expected !== undefined) return `expected ${expected}; found ${nodeText(node)}`
  return `can't handle ${nodeText(node)} for arg of type ${paramTypeName(type)}`
}

/** reflect's AssignableTo, for the types that functions ask for. */
export function valueAs(value: unknown, type: ParamType): unknown {
  if (type === 'value') return value
  if (value === undefined) return canBeNil(type) ? null : REFUSED
  if (type === 'any') return boxed(value)
  // A nil in an interface is accepted where an untyped nil is not.
  if (value === null || !isAssignable(value, type)) return REFUSED
  return type === 'map' || type === 'list' ? plainValue(value) : value
}

/** Why a value was refused. */
export function valueProblem(value: unknown, type: ParamType): string {
  if (value === undefined) return `invalid value; expected ${paramTypeName(type)}`
  const got = value === null ? 'interface {}' : typeName(value)
  return `wrong type for value; expected ${paramTypeName(type)}; got ${got}`
}
