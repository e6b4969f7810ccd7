// Tested by src/lua/lua.test.ts
/** Values of a running script. `undefined` is nil; strings are byte strings. */

export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction

/** A function of the script or of the library. */
export interface LuaFunction {
  readonly name: string
  readonly call: (args: readonly LuaValue[]) => readonly LuaValue[]
}

/** An error that a script can catch with pcall. */
export class LuaError extends Error {
  override readonly name = 'LuaError'
  readonly value: LuaValue

  constructor(value: LuaValue) {
    super(typeof value === 'string' ? value : `error object is a ${typeName(value)}`)
    this.value = value
  }
}

/** An error of an operator or of a library function, which gets the line of its call. */
export class Unlocated extends LuaError {}

/** A script that used up what it may use; a script cannot catch it. */
export class LuaLimitExceeded extends Error {
  override readonly name = 'LuaLimitExceeded'
}

/** What a run may use. */
export interface LuaLimits {
  /** Statements, operators, calls, and steps of library functions. */
  readonly steps: number
  /** Characters of made strings and entries of made tables, together; what is released still counts. */
  readonly memory: number
  /** Nested calls. */
  readonly depth: number
}

/** Characters that are read in the time of a step. */
const CHARS_A_STEP = 64

/** Counts what a run uses. */
export class Budget {
  #steps: number
  #memory: number
  #depth: number

  constructor({ steps, memory, depth }: LuaLimits) {
    this.#steps = steps
    this.#memory = memory
    this.#depth = depth
  }

  step(count = 1): void {
    this.#steps -= count
    // NaN, of which no comparison is true, would end the limit.
    if (!(this.#steps >= 0)) throw new LuaLimitExceeded('the script takes too many steps')
  }

  /** Counts before the memory is used. */
  allocate(size: number): void {
    this.#memory -= size
    if (!(this.#memory >= 0)) throw new LuaLimitExceeded('the script uses too much memory')
  }

  /** Counts work on each character of a text, such as a comparison. */
  read(length: number): void {
    if (length >= CHARS_A_STEP) this.step(Math.floor(length / CHARS_A_STEP))
  }

  text(made: string): string {
    this.allocate(made.length)
    return made
  }

  nested<T>(run: () => T): T {
    this.#depth -= 1
    if (this.#depth < 0) throw new LuaLimitExceeded('the script calls functions too deeply')
    try {
      return run()
    } finally {
      this.#depth += 1
    }
  }
}

/** A table: values at positions 1 to n, and values by other keys in the order of their first assignment. */
export class LuaTable {
  readonly items: LuaValue[] = []
  #values = new Map<LuaValue, LuaValue>()
  /** Keys for `next`; a key stays in its place when its value is removed. */
  #keys: LuaValue[] = []
  #places = new Map<LuaValue, number>()

  get(key: LuaValue): LuaValue {
    return typeof key === 'number' && key >= 1 && key <= this.items.length && Number.isInteger(key)
      ? this.items[key - 1]
      : this.#values.get(key)
  }

  set(key: LuaValue, value: LuaValue): void {
    if (typeof key === 'number' && Number.isInteger(key) && key >= 1 && key <= this.items.length + 1) {
      this.#setItem(key, value)
      return
    }
    if (value !== undefined && !this.#places.has(key)) {
      this.#places.set(key, this.#keys.length)
      this.#keys.push(key)
    }
    if (value === undefined) this.#values.delete(key)
    else this.#values.set(key, value)
  }

  #setItem(key: number, value: LuaValue): void {
    const { items } = this
    if (key <= items.length) items[key - 1] = value
    else if (value !== undefined) {
      items.push(value)
      // Positions that were assigned before their turn.
      for (let next = key + 1; this.#values.has(next); next += 1) {
        items.push(this.#values.get(next))
        this.#values.delete(next)
      }
    } else this.#values.delete(key)
    while (items.length > 0 && items.at(-1) === undefined) items.pop()
  }

  get length(): number {
    return this.items.length
  }

  /**
   * The entry behind a key, or behind the start; `false` when the key is not there. Each place without a value that it
   * passes is a step.
   */
  next(key: LuaValue, budget: Pick<Budget, 'step'>): readonly [LuaValue, LuaValue] | undefined | false {
    let at = 0
    if (key !== undefined) {
      const isItem = typeof key === 'number' && Number.isInteger(key) && key >= 1 && key <= this.items.length
      const place = this.#places.get(key)
      // A loop may have removed the last items, among them the key.
      if (!isItem && place === undefined) return typeof key === 'number' ? this.#nextKey(0, budget) : false
      if (!isItem) return this.#nextKey(place! + 1, budget)
      at = key
    }
    for (; at < this.items.length; at += 1) {
      if (this.items[at] !== undefined) return [at + 1, this.items[at]]
      budget.step()
    }
    return this.#nextKey(0, budget)
  }

  #nextKey(from: number, budget: Pick<Budget, 'step'>): readonly [LuaValue, LuaValue] | undefined {
    for (let at = from; at < this.#keys.length; at += 1) {
      const key = this.#keys[at]
      const value = this.#values.get(key)
      if (value !== undefined) return [key, value]
      budget.step()
    }
    return undefined
  }

  /** Keys and values besides the items. */
  entries(): Iterable<readonly [LuaValue, LuaValue]> {
    return this.#values
  }
}

/** The name of a type, as `type` returns it. */
export function typeName(value: LuaValue): string {
  if (value === undefined) return 'nil'
  if (typeof value !== 'object') return typeof value
  return value instanceof LuaTable ? 'table' : 'function'
}

/** nil and false are false; all values but these are true. */
export function isTrue(value: LuaValue): boolean {
  return value !== undefined && value !== false
}

/** Characters of the longest number that is read. */
export const MAX_NUMBER = 1000

/** A number, or the number that a string spells. */
export function toNumber(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.length > MAX_NUMBER) return undefined
  const text = value.trim()
  return /^[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)$/.test(text)
    ? text.startsWith('-')
      ? -Number(text.slice(1))
      : Number(text.replace(/^\+/, ''))
    : undefined
}

/** A number as `tostring` writes it. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return Object.is(value, -0) ? '0' : BigInt(value).toString()
  const [digits = '', exponent] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 6) return value.toFixed(Math.max(0, digits.replace(/[-.]/g, '').length - 1 - power))
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** A value as `tostring` writes it. */
export function toText(value: LuaValue): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return numberText(value)
  if (value === undefined || typeof value === 'boolean') return value === undefined ? 'nil' : String(value)
  // Without an address, so that equal objects give equal messages.
  return typeName(value)
}
