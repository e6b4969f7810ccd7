/**
 * One commit, one Release: which bundles of a Source move together, and how long they wait for each other.
 *
 * Bundles are rendered one by one. One whose content is new waits until every other bundle of the Source has been looked at
 * with the same artifact; then all that changed and have the same rollout settings become one Release. A bundle that cannot
 * be rendered has been looked at: it is named, and holds up nobody. Neither does one that takes too long.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import { compareText } from '../../core/text/compare-text.ts'

/** How long after an artifact came its bundles wait for each other. */
export const GATHER_MS = 120_000

/** What gathering looks at in a bundle. */
export interface GatheredBundle {
  readonly name: string
  /** The artifact it was looked at with last. */
  readonly artifact?: Digest | undefined
  /** New content of it waits to be released. */
  readonly waits: boolean
  /** Why it could not be rendered. */
  readonly problem?: string | undefined
  /** Bundles move together when this is equal. */
  readonly group: string
}

/** What gathering follows from. */
export interface GatherInput {
  readonly artifact: Digest
  /** Milliseconds since 1970 at which the artifact came. */
  readonly since: number
  readonly now: number
  readonly bundles: readonly GatheredBundle[]
}

/** A bundle of the commit that is not in its Release, and why. */
export interface MissingBundle {
  readonly name: string
  readonly problem: string
}

/** What to do with what waits. */
export type GatherDecision =
  | { readonly kind: 'Nothing'; readonly missing: readonly MissingBundle[] }
  | { readonly kind: 'Wait'; readonly for: readonly string[]; readonly until: number }
  | {
      readonly kind: 'Release'
      /** The names of the bundles of each Release. */
      readonly releases: readonly (readonly string[])[]
      readonly missing: readonly MissingBundle[]
    }

/** Decides whether what waits becomes a Release now. */
export function decideCommitRelease({ artifact, since, now, bundles }: GatherInput): GatherDecision {
  const inOrder = [...bundles].sort((a, b) => compareText(a.name, b.name))
  const late = inOrder.filter((bundle) => bundle.artifact !== artifact).map(({ name }) => name)
  const ready = inOrder.filter((bundle) => bundle.artifact === artifact && bundle.waits)
  const until = since + GATHER_MS
  if (ready.length > 0 && late.length > 0 && now < until) return { kind: 'Wait', for: late, until }
  const missing = inOrder.flatMap(({ name, problem }): MissingBundle[] => {
    if (late.includes(name)) return ready.length > 0 ? [{ name, problem: 'It was not rendered in time.' }] : []
    return problem === undefined ? [] : [{ name, problem }]
  })
  if (ready.length === 0) return { kind: 'Nothing', missing }
  const groups = Map.groupBy(ready, ({ group }) => group)
  return { kind: 'Release', releases: [...groups.values()].map((group) => group.map(({ name }) => name)), missing }
}

/** Of a Source and its commit, `apps-4f2a91c0d3`; the next free one where that is taken by other content. */
export function commitReleaseName(source: string, commit: string, isTaken: (name: string) => boolean): string {
  const short = commit
    .replace(/^sha\d+:/, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, 10)
  const stem = `${source.slice(0, 200).replace(/[^a-z0-9]+$/, '')}-${short}`
  for (let i = 2, name = stem; ; i++) {
    if (!isTaken(name)) return name
    name = `${stem}-${i}`
  }
}
