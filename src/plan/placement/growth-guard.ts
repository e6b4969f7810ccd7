/**
 * The growth guard stops one change that would add many bundles on clusters and more than double what the object has,
 * until a person releases it. The token names the generation and a digest of the change, not the clusters: a cluster
 * that joins meanwhile is no other change.
 */
import { digestOfJson } from '../../core/crypto/digest.ts'
import { groupDigits } from '../../core/text/name-some.ts'

/** Changes of labels and ClusterSets are counted together for this long, because labels change cluster by cluster. */
export const GROWTH_WINDOW_MS = 3_600_000

/** Number of bundles on clusters that one change may add without a question, where the object does not set a limit. */
const DEFAULT_ADDED = 1000

/** A change that adds bundles on clusters. */
export interface Growth {
  /** Number of bundles on clusters that the change adds. Clusters that join are not counted. */
  readonly added: number
  /** Number that changes of labels and ClusterSets added within the last hour; counted with the change. */
  readonly recent?: number
  /** Number of bundles on clusters before the change, and before the changes of the last hour. */
  readonly of: number
  /** `guard.maxAdded`. Defaults to 1,000. */
  readonly limit?: number | undefined
  readonly generation: number
  /** Identifies the change within the generation. */
  readonly change: unknown
  /** The token of the change that a person released. */
  readonly release?: string | undefined
}

export type GrowthVerdict =
  | { readonly kind: 'Free' }
  | { readonly kind: 'Released'; readonly token: string; readonly allowed: number }
  | {
      readonly kind: 'Held'
      readonly token: string
      readonly allowed: number
      readonly added: number
      readonly message: string
    }

export function judgeGrowth({ added, recent = 0, of, limit, generation, change, release }: Growth): GrowthVerdict {
  const allowed = limit ?? DEFAULT_ADDED
  if (isFreeGrowth(added + recent, { of, limit })) return { kind: 'Free' }
  const token = `g${generation}-grow-${digestOfJson(change).slice(7, 15)}`
  if (release === token) return { kind: 'Released', token, allowed }
  const present =
    recent === 0
      ? of === 0
        ? 'there is none yet'
        : `there are ${groupDigits(of)} now`
      : `changes of labels or ClusterSets added ${groupDigits(recent)} to ${groupDigits(of)} within the last hour`
  const message = `The change would add ${groupDigits(added)} bundles on clusters, and ${present}; at most ${groupDigits(allowed)} can be added at once, or as many as there are.`
  return { kind: 'Held', token, allowed, added, message }
}

/** Whether so many additions need no question. */
export function isFreeGrowth(added: number, { of, limit }: Pick<Growth, 'of' | 'limit'>): boolean {
  return added <= (limit ?? DEFAULT_ADDED) || added <= of
}

/** The token in the message of a condition. */
export function growthTokenIn(message: string): string | undefined {
  return /\bg\d+-grow-[0-9a-f]{8}\b/.exec(message)?.[0]
}
