// Chance that can be repeated, for everything that is generated here.

/** A number below the given one. */
export type Random = (below: number) => number

/** A random number generator that can be repeated. */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** One of them. */
export const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)]!

/** True once in so many times. */
export const chance = (random: Random, outOf: number): boolean => random(outOf) === 0
