/** What the hub delivers of a Bundle: the content of its newest Release, and the revisions that it came from. */
import { compact } from '../../core/compact.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { findCondition } from '../../core/conditions.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { Release } from '../../kinds/native/release.ts'
import { clusterInputsOf, contentFor } from '../../plan/release/variants.ts'
import { keyOfObject } from '../repository/fleet-facts.ts'

/** Clusters with the same delivered content. */
export interface DeliveredPart {
  readonly set: Digest
  readonly clusters: readonly string[]
  /** Revisions of the Source that may have this content. Verify each before use. */
  readonly revisions: readonly string[]
}

/** Content that was rolled back and that the hub does not deliver again. */
export interface HeldBack {
  readonly release: string
  readonly by: string
  readonly reason?: string
  readonly revision?: string
}

/**
 * What is delivered. `Current`: the Bundle as it is on the hub, at a revision of its Source. `Earlier`: content of
 * earlier Releases, because the newest content was rolled back or cannot be released. `Nothing`: no Release yet.
 */
export type Delivered =
  | { readonly kind: 'Nothing' }
  /** Earlier content, and the caller may not list Releases. */
  | { readonly kind: 'Unknown'; readonly release: string }
  | { readonly kind: 'Current'; readonly revision?: string }
  | {
      readonly kind: 'Earlier'
      readonly release: string
      readonly parts: readonly DeliveredPart[]
      readonly heldBack?: HeldBack
    }

/** What the hub knows about deliveries. */
export interface DeliveryFacts {
  /** Undefined if the caller may not list Releases. */
  readonly releases: readonly Release[] | undefined
  readonly assignments: readonly Assignment[]
  readonly clusters: readonly Cluster[]
}

type Entry = Release['spec']['bundles'][number]

/** Finds what the hub delivers of a Bundle to the selected clusters. */
export function deliveredOf(bundle: Bundle, selected: () => readonly string[], facts: DeliveryFacts): Delivered {
  const { release, sourceRevision } = bundle.status ?? {}
  if (release === undefined) return { kind: 'Nothing' }
  const current = compact({ kind: 'Current' as const, revision: sourceRevision })
  if (!facts.releases) return isCurrent(bundle) ? current : { kind: 'Unknown', release }
  const own = facts.releases
    .filter(({ metadata }) => metadata.namespace === bundle.metadata.namespace)
    .flatMap((one) => {
      const entry = one.spec.bundles.find(({ name }) => name === bundle.metadata.name)
      return entry ? [{ release: one, entry }] : []
    })
  const newest = own.find((one) => one.release.metadata.name === release)
  if (newest === undefined || (isCurrent(bundle) && newest.release.spec.rollBack === undefined)) {
    return current
  }
  const heldBack = heldBackOf(bundle, facts.releases)
  return compact({
    kind: 'Earlier',
    release,
    parts: partsOf(bundle, newest.entry, { selected: selected(), own, facts }),
    heldBack,
  })
}

/** Whether the newest Release has the content of the Bundle as it is defined now. */
function isCurrent({ metadata, status }: Bundle): boolean {
  if ((status?.reverted?.length ?? 0) > 0) return false
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return false
  const stalled = findCondition(status?.conditions, 'Stalled')
  if (stalled?.status === 'True' && stalled.reason !== 'RolloutFailed') return false
  return findCondition(status?.conditions, 'Rendered')?.status === 'True'
}

/** The mark on the Release whose content the hub does not deliver again. */
function heldBackOf({ metadata, status }: Bundle, releases: readonly Release[]): HeldBack | undefined {
  const name = status?.reverted?.[0]
  const release = releases.find((one) => one.metadata.name === name && one.metadata.namespace === metadata.namespace)
  const mark = release?.status?.bad?.find(({ bundle }) => bundle === metadata.name)
  if (!release || !mark) return undefined
  const revision = release.spec.bundles.find((one) => one.name === metadata.name)?.revision
  return compact({
    release: release.metadata.name,
    by: mark.by,
    reason: mark.reason,
    revision,
  })
}

interface Search {
  readonly selected: readonly string[]
  readonly own: readonly { readonly release: Release; readonly entry: Entry }[]
  readonly facts: DeliveryFacts
}

function partsOf(bundle: Bundle, newest: Entry, { selected, own, facts }: Search): DeliveredPart[] {
  const wanted = new Set(selected)
  const bySet = new Map<Digest, string[]>()
  for (const cluster of facts.clusters) {
    const { name } = cluster.metadata
    if (!wanted.has(name)) continue
    const content = contentFor(newest, clusterInputsOf(cluster))
    if (content.kind === 'Skip') continue
    // A cluster without content in the newest Release keeps what its document has.
    const set = content.kind === 'Set' ? content.set : assignedSet(bundle, name, facts.assignments)
    if (set !== undefined) bySet.set(set, [...(bySet.get(set) ?? []), name])
  }
  return [...bySet].map(([set, clusters]) => ({ set, clusters, revisions: revisionsOf(set, own) }))
}

function assignedSet(bundle: Bundle, cluster: string, assignments: readonly Assignment[]): Digest | undefined {
  const key = keyOfObject(bundle)
  const assignment = assignments.find(({ metadata }) => metadata.name === cluster)
  return assignment?.spec.entries.find((entry) => entry.bundle === key)?.set
}

/** The oldest Release with a set was rendered to it; a later one, or a rollback, may only carry it on. */
function revisionsOf(set: Digest, own: Search['own']): string[] {
  const having = own
    .filter(({ entry }) => entry.set === set || entry.variants?.some((variant) => variant.set === set))
    .toSorted(
      (a, b) =>
        Number(a.release.spec.rollBack !== undefined) - Number(b.release.spec.rollBack !== undefined) ||
        a.entry.generation - b.entry.generation,
    )
  return [...new Set(having.flatMap(({ entry }) => entry.revision ?? []))]
}

/** Whether a cluster has not received the content of the newest Release of a Bundle yet. */
export function isBehind(assignment: Assignment, bundles: readonly Bundle[], facts: DeliveryFacts): boolean {
  const cluster = facts.clusters.find(({ metadata }) => metadata.name === assignment.metadata.name)
  return assignment.spec.entries.some((entry) => {
    const bundle = bundles.find((one) => keyOfObject(one) === entry.bundle)
    const release = facts.releases?.find(
      ({ metadata }) => metadata.name === bundle?.status?.release && metadata.namespace === bundle?.metadata.namespace,
    )
    const newest = release?.spec.bundles.find(({ name }) => name === bundle?.metadata.name)
    const content = newest && contentFor(newest, cluster && clusterInputsOf(cluster))
    return content?.kind === 'Set' && content.set !== entry.set
  })
}
