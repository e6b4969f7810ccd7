/**
 * One commit, one Release: which bundles of a Source move together, and how long they wait for each other.
 *
 * Bundles are rendered one at a time. A bundle with new content waits until all bundles of the Source were rendered
 * with the same artifact. Then all changed bundles with the same rollout settings become one Release. A bundle that
 * cannot be rendered, or takes too long, is named and does not delay the Release.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import { compareText } from '../../core/text/compare-text.ts'

/** How long bundles wait for each other after a new artifact. */
export const GATHER_MS = 120_000

/** A bundle as `decideCommitRelease` reads it. */
export interface GatheredBundle {
  readonly name: string
  /** The artifact of its last rendering. */
  readonly artifact?: Digest | undefined
  /** New content waits to be released. */
  readonly waits: boolean
  /** Why it could not be rendered. */
  readonly problem?: string | undefined
  /** Rollout settings; bundles with equal settings move together. */
  readonly group: string
}

/** Inputs of `decideCommitRelease`. */
export interface GatherInput {
  readonly artifact: Digest
  /** Time of the artifact in milliseconds since 1970. */
  readonly since: number
  readonly now: number
  readonly bundles: readonly GatheredBundle[]
}

/** A bundle of the commit that is not in its Release, and why. */
export interface MissingBundle {
  readonly name: string
  readonly problem: string
}

/** Whether bundles that wait become Releases now. */
export type GatherDecision =
  | { readonly kind: 'Nothing'; readonly missing: readonly MissingBundle[] }
  | { readonly kind: 'Wait'; readonly for: readonly string[]; readonly until: number }
  | {
      readonly kind: 'Release'
      /** The names of the bundles of each Release. */
      readonly releases: readonly (readonly string[])[]
      readonly missing: readonly MissingBundle[]
    }

export function decideCommitRelease({ artifact, since, now, bundles }: GatherInput): GatherDecision {
  const inOrder = [...bundles].sort((a, b) => compareText(a.name, b.name))
  const late = inOrder.filter((bundle) => bundle.artifact !== artifact).map(({ name }) => name)
  const ready = inOrder.filter((bundle) => bundle.artifact === artifact && bundle.waits)
  const until = since + GATHER_MS
  if (ready.length > 0 && late.length > 0 && now < until) return { kind: 'Wait', for: late, until }
  const missing = inOrder.flatMap(({ name, problem }): MissingBundle[] => {
    if (late.includes(name)) return ready.length > 0 ? [{ name, problem: 'The bundle was not rendered in time.' }] : []
    return problem === undefined ? [] : [{ name, problem }]
  })
  if (ready.length === 0) return { kind: 'Nothing', missing }
  const groups = Map.groupBy(ready, ({ group }) => group)
  return { kind: 'Release', releases: [...groups.values()].map((group) => group.map(({ name }) => name)), missing }
}

/**
 * Whether new content of a bundle has to wait for the other bundles of its Source: one of them has new content that
 * waits too, or was not rendered from the same artifact yet.
 */
export function needsGathering(
  artifact: Digest | undefined,
  others: readonly Pick<GatheredBundle, 'artifact' | 'waits'>[],
): boolean {
  return others.some((other) => other.waits || other.artifact !== artifact)
}

/** The name from a Source and its commit, for example `apps-4f2a91c0d3`, with a number where the name is taken. */
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
