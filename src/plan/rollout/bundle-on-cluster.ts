/** The facts of a rollout, pair by pair: who is a member, who holds a slot, who is well at the target. */
import type { Labels } from '../../core/text/label-selector.ts'
import type { Availability } from '../fleet/availability.ts'
import { bundleHold } from '../windows/bundle-hold.ts'
import type { BundleHold } from '../windows/bundle-hold.ts'
import { compareText } from '../../core/text/compare-text.ts'
import type { ReportedRemoval } from '../document/removal.ts'
import { stateOnCluster, sameRevision } from '../fleet/state.ts'
import type { BundleStateFacts, StateOnCluster, ReportedBundle, Revision } from '../fleet/state.ts'
import type { ClusterContent } from '../release/variants.ts'
import { spanAt } from '../windows/window.ts'

/** One bundle revision of a Release. */
export interface ReleaseBundle extends Revision {
  readonly name: string
  readonly placement: string
  /** What of it is a cluster's, where clusters differ; `set` is everybody's without it. */
  readonly contentOf?: (cluster: string) => ClusterContent
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
  /** RFC 3339; since then it counts as failed, until it is Ready. */
  readonly failedAt?: string
  /** Which of the tries that somebody asked for it is. */
  readonly attempt?: number
}

/** What a rollout knows of a cluster; an unknown name is a cluster that is no longer registered. */
export interface RolloutCluster {
  readonly availability: Availability
  readonly labels?: Labels
  /** What its document says, by `namespace/name` of the bundle. */
  readonly assigned: ReadonlyMap<string, Revision & { readonly startBy?: string | undefined }>
  /** What its agent reports, by `namespace/name` of the bundle. */
  readonly reported: ReadonlyMap<string, ReportedBundle>
  /** Tombstones of its document, by `namespace/name` of the bundle; absent: it has no document. */
  readonly buried?: ReadonlyMap<string, { readonly generation: number }>
  /** What its agent reports of removals, by `namespace/name` of the bundle. */
  readonly removals?: ReadonlyMap<string, ReportedRemoval>
  /** Milliseconds since 1970 of the report. */
  readonly reportedAt?: number
}

/** A selected (bundle, cluster) pair and where it stands. */
export interface BundleOnCluster {
  readonly bundle: string
  readonly cluster: string
  readonly placement: string
  readonly labels: Labels
  readonly target: Revision
  readonly state: StateOnCluster
  /** Known to be connected, and not held; only such a pair is admitted. */
  readonly free: boolean
  /** A hold of the cluster, a freeze or a closed window. */
  readonly hold?: BundleHold
  /** The cluster's document names the target, or its agent reports on it; not one whose agent did not begin in time. */
  readonly handed: boolean
  /** Reported well at the target. */
  readonly well: boolean
  /** Reported Failed at the target, in its latest try. */
  readonly failed: boolean
  /** Which of the tries that somebody asked for its report is about. */
  readonly tried: number
  /** Reported Failed at what it runs now: heal it first. */
  readonly ailing: boolean
  /** The Release changes nothing for it: it keeps what an older one brought, well or not. */
  readonly keeps: boolean
  /** It has nothing to get: it is not rendered for this cluster, or the document has this generation with other content. */
  readonly blocked: boolean
  /** Why the cluster gets nothing: its content could not be rendered. */
  readonly problem?: string
  readonly reportedAt?: number
}

/** What the pairs are worked out from. */
export interface BundleOnClusterInput {
  readonly namespace: string
  readonly bundles: readonly ReleaseBundle[]
  /** Selected clusters per Placement. */
  readonly decisions: Pick<ReadonlyMap<string, readonly string[]>, 'get'>
  readonly admissions: readonly RolloutAdmission[]
  readonly clusterOf: (name: string) => RolloutCluster | undefined
  /** What holds a bundle on a cluster; by the cluster's labels alone when absent. */
  readonly holdOf?: (target: ReleaseBundle, cluster: string) => BundleHold | undefined
}

const NOT_RENDERED = 'What this cluster gets is not rendered yet.'

/** What a release has for a cluster. */
export function contentIn({ set, contentOf }: ReleaseBundle, cluster: string): ClusterContent {
  return contentOf?.(cluster) ?? { kind: 'Set', set }
}

/** The key of a pair; `/` cannot occur in names. */
export function bundleOnClusterKey(pair: { readonly bundle: string; readonly cluster: string }): string {
  return `${pair.bundle}/${pair.cluster}`
}

/** All selected pairs of clusters that exist, in order of the release's bundles and of the clusters' names. */
export function listBundlesOnClusters(input: BundleOnClusterInput): BundleOnCluster[] {
  const admitted = new Map(input.admissions.map((admission) => [bundleOnClusterKey(admission), admission]))
  return input.bundles.flatMap((target) =>
    [...(input.decisions.get(target.placement) ?? [])].sort(compareText).flatMap((name) => {
      const cluster = input.clusterOf(name)
      const content = contentIn(target, name)
      if (!cluster || content.kind === 'Skip') return []
      const hold = (input.holdOf ?? holdByFreezeLabel(cluster))(target, name)
      const known = { cluster, admitted, ...(hold ? { hold } : {}) }
      if (content.kind === 'Set') {
        return [pairOf(input.namespace, { ...target, set: content.set }, name, known)]
      }
      const why = content.kind === 'Problem' ? { problem: content.problem } : { waits: NOT_RENDERED }
      return [pairOf(input.namespace, target, name, { ...known, ...why })]
    }),
  )
}

/** Holds by the cluster's labels alone, for whoever knows nothing else. */
export function holdByFreezeLabel({ labels = {} }: RolloutCluster): NonNullable<BundleOnClusterInput['holdOf']> {
  return (_, name) =>
    bundleHold({ metadata: { name, labels }, spec: {} }, [], { bundle: '', generation: 0 }, { now: 0, look: spanAt })
}

interface Known {
  readonly cluster: RolloutCluster
  readonly admitted: ReadonlyMap<string, RolloutAdmission>
  readonly waits?: string
  readonly problem?: string
  readonly hold?: BundleHold
}

function pairOf(namespace: string, released: ReleaseBundle, name: string, known: Known): BundleOnCluster {
  const { availability, assigned: documents, reported: reports, reportedAt, labels = {} } = known.cluster
  const key = `${namespace}/${released.name}`
  const slot = known.admitted.get(bundleOnClusterKey({ bundle: released.name, cluster: name }))
  const assigned = documents.get(key)
  const reported = reports.get(key)
  // A Release that changes nothing for this cluster asks nothing of it: what it has is what it should have.
  const keeps = assigned?.set === released.set && assigned.generation < released.generation
  const target = keeps ? { ...released, generation: assigned.generation } : released
  const atTarget = sameRevision(reported, target)
  const taken = (revision: Revision | undefined) =>
    revision !== undefined && revision.generation >= target.generation && !sameRevision(revision, target)
  // A slot comes back from a document with a start-by only when the agent did not begin, and by then it never does.
  const lapsed = !slot && assigned?.startBy !== undefined && (!atTarget || reported?.state === 'Pending')
  const hasNothing = known.waits !== undefined || known.problem !== undefined
  const blocked = hasNothing || taken(assigned) || taken(reported)
  return {
    bundle: target.name,
    cluster: name,
    placement: target.placement,
    labels,
    target,
    state: stateOnCluster({
      selection: { selected: true, message: '' },
      target,
      admitted: slot !== undefined,
      availability,
      ...(assigned ? { assigned } : {}),
      ...(reported ? { reported } : {}),
      ...(known.hold ? { heldFor: known.hold.for } : {}),
      ...(known.problem === undefined ? {} : { problem: known.problem }),
      ...(known.waits === undefined
        ? waitsOf(blocked, target, known)
        : { waits: { for: 'render' as const, message: known.waits } }),
    }),
    free: availability.state === 'Available' && !known.hold,
    ...(known.hold ? { hold: known.hold } : {}),
    handed: !lapsed && (atTarget || sameRevision(assigned, target)),
    well: atTarget && (reported?.state === 'Ready' || reported?.state === 'Drifted'),
    failed: atTarget && reported?.state === 'Failed' && (reported.attempt ?? 0) >= (slot?.attempt ?? 0),
    tried: (atTarget && reported?.attempt) || 0,
    ailing: !atTarget && reported?.state === 'Failed',
    keeps,
    blocked,
    ...(known.problem === undefined ? {} : { problem: known.problem }),
    ...(reportedAt === undefined ? {} : { reportedAt }),
  }
}

function waitsOf(blocked: boolean, target: ReleaseBundle, { cluster, hold }: Known): Pick<BundleStateFacts, 'waits'> {
  if (blocked) {
    const message = `Its document already has generation ${target.generation} or later of ${target.name} with other content; edit the Bundle to make a newer generation.`
    return { waits: { for: 'generation', message } }
  }
  if (hold) return { waits: { for: hold.for, message: hold.message } }
  const { availability } = cluster
  return availability.state === 'Unknown' ? { waits: { for: 'connection', message: availability.message } } : {}
}
