/** The facts of a rollout, pair by pair: who is a member, who holds a slot, who is well at the target. */
import type { Availability } from './availability.ts'
import { compareText } from './placement.ts'
import { pairState, sameRevision } from './state.ts'
import type { PairFacts, PairState, ReportedBundle, Revision } from './state.ts'

/** One bundle revision of a Release. */
export interface ReleaseBundle extends Revision {
  readonly name: string
  readonly placement: string
}

/** A slot that is taken: written on the Rollout by compare-and-swap before anything is handed out. */
export interface RolloutAdmission {
  readonly bundle: string
  readonly cluster: string
  readonly ring: string
  /** RFC 3339. */
  readonly admittedAt: string
  /** RFC 3339; the agent does not begin after it. */
  readonly startBy?: string
}

/** What a rollout knows of a cluster; an unknown name is a cluster that is no longer registered. */
export interface RolloutCluster {
  readonly availability: Availability
  /** What its document says, by `namespace/name` of the bundle. */
  readonly assigned: ReadonlyMap<string, Revision>
  /** What its agent reports, by `namespace/name` of the bundle. */
  readonly reported: ReadonlyMap<string, ReportedBundle>
  /** Milliseconds since 1970 of the report. */
  readonly reportedAt?: number
}

/** A selected (bundle, cluster) pair and where it stands. */
export interface Pair {
  readonly bundle: string
  readonly cluster: string
  readonly target: Revision
  readonly state: PairState
  /** Known to be connected; only such a pair is admitted. */
  readonly online: boolean
  /** The cluster's document names the target, or its agent reports on it. */
  readonly handed: boolean
  /** Reported well at the target. */
  readonly well: boolean
  /** Reported Failed at the target. */
  readonly failed: boolean
  /** Reported Failed at what it runs now: heal it first. */
  readonly ailing: boolean
  /** The document already has this generation, or a later one, with other content. */
  readonly blocked: boolean
  readonly reportedAt?: number
}

/** What the pairs are worked out from. */
export interface PairsInput {
  readonly namespace: string
  readonly bundles: readonly ReleaseBundle[]
  /** Selected clusters per Placement. */
  readonly decisions: ReadonlyMap<string, readonly string[]>
  readonly admissions: readonly RolloutAdmission[]
  readonly clusterOf: (name: string) => RolloutCluster | undefined
}

/** The key of a pair; `/` cannot occur in names. */
export function pairKey(pair: { readonly bundle: string; readonly cluster: string }): string {
  return `${pair.bundle}/${pair.cluster}`
}

/** All selected pairs of clusters that exist, in order of the release's bundles and of the clusters' names. */
export function pairsOf(input: PairsInput): Pair[] {
  const admitted = new Set(input.admissions.map(pairKey))
  return input.bundles.flatMap((target) =>
    [...(input.decisions.get(target.placement) ?? [])].sort(compareText).flatMap((name) => {
      const cluster = input.clusterOf(name)
      return cluster ? [pairOf(input.namespace, target, name, { cluster, admitted })] : []
    }),
  )
}

function pairOf(
  namespace: string,
  target: ReleaseBundle,
  name: string,
  known: { readonly cluster: RolloutCluster; readonly admitted: ReadonlySet<string> },
): Pair {
  const { availability, assigned: documents, reported: reports, reportedAt } = known.cluster
  const key = `${namespace}/${target.name}`
  const assigned = documents.get(key)
  const reported = reports.get(key)
  const atTarget = sameRevision(reported, target)
  const taken = (revision: Revision | undefined) =>
    revision !== undefined && revision.generation >= target.generation && !sameRevision(revision, target)
  const blocked = taken(assigned) || taken(reported)
  return {
    bundle: target.name,
    cluster: name,
    target,
    state: pairState({
      selection: { selected: true, message: '' },
      target,
      admitted: known.admitted.has(pairKey({ bundle: target.name, cluster: name })),
      availability,
      ...(assigned ? { assigned } : {}),
      ...(reported ? { reported } : {}),
      ...waitsOf(blocked, target, availability),
    }),
    online: availability.state === 'Available',
    handed: atTarget || sameRevision(assigned, target),
    well: atTarget && (reported?.state === 'Ready' || reported?.state === 'Drifted'),
    failed: atTarget && reported?.state === 'Failed',
    ailing: !atTarget && reported?.state === 'Failed',
    blocked,
    ...(reportedAt === undefined ? {} : { reportedAt }),
  }
}

function waitsOf(blocked: boolean, target: ReleaseBundle, availability: Availability): Pick<PairFacts, 'waits'> {
  if (blocked) {
    const message = `Its document already has generation ${target.generation} or later of ${target.name} with other content; edit the Bundle to make a newer generation.`
    return { waits: { for: 'generation', message } }
  }
  return availability.state === 'Unknown' ? { waits: { for: 'connection', message: availability.message } } : {}
}
