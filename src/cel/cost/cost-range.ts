/** Costs and sizes that are known from at least to at most, and how they add up. */
export interface CostRange {
  readonly min: number
  readonly max: number
}

export const MAX_COST = 2 ** 64
export const capCost = (value: number): number => Math.min(value, MAX_COST)
export const fixedCost = (value: number): CostRange => ({ min: value, max: value })
export const UNKNOWN: CostRange = { min: 0, max: MAX_COST }
export const ZERO = fixedCost(0)

export const add = (a: CostRange, b: CostRange): CostRange => ({
  min: capCost(a.min + b.min),
  max: capCost(a.max + b.max),
})
export const multiply = (a: CostRange, b: CostRange): CostRange => ({
  min: capCost(a.min * b.min),
  max: capCost(a.max * b.max),
})
export const scale = (a: CostRange, by: number): CostRange => ({
  min: capCost(Math.ceil(a.min * by)),
  max: capCost(Math.ceil(a.max * by)),
})
export const union = (a: CostRange, b: CostRange): CostRange => ({
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
})
