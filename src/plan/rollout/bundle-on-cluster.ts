/** The facts of a rollout for each bundle on a cluster: its target, its state, its slot and its holds. */
import { compact } from '../../core/compact.ts'
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

/** A bundle revision of a Release. */
export interface ReleaseBundle extends Revision {
  readonly name: string
  readonly placement: string
  /** The content of a cluster, where clusters differ. If absent, all clusters get `set`. */
  readonly contentOf?: (cluster: string) => ClusterContent
}

/** A taken slot: recorded on the Rollout by compare-and-swap before a document delivers the content. */
export interface RolloutAdmission {
  readonly bundle: string
  readonly cluster: string
  readonly ring: string
  /** RFC 3339. */
  readonly admittedAt: string
  /** RFC 3339; the agent does not start after this time. */
  readonly startBy?: string
  /** RFC 3339; since this time the bundle on the cluster counts as failed, until it is Ready. */
  readonly failedAt?: string
  /** Number of the manual retry that this admission belongs to. */
  readonly attempt?: number
}

/** What a rollout knows of a registered cluster. */
export interface RolloutCluster {
  readonly availability: Availability
  readonly labels?: Labels
  /** Entries of its document, by `namespace/name` of the bundle. */
  readonly assigned: ReadonlyMap<string, Revision & { readonly startBy?: string | undefined }>
  /** Reports of its agent, by `namespace/name` of the bundle. */
  readonly reported: ReadonlyMap<string, ReportedBundle>
  /** Tombstones of its document, by `namespace/name` of the bundle; absent: it has no document. */
  readonly buried?: ReadonlyMap<string, { readonly generation: number }>
  /** Reports of its agent about removals, by `namespace/name` of the bundle. */
  readonly removals?: ReadonlyMap<string, ReportedRemoval>
  /** Milliseconds since 1970 of the report. */
  readonly reportedAt?: number
}

/**
 * A bundle on one selected cluster, the unit that rollouts count. For example, Bundle `shop` on cluster `store-1`
 * with target generation 4: delivered, not Ready yet, and on hold because of a freeze.
 */
export interface BundleOnCluster {
  readonly bundle: string
  readonly cluster: string
  readonly placement: string
  readonly labels: Labels
  readonly target: Revision
  readonly state: StateOnCluster
  /** The cluster is connected and nothing holds it; a rollout admits only free clusters. */
  readonly free: boolean
  /** A hold of the cluster, a freeze or a closed window. */
  readonly hold?: BundleHold
  /**
   * The cluster's document has the target, or the agent reports on it. False when the agent did not start by the
   * start-by time.
   */
  readonly handed: boolean
  /** The target is delivered, or is about to be, and the agent does not report that it waits to start. */
  readonly moving: boolean
  /** The agent reports Ready or Drifted at the target. */
  readonly well: boolean
  /** The agent reports Failed at the target, in its latest attempt. */
  readonly failed: boolean
  /** Number of the manual retry that the report belongs to. */
  readonly tried: number
  /** The agent reports Failed at another revision than the target: this cluster is admitted first. */
  readonly ailing: boolean
  /** The Release has the same content for this cluster as its document: the rollout delivers nothing. */
  readonly keeps: boolean
  /** Nothing can be delivered: no content is rendered, or the document has this generation with other content. */
  readonly blocked: boolean
  /** Why no content could be rendered. */
  readonly problem?: string
  readonly reportedAt?: number
}

/** Inputs of `listBundlesOnClusters`. */
export interface BundleOnClusterInput {
  readonly namespace: string
  readonly bundles: readonly ReleaseBundle[]
  /** Selected clusters per Placement. */
  readonly decisions: Pick<ReadonlyMap<string, readonly string[]>, 'get'>
  readonly admissions: readonly RolloutAdmission[]
  readonly clusterOf: (name: string) => RolloutCluster | undefined
  /** The hold of a bundle on a cluster. If absent, only the cluster's freeze label counts. */
  readonly holdOf?: (target: ReleaseBundle, cluster: string) => BundleHold | undefined
}

const NOT_RENDERED = 'The content for this cluster is not rendered yet.'

/** The content that a release has for a cluster. */
export function contentIn({ set, contentOf }: ReleaseBundle, cluster: string): ClusterContent {
  return contentOf?.(cluster) ?? { kind: 'Set', set }
}

/** `bundle/cluster`; `/` cannot occur in names. */
export function bundleOnClusterKey(pair: { readonly bundle: string; readonly cluster: string }): string {
  return `${pair.bundle}/${pair.cluster}`
}

/** All bundles on selected clusters, in order of the release's bundles and of the clusters' names. */
export function listBundlesOnClusters(input: BundleOnClusterInput): BundleOnCluster[] {
  const admitted = new Map(input.admissions.map((admission) => [bundleOnClusterKey(admission), admission]))
  return input.bundles.flatMap((target) =>
    [...(input.decisions.get(target.placement) ?? [])].sort(compareText).flatMap((name) => {
      const cluster = input.clusterOf(name)
      const content = contentIn(target, name)
      if (!cluster || content.kind === 'Skip') return []
      const hold = (input.holdOf ?? holdByFreezeLabel(cluster))(target, name)
      const known = compact({ cluster, admitted, hold })
      if (content.kind === 'Set') {
        return [bundleOnCluster(input.namespace, { ...target, set: content.set }, name, known)]
      }
      const why = content.kind === 'Problem' ? { problem: content.problem } : { waits: NOT_RENDERED }
      return [bundleOnCluster(input.namespace, target, name, { ...known, ...why })]
    }),
  )
}

/** Holds by the cluster's freeze label alone. */
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

function bundleOnCluster(namespace: string, released: ReleaseBundle, name: string, known: Known): BundleOnCluster {
  const { availability, assigned: documents, reported: reports, reportedAt, labels = {} } = known.cluster
  const key = `${namespace}/${released.name}`
  const slot = known.admitted.get(bundleOnClusterKey({ bundle: released.name, cluster: name }))
  const assigned = documents.get(key)
  const reported = reports.get(key)
  // A Release that changes nothing for this cluster requires nothing of it: the assigned revision is the target.
  const keeps = assigned?.set === released.set && assigned.generation < released.generation
  const target = keeps ? { ...released, generation: assigned.generation } : released
  const atTarget = sameRevision(reported, target)
  const taken = (revision: Revision | undefined) =>
    revision !== undefined && revision.generation >= target.generation && !sameRevision(revision, target)
  // A document with a start-by has no slot only when the agent did not start in time, and after that it never starts.
  const lapsed = !slot && assigned?.startBy !== undefined && (!atTarget || reported?.state === 'Pending')
  const hasNothing = known.waits !== undefined || known.problem !== undefined
  const blocked = hasNothing || taken(assigned) || taken(reported)
  return compact({
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
      ...compact({ assigned, reported, heldFor: known.hold?.for, problem: known.problem }),
      ...(known.waits === undefined
        ? waitsOf(blocked, target, known)
        : { waits: { for: 'render' as const, message: known.waits } }),
    }),
    free: availability.state === 'Available' && !known.hold,
    hold: known.hold,
    handed: !lapsed && (atTarget || sameRevision(assigned, target)),
    moving: atTarget ? reported?.state !== 'Pending' : slot !== undefined || sameRevision(assigned, target),
    well: atTarget && (reported?.state === 'Ready' || reported?.state === 'Drifted'),
    failed: atTarget && reported?.state === 'Failed' && (reported.attempt ?? 0) >= (slot?.attempt ?? 0),
    tried: (atTarget && reported?.attempt) || 0,
    ailing: !atTarget && reported?.state === 'Failed',
    keeps,
    blocked,
    problem: known.problem,
    reportedAt,
  })
}

function waitsOf(blocked: boolean, target: ReleaseBundle, { cluster, hold }: Known): Pick<BundleStateFacts, 'waits'> {
  if (blocked) {
    const message = `The cluster's document already has generation ${target.generation} or later of Bundle "${target.name}" with other content; edit the Bundle to create a newer generation.`
    return { waits: { for: 'generation', message } }
  }
  if (hold) return { waits: { for: hold.for, message: hold.message } }
  const { availability } = cluster
  return availability.state === 'Unknown' ? { waits: { for: 'connection', message: availability.message } } : {}
}
