// Tested by src/lua/lua.test.ts
/** The arguments of library functions. */
import { LuaTable, numberText, toNumber, typeName, Unlocated } from '../run/values.ts'
import type { Budget, LuaFunction, LuaValue } from '../run/values.ts'

/** A library function before it has a budget. */
export type Native = (args: Arguments, budget: Budget) => readonly LuaValue[]

/** Functions by name. */
export type Natives = Readonly<Record<string, Native>>

/** The arguments of a call; a wrong type is an error that names the function. */
export class Arguments {
  readonly all: readonly LuaValue[]
  readonly #function: string

  constructor(name: string, all: readonly LuaValue[]) {
    this.#function = name
    this.all = all
  }

  fail(at: number, message: string): never {
    throw new Unlocated(`bad argument #${at + 1} to ${this.#function} (${message})`)
  }

  #wrongType(at: number, expected: string): never {
    return this.fail(at, `${expected} expected, got ${at < this.all.length ? typeName(this.all[at]) : 'no value'}`)
  }

  any(at: number): LuaValue {
    if (at >= this.all.length) this.fail(at, 'value expected')
    return this.all[at]
  }

  table(at: number): LuaTable {
    const value = this.all[at]
    return value instanceof LuaTable ? value : this.#wrongType(at, 'table')
  }

  /** A string, or a number as a string. */
  text(at: number): string {
    const value = this.all[at]
    if (typeof value === 'number') return numberText(value)
    return typeof value === 'string' ? value : this.#wrongType(at, 'string')
  }

  number(at: number): number {
    return toNumber(this.all[at]) ?? this.#wrongType(at, 'number')
  }

  integer(at: number, fallback?: number): number {
    if (fallback !== undefined && this.all[at] === undefined) return fallback
    return Math.trunc(this.number(at))
  }

  function(at: number): LuaFunction {
    const value = this.all[at]
    if (typeof value !== 'object' || value instanceof LuaTable) return this.#wrongType(at, 'function')
    return value
  }
}

/** The functions as values of a script. */
export function bindNatives(natives: Natives, prefix: string, budget: Budget): [string, LuaFunction][] {
  return Object.entries(natives).map(([name, native]) => {
    const full = prefix + name
    return [name, { name: full, call: (args) => native(new Arguments(full, args), budget) }]
  })
}
