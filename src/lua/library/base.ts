// Tested by src/lua/lua.test.ts
/** The functions without a table: for example `pairs`, `type` and `tostring`. */
import { isTrue, LuaError, MAX_NUMBER, toNumber, toText, typeName, Unlocated } from '../run/values.ts'
import type { Budget, LuaTable, LuaValue } from '../run/values.ts'
import type { Natives } from './arguments.ts'

/** Functions of the base library. */
export const BASE: Natives = {
  assert(args) {
    if (isTrue(args.any(0))) return args.all
    throw new Unlocated(args.all[1] === undefined ? 'assertion failed!' : toText(args.all[1]))
  },
  error(args) {
    const value = args.all[0]
    // A message gets its position, unless the level says otherwise.
    if (typeof value === 'string' && args.integer(1, 1) !== 0) throw new Unlocated(value)
    throw new LuaError(value)
  },
  ipairs(args, budget) {
    const table = args.table(0)
    const step = (state: readonly LuaValue[]): readonly LuaValue[] => {
      budget.step()
      const at = (toNumber(state[1]) ?? 0) + 1
      const value = table.get(at)
      return value === undefined ? [undefined] : [at, value]
    }
    return [{ name: 'ipairs', call: step }, table, 0]
  },
  next(args, budget) {
    budget.step()
    return nextOf(args.table(0), args.all[1], budget)
  },
  pairs(args, budget) {
    const table = args.table(0)
    const step = (state: readonly LuaValue[]): readonly LuaValue[] => {
      budget.step()
      return nextOf(table, state[1], budget)
    }
    return [{ name: 'next', call: step }, table, undefined]
  },
  pcall(args) {
    const called = args.function(0)
    try {
      return [true, ...called.call(args.all.slice(1))]
    } catch (caught) {
      if (caught instanceof LuaError) return [false, caught.value]
      throw caught
    }
  },
  /** What a script prints is for its author's console; there is none here. */
  print: () => [],
  rawequal: (args) => [args.any(0) === args.any(1)],
  rawget: (args) => [args.table(0).get(args.any(1))],
  rawset(args, budget) {
    const key = args.any(1)
    if (key === undefined || Number.isNaN(key)) args.fail(1, 'table index is nil or NaN')
    budget.allocate(1)
    args.table(0).set(key, args.any(2))
    return [args.all[0]]
  },
  select(args) {
    if (args.all[0] === '#') return [args.all.length - 1]
    const from = args.integer(0)
    if (from === 0 || from < -(args.all.length - 1)) args.fail(0, 'index out of range')
    return from > 0 ? args.all.slice(from) : args.all.slice(args.all.length + from)
  },
  tonumber(args) {
    const value = args.any(0)
    const base = args.integer(1, 10)
    if (base === 10) return [toNumber(value)]
    if (base < 2 || base > 36) args.fail(1, 'base out of range')
    const given = args.text(0)
    if (given.length > MAX_NUMBER) return [undefined]
    const text = given.trim().toLowerCase()
    const digits = text.replace(/^-/, '').replace(base === 16 ? /^0x/ : /^(?!)/, '')
    const isRight = digits !== '' && [...digits].every((one) => Number.parseInt(one, 36) < base)
    return [isRight ? Number.parseInt(digits, base) * (text.startsWith('-') ? -1 : 1) : undefined]
  },
  tostring: (args, budget) => [budget.text(toText(args.any(0)))],
  type: (args) => [typeName(args.any(0))],
  unpack: (args, budget) =>
    unpack(args.table(0), args.integer(1, 1), { to: args.integer(2, args.table(0).length), budget }),
  xpcall(args) {
    const called = args.function(0)
    const handler = args.function(1)
    try {
      return [true, ...called.call([])]
    } catch (caught) {
      if (caught instanceof LuaError) return [false, ...handler.call([caught.value])]
      throw caught
    }
  },
}

function unpack(
  table: LuaTable,
  from: number,
  { to, budget }: { readonly to: number; readonly budget: Budget },
): readonly LuaValue[] {
  const count = from <= to ? to - from + 1 : 0
  budget.allocate(count)
  // A count: adding 1 to a number above 2^53 does not change it.
  return Array.from({ length: count }, (_, index) => table.get(from + index))
}

function nextOf(table: LuaTable, key: LuaValue, budget: Budget): readonly LuaValue[] {
  const found = table.next(key, budget)
  if (found === false) throw new Unlocated('invalid key to next')
  return found ?? [undefined]
}
