// Tested by src/lua/lua.test.ts
/** Which variable a name means: a local of the function, a local of a function around it, or a global. */
import { LuaSyntaxError } from '../syntax/lexer.ts'
import type { LuaValue } from './values.ts'

/** A local variable; each pass of a loop has its own, which functions keep. */
export interface Cell {
  value: LuaValue
}

/** What a running function has. */
export interface Frame {
  readonly cells: Cell[]
  readonly captured: readonly Cell[]
  readonly varargs: readonly LuaValue[]
}

/** Where a variable is. */
export type Place =
  | { readonly kind: 'local' | 'captured'; readonly at: number }
  | { readonly kind: 'global'; readonly name: string }

/** Throws LuaSyntaxError for a global variable, or a field of one, that is not available. */
export type GlobalCheck = (name: string, field: string | undefined, line: number) => void

/** The names of a function while it is compiled. */
export class Scope {
  readonly #outer: Scope | undefined
  readonly #check: GlobalCheck
  readonly #blocks: Map<string, number>[] = [new Map()]
  readonly #captured = new Map<string, { readonly at: number; readonly from: Place }>()
  readonly #labels: ReadonlySet<string>[] = []
  #cells = 0

  constructor(check: GlobalCheck, outer?: Scope) {
    this.#check = check
    this.#outer = outer
  }

  inner(): Scope {
    return new Scope(this.#check, this)
  }

  /** Declares a local variable, and returns its place. */
  declare(name: string): number {
    const at = this.#cells
    this.#cells += 1
    this.#blocks.at(-1)!.set(name, at)
    return at
  }

  /** Compiles a block, whose names and labels end with it. */
  block<T>(labels: ReadonlySet<string>, compile: () => T): T {
    this.#blocks.push(new Map())
    this.#labels.push(labels)
    const made = compile()
    this.#blocks.pop()
    this.#labels.pop()
    return made
  }

  /** Throws if no block around has the label. */
  checkLabel(label: string, line: number): void {
    if (!this.#labels.some((labels) => labels.has(label))) throw new LuaSyntaxError(line, `no visible label '${label}'`)
  }

  find(name: string, line: number): Place {
    const place = this.#variable(name)
    if (place) return place
    this.#check(name, undefined, line)
    return { kind: 'global', name }
  }

  /** Checks a field with a constant name, such as `math.floor`. */
  checkField(name: string, field: string, line: number): void {
    if (!this.#variable(name)) this.#check(name, field, line)
  }

  #variable(name: string): Place | undefined {
    for (let block = this.#blocks.length - 1; block >= 0; block -= 1) {
      const at = this.#blocks[block]!.get(name)
      if (at !== undefined) return { kind: 'local', at }
    }
    const from = this.#outer ? this.#outer.#variable(name) : undefined
    if (!from) return undefined
    // A name of an outer function can mean another variable later, when the block that hid it has ended.
    const key = `${name} ${from.kind} ${from.kind === 'global' ? '' : from.at}`
    const known = this.#captured.get(key)
    if (known) return { kind: 'captured', at: known.at }
    const at = this.#captured.size
    this.#captured.set(key, { at, from })
    return { kind: 'captured', at }
  }

  /** The variables of functions around, in the order of their places. */
  captures(): readonly Place[] {
    return [...this.#captured.values()].map(({ from }) => from)
  }
}
