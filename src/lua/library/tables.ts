// Tested by src/lua/lua.test.ts
/** `table` and `math`. */
import { isLess } from '../run/operators.ts'
import { isTrue, toText, Unlocated } from '../run/values.ts'
import type { LuaValue } from '../run/values.ts'
import type { Natives } from './arguments.ts'

/** Functions of `table`. */
export const TABLE: Natives = {
  concat(args, budget) {
    const table = args.table(0)
    const separator = args.all[1] === undefined ? '' : args.text(1)
    const [from, to] = [args.integer(2, 1), args.integer(3, table.length)]
    let made = ''
    for (let at = from; at <= to; at += 1) {
      const value = table.get(at)
      if (typeof value !== 'string' && typeof value !== 'number') {
        throw new Unlocated(`invalid value (${toText(value)}) at index ${at} in table for concat`)
      }
      const part = at === from ? toText(value) : separator + toText(value)
      budget.step()
      budget.allocate(part.length)
      made += part
    }
    return [made]
  },
  getn: (args) => [args.table(0).length],
  insert(args, budget) {
    const { items, length } = args.table(0)
    const hasPlace = args.all.length > 2
    const value = args.any(hasPlace ? 2 : 1)
    budget.allocate(1)
    if (!hasPlace) args.table(0).set(length + 1, value)
    else {
      const place = Math.min(Math.max(args.integer(1), 1), length + 1)
      budget.step(length - place + 1)
      if (place === length + 1) args.table(0).set(place, value)
      else items.splice(place - 1, 0, value)
    }
    return []
  },
  maxn: (args) => [args.table(0).length],
  remove(args, budget) {
    const { items } = args.table(0)
    const place = args.integer(1, items.length)
    if (place < 1 || place > items.length) return [undefined]
    budget.step(items.length - place + 1)
    return items.splice(place - 1, 1)
  },
  sort(args, budget) {
    const { items } = args.table(0)
    const before = args.all[1] === undefined ? undefined : args.function(1)
    const isBefore = (a: LuaValue, b: LuaValue): boolean =>
      before ? isTrue(before.call([a, b])[0]) : isLess(a, b, budget)
    items.sort((a, b) => {
      budget.step()
      return isBefore(a, b) ? -1 : isBefore(b, a) ? 1 : 0
    })
    return []
  },
}

const ONE = [
  'abs',
  'acos',
  'asin',
  'atan',
  'ceil',
  'cos',
  'cosh',
  'exp',
  'floor',
  'log',
  'log10',
  'sin',
  'sinh',
  'sqrt',
] as const
const MORE_ONE = ['tan', 'tanh'] as const

/** Functions of `math`; `random` is not among them. */
export const MATH: Natives = {
  ...Object.fromEntries(
    [...ONE, ...MORE_ONE].map((name): [string, Natives[string]] => [name, (args) => [Math[name](args.number(0))]]),
  ),
  atan2: (args) => [Math.atan2(args.number(0), args.number(1))],
  deg: (args) => [(args.number(0) * 180) / Math.PI],
  fmod: (args) => [args.number(0) % args.number(1)],
  max: (args) => [
    Math.max(...args.all.map((_, at) => args.number(at)), ...(args.all.length === 0 ? [args.number(0)] : [])),
  ],
  min: (args) => [
    Math.min(...args.all.map((_, at) => args.number(at)), ...(args.all.length === 0 ? [args.number(0)] : [])),
  ],
  modf(args) {
    const whole = Math.trunc(args.number(0))
    return [whole, args.number(0) - whole]
  },
  pow: (args) => [args.number(0) ** args.number(1)],
  rad: (args) => [(args.number(0) * Math.PI) / 180],
}

/** Constants of `math`. */
export const MATH_CONSTANTS: readonly (readonly [string, number])[] = [
  ['pi', Math.PI],
  ['huge', Infinity],
]
