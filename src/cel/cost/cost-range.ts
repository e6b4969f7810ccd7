/** Costs and sizes that are known from at least to at most, and how they add up. */
export interface Range {
  readonly min: number
  readonly max: number
}

export const MOST = 2 ** 64
export const cap = (value: number): number => Math.min(value, MOST)
export const fixed = (value: number): Range => ({ min: value, max: value })
export const UNKNOWN: Range = { min: 0, max: MOST }
export const ZERO = fixed(0)

export const add = (a: Range, b: Range): Range => ({ min: cap(a.min + b.min), max: cap(a.max + b.max) })
export const multiply = (a: Range, b: Range): Range => ({ min: cap(a.min * b.min), max: cap(a.max * b.max) })
export const scale = (a: Range, by: number): Range => ({
  min: cap(Math.ceil(a.min * by)),
  max: cap(Math.ceil(a.max * by)),
})
export const union = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) })
