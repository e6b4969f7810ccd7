// Tested by src/lua/lua.test.ts
/** The operators of two values. */
import type { BinaryOperator } from '../syntax/ast.ts'
import { toNumber, toText, typeName, Unlocated } from './values.ts'
import type { Budget, LuaValue } from './values.ts'

const NAMES = { '+': 'add', '-': 'sub', '*': 'mul', '/': 'div', '%': 'mod', '^': 'pow' } as const

/** Evaluates an operator. */
export function operate(operator: BinaryOperator, left: LuaValue, right: LuaValue, budget: Budget): LuaValue {
  switch (operator) {
    case '==':
      return isEqual(left, right, budget)
    case '~=':
      return !isEqual(left, right, budget)
    case '<':
      return isLess(left, right, budget)
    case '>':
      return isLess(right, left, budget)
    case '<=':
      return !isLess(right, left, budget) && isOrdered(left, right)
    case '>=':
      return !isLess(left, right, budget) && isOrdered(left, right)
    case '..': {
      if (!isText(left) || !isText(right)) {
        throw new Unlocated(`cannot perform concat operation between ${typeName(left)} and ${typeName(right)}`)
      }
      return budget.text(toText(left) + toText(right))
    }
    default:
      return calculate(operator, left, right)
  }
}

function isText(value: LuaValue): boolean {
  return typeof value === 'string' || typeof value === 'number'
}

function isEqual(left: LuaValue, right: LuaValue, budget: Budget): boolean {
  if (typeof left === 'string' && typeof right === 'string' && left.length === right.length) budget.read(left.length)
  return left === right
}

/** Whether the first is less than the second: two numbers or two strings. */
export function isLess(left: LuaValue, right: LuaValue, budget: Budget): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left < right
  if (typeof left === 'string' && typeof right === 'string') {
    budget.read(Math.min(left.length, right.length))
    return left < right
  }
  throw new Unlocated(`attempt to compare ${typeName(left)} with ${typeName(right)}`)
}

function isOrdered(left: LuaValue, right: LuaValue): boolean {
  return !Number.isNaN(left) && !Number.isNaN(right)
}

function calculate(operator: keyof typeof NAMES, left: LuaValue, right: LuaValue): number {
  const [a, b] = [toNumber(left), toNumber(right)]
  if (a === undefined || b === undefined) {
    const name = NAMES[operator]
    throw new Unlocated(`cannot perform ${name} operation between ${typeName(left)} and ${typeName(right)}`)
  }
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '/':
      return a / b
    case '%':
      return Number.isFinite(b) ? a - Math.floor(a / b) * b : a % b
    case '^':
      return a ** b
  }
}
