/**
 * The growth guard stops one change that would add many bundles on clusters and more than double what the object has,
 * until a person releases it. The token names the generation and a digest of the change, not the clusters: a cluster
 * that joins meanwhile is no other change.
 */
import { digestOfJson } from '../../core/crypto/digest.ts'
import { groupDigits } from '../../core/text/name-some.ts'

/** Number of bundles on clusters that one change may add without a question, where the object does not set a limit. */
const DEFAULT_ADDED = 1000

/** A change that adds bundles on clusters. */
export interface Growth {
  /** Number of bundles on clusters that the change adds. Clusters that join are not counted. */
  readonly added: number
  /** Number of bundles on clusters before the change. */
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

export function judgeGrowth({ added, of, limit, generation, change, release }: Growth): GrowthVerdict {
  const allowed = limit ?? DEFAULT_ADDED
  if (added <= allowed || added <= of) return { kind: 'Free' }
  const token = `g${generation}-grow-${digestOfJson(change).slice(7, 15)}`
  if (release === token) return { kind: 'Released', token, allowed }
  const present = of === 0 ? 'there is none yet' : `there are ${groupDigits(of)} now`
  const message = `The change would add ${groupDigits(added)} bundles on clusters, and ${present}; at most ${groupDigits(allowed)} can be added at once, or as many as there are.`
  return { kind: 'Held', token, allowed, added, message }
}

/** The token in the message of a condition. */
export function growthTokenIn(message: string): string | undefined {
  return /\bg\d+-grow-[0-9a-f]{8}\b/.exec(message)?.[0]
}
