/** Prioritizers of a Placement, their weights and scores. */
import { compact } from '../../core/compact.ts'
import { approximateQuantity } from '../../core/text/quantity.ts'
import { parseTime } from '../../core/time/time.ts'
import type { Misconfigured, PlacementCluster, PlacementQuestion, PlacementWorld, PrioritizerConfig } from './types.ts'

/** The built-in prioritizers. */
const BUILT_IN_PRIORITIZERS = ['Balance', 'Steady', 'ResourceAllocatableCPU', 'ResourceAllocatableMemory'] as const

/** A weighted prioritizer. */
export interface Prioritizer {
  /** `Balance` or `Score/resource/name`. */
  readonly name: string
  readonly weight: number
  score(clusters: readonly PlacementCluster[], world: PlacementWorld): Scores
}

/** A score per cluster. Defaults to 0. */
export interface Scores {
  of(cluster: string): number
  /** Time in milliseconds since 1970 at which the first score expires. */
  readonly until?: number
  /** Clusters whose score has expired. */
  readonly expired?: readonly string[]
}

/** Maximum score of a prioritizer; the minimum is its negative. */
export const MAX_SCORE = 100

// Balance can differ by 200 between two clusters; Steady with weight 3 keeps a selected cluster against that.
const NATIVE_STEADY_WEIGHT = 3

/** The prioritizers of a Placement. */
export function prioritizersOf(question: PlacementQuestion): readonly Prioritizer[] | Misconfigured {
  const { mode = 'Additive', configurations = [] } = question.prioritizers ?? {}
  if (mode !== 'Additive' && mode !== 'Exact' && mode !== '') {
    return { misconfigured: `prioritizers.mode ${JSON.stringify(mode)} is neither Additive nor Exact.` }
  }
  const chosen = new Map<string, Prioritizer>()
  if (mode !== 'Exact') {
    chosen.set('BuiltIn/Balance', builtIn('Balance', 1))
    chosen.set('BuiltIn/Steady', builtIn('Steady', question.scheduler === 'ocm' ? 1 : NATIVE_STEADY_WEIGHT))
  }
  // A built-in prioritizer that is listed twice counts once with its last weight; custom scores each count.
  const keyOf = ({ type, builtIn: name = '', score }: PrioritizerConfig, i: number) =>
    score ? `${i}` : `${type}/${name}`
  const last = new Map(configurations.map((one, i) => [keyOf(one, i), i]))
  for (const [i, config] of configurations.entries()) {
    const { type, builtIn: name = '', score, weight } = config
    const at = `prioritizers.configurations[${i}]`
    const key = keyOf(config, i)
    if (last.get(key) !== i) continue
    if (weight === 0) {
      chosen.delete(key)
      continue
    }
    if (type === 'BuiltIn') {
      const known = BUILT_IN_PRIORITIZERS.find((one) => one === name)
      if (!known) {
        return {
          misconfigured: `${at}: unknown built-in prioritizer ${JSON.stringify(name)}; valid names: ${BUILT_IN_PRIORITIZERS.join(', ')}.`,
        }
      }
      chosen.set(key, builtIn(known, weight))
    } else if (score) chosen.set(key, custom(score, weight, question.scheduler ?? 'native'))
    else return { misconfigured: `${at}: a custom score needs score.resource and score.name.` }
  }
  return [...chosen.values()]
}

function builtIn(name: (typeof BUILT_IN_PRIORITIZERS)[number], weight: number): Prioritizer {
  switch (name) {
    case 'Balance':
      return { name, weight, score: (_, { load }) => ({ of: (cluster) => balance(load.countOf(cluster), load.max) }) }
    case 'Steady':
      return { name, weight, score: (_, { incumbents }) => ({ of: (one) => (incumbents.has(one) ? MAX_SCORE : 0) }) }
    case 'ResourceAllocatableCPU':
      return { name, weight, score: (clusters) => allocatable(clusters, 'cpu') }
    case 'ResourceAllocatableMemory':
      return { name, weight, score: (clusters) => allocatable(clusters, 'memory') }
  }
}

function balance(count: number, max: number): number {
  return count === 0 ? MAX_SCORE : 2 * Math.trunc(MAX_SCORE * (0.5 - count / max))
}

function allocatable(clusters: readonly PlacementCluster[], resource: string): Scores {
  const amounts = new Map<string, number>()
  let least = Infinity
  let most = -Infinity
  for (const cluster of clusters) {
    const free = amountOf(cluster.allocatable, resource)
    if (free === undefined || amountOf(cluster.capacity, resource) === undefined) continue
    amounts.set(cluster.name, free)
    if (free < least) least = free
    if (free > most) most = free
  }
  return {
    of: (cluster) => {
      const free = amounts.get(cluster)
      if (free === undefined) return 0
      if (most === least) return MAX_SCORE
      return Math.trunc(((free - least) / (most - least) - 0.5) * 2 * 100)
    },
  }
}

function amountOf(
  amounts: Readonly<Record<string, string | number>> | undefined,
  resource: string,
): number | undefined {
  const amount = amounts && Object.hasOwn(amounts, resource) ? amounts[resource] : undefined
  return amount === undefined ? undefined : approximateQuantity(amount)
}

function custom(
  { resource, name }: { readonly resource: string; readonly name: string },
  weight: number,
  scheduler: 'native' | 'ocm',
): Prioritizer {
  return {
    name: `Score/${resource}/${name}`,
    weight,
    score: (clusters, { now }) => {
      const values = new Map<string, number>()
      const expired: string[] = []
      let until: number | undefined
      for (const cluster of clusters) {
        for (const score of cluster.scores ?? []) {
          if (score.resource !== resource || score.name !== name) continue
          const end = score.validUntil === undefined ? undefined : parseTime(score.validUntil)
          if (end !== undefined && now > end) {
            expired.push(cluster.name)
            continue
          }
          if (end !== undefined && (until === undefined || end < until)) until = end
          // Open Cluster Management does not limit values; the native scheduler keeps them in the built-in range.
          const value =
            scheduler === 'ocm' ? score.value : Math.max(-MAX_SCORE, Math.min(MAX_SCORE, Math.trunc(score.value)))
          values.set(cluster.name, value)
        }
      }
      return { of: (cluster) => values.get(cluster) ?? 0, expired, ...compact({ until }) }
    },
  }
}
