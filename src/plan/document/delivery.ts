/**
 * Delivery: content for named clusters, without placement and rings.
 *
 *   spec.clusters ──▶ admission (recorded on the Delivery) ──▶ document ──▶ report
 *   deleted, or a cluster left the list ──▶ removal (recorded) ──▶ tombstone ──▶ receipt ──▶ forgotten
 *
 * Absence never removes: a removal is recorded before the document changes, and is forgotten only after its receipt.
 */
import { compareText } from '../../core/text/compare-text.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { jsonEqual } from '../../core/json.ts'
import { deliveryKeyOf } from '../../kinds/native/delivery.ts'
import type { Revision } from '../fleet/state.ts'
import type { AssembledEntry } from './assemble-document.ts'

/** Whether an entry is a Delivery of the namespace with the name of the cluster. Such a Delivery needs no Project. */
export function isOwnDelivery(entry: string, cluster: string): boolean {
  return deliveryKeyOf(entry) !== undefined && entry.startsWith(`${cluster}/`)
}

/** What the clusters of a Delivery receive; with variants, a cluster keeps the generation of its own content. */
export interface DeliveryRevision extends Revision {
  readonly variants?: readonly DeliveryVariant[] | undefined
}

/** Clusters that receive another set. */
export interface DeliveryVariant {
  readonly set: Digest
  readonly clusters: readonly string[]
}

/** How a removal treats the objects, and why. */
export interface DeliveryRemoval {
  readonly policy: 'Delete' | 'Orphan'
  readonly cause: 'unplaced' | 'bundleDeleted'
}

/** The record that a cluster may get the content, or loses it. */
export interface DeliveryAdmission {
  readonly cluster: string
  readonly generation: number
  /** The set that the cluster was admitted for, where clusters receive different sets. */
  readonly set?: Digest | undefined
  /** RFC 3339. */
  readonly admittedAt: string
  readonly removal?: DeliveryRemoval | undefined
}

/** A cluster as a Delivery sees it. */
export interface DeliveryCluster {
  readonly accepted: boolean
  /** The cluster is leaving the fleet. */
  readonly leaving: boolean
  readonly offline: boolean
  /** The entry of the Delivery in the cluster's document. */
  readonly assigned?: Revision | undefined
  /** Its tombstone there. */
  readonly buried?: { readonly generation: number } | undefined
  /** The removal reached the document, or the agent confirmed it. */
  readonly isRemovalKnown: boolean
  /** The document has as many entries as a document may have. */
  readonly isFull: boolean
  /** Why the Project of the namespace, or its absence, freezes the Delivery on the cluster. */
  readonly frozen?: string | undefined
}

/** Why a cluster does not get the content. */
export interface DeliveryWait {
  readonly cluster: string
  readonly reason: 'ClusterNotFound' | 'ClusterNotAccepted' | 'ClusterLeaving' | 'ProjectRefuses' | 'ClusterFull'
  readonly message: string
}

/** Inputs of `admitDelivery`. */
export interface AdmitDeliveryInput {
  readonly clusters: readonly string[]
  readonly deleted: boolean
  readonly policies: { readonly unplaced?: 'Delete' | 'Orphan'; readonly bundleDeleted?: 'Delete' | 'Orphan' }
  /** The content now; absent for a Delivery that is deleted before it had any. */
  readonly revision?: DeliveryRevision | undefined
  readonly admissions: readonly DeliveryAdmission[]
  /** Clusters whose documents have an entry or a tombstone of the Delivery. */
  readonly holders: readonly string[]
  readonly clusterOf: (name: string) => DeliveryCluster | undefined
  /** RFC 3339. */
  readonly now: string
  /** Whether enough time has passed that no document can be under way with an admission from then. */
  readonly isSettled: (admittedAt: string) => boolean
  /** The maximum number of entries of a document. */
  readonly maxEntries: number
}

/** The records to keep, and the clusters that wait. */
export interface AdmittedDelivery {
  readonly admissions: readonly DeliveryAdmission[]
  readonly waits: readonly DeliveryWait[]
}

export function admitDelivery(input: AdmitDeliveryInput): AdmittedDelivery {
  const wanted = new Set(input.deleted ? [] : input.clusters)
  const recorded = new Map(input.admissions.map((one) => [one.cluster, one]))
  const { revision } = input
  const setOf = revision && setsByCluster(revision)
  const admissions: DeliveryAdmission[] = []
  const waits: DeliveryWait[] = []
  for (const cluster of [...new Set([...wanted, ...recorded.keys(), ...input.holders])].sort(compareText)) {
    const facts = input.clusterOf(cluster)
    const known = recorded.get(cluster)
    const next = wanted.has(cluster)
      ? admissionOf(input, cluster, { facts, known, waits, set: setOf?.(cluster) })
      : facts && removalOf(input, cluster, { facts, known })
    if (next) admissions.push(next)
  }
  return { admissions, waits }
}

interface Known {
  readonly facts: DeliveryCluster | undefined
  readonly known: DeliveryAdmission | undefined
}

function admissionOf(
  { revision, now, maxEntries }: AdmitDeliveryInput,
  cluster: string,
  { facts, known, waits, set }: Known & { readonly waits: DeliveryWait[]; readonly set: Digest | undefined },
): DeliveryAdmission | undefined {
  const held = (reason: DeliveryWait['reason'], message: string) => void waits.push({ cluster, reason, message })
  if (!facts) {
    held('ClusterNotFound', `Cluster ${cluster} does not exist; add it: flotilla cluster add ${cluster}`)
    return undefined
  }
  if (!facts.accepted) {
    held('ClusterNotAccepted', `Cluster ${cluster} is not accepted; accept it: flotilla cluster accept ${cluster}`)
    return known
  }
  if (facts.leaving) {
    held('ClusterLeaving', `Cluster ${cluster} is leaving the fleet.`)
    return known
  }
  const isThere = known !== undefined && !known.removal && hasContent(known, { revision, set, facts })
  if (facts.frozen !== undefined && !(isThere && facts.assigned)) {
    held('ProjectRefuses', `Frozen on cluster ${cluster}: ${facts.frozen}`)
    return known
  }
  if (!revision) return known
  if (facts.isFull && !facts.assigned) {
    held(
      'ClusterFull',
      `The document of cluster ${cluster} has ${maxEntries} entries, the maximum; remove a Bundle or a Delivery from it, or put more objects into one.`,
    )
  }
  if (isThere) return known
  return { cluster, generation: revision.generation, ...(revision.variants && { set }), admittedAt: now }
}

/** The set of each cluster. */
function setsByCluster({ set, variants = [] }: DeliveryRevision): (cluster: string) => Digest {
  const own = new Map(variants.flatMap((variant) => variant.clusters.map((cluster) => [cluster, variant.set] as const)))
  return (cluster) => own.get(cluster) ?? set
}

/** With variants, a cluster whose own set has not changed is left alone, unless its document is ahead. */
function hasContent(
  known: DeliveryAdmission,
  {
    revision,
    set,
    facts,
  }: {
    readonly revision: DeliveryRevision | undefined
    readonly set: Digest | undefined
    readonly facts: DeliveryCluster
  },
): boolean {
  if (!revision?.variants) return known.set === undefined && known.generation === revision?.generation
  const highest = Math.max(facts.assigned?.generation ?? 0, (facts.buried?.generation ?? -1) + 1)
  return known.set === set && known.generation >= highest
}

function removalOf(
  { policies, deleted, now, isSettled }: AdmitDeliveryInput,
  cluster: string,
  { facts, known }: Known & { readonly facts: DeliveryCluster },
): DeliveryAdmission | undefined {
  const { assigned, buried, offline, isRemovalKnown } = facts
  const cause = deleted ? 'bundleDeleted' : 'unplaced'
  if (!assigned && known?.removal) {
    // The tombstone stays in the document of an offline cluster; the deleted Delivery need not wait for the cluster.
    if (buried && deleted && offline) return undefined
    // A document with the entry may be under way until the removal is known to the document.
    if (!buried && (isRemovalKnown || isSettled(known.admittedAt))) return undefined
    return known
  }
  if (known?.removal?.cause === cause) return known
  if (!assigned && !known) return undefined
  const generation = assigned?.generation ?? buried?.generation ?? known?.generation ?? 0
  return { cluster, generation, admittedAt: now, removal: { cause, policy: policies[cause] ?? 'Delete' } }
}

/** The next revision: a new generation for new content, or for clusters that already removed this one. */
export function deliveryRevision(
  present: DeliveryRevision | undefined,
  wanted: Digest | Omit<DeliveryRevision, 'generation'>,
  about: {
    /** The highest generation of the Delivery in any document, also of a Delivery of the same name that is gone. */
    readonly highestAssigned: number
    /** The highest generation that a document of a wanted cluster removes. */
    readonly highestBuried: number
  },
): DeliveryRevision {
  const { set, variants } = typeof wanted === 'string' ? { set: wanted, variants: undefined } : wanted
  const isAhead = present !== undefined && present.generation >= about.highestAssigned
  const isSame = present?.set === set && jsonEqual(present.variants, variants)
  if (isSame && isAhead && present.generation > about.highestBuried) return present
  const generation = Math.max(present?.generation ?? 0, about.highestAssigned) + 1
  return { generation, set, ...(variants && { variants }) }
}

/**
 * The new entries that a document has no room for, sorted by name. Present entries always stay; new Bundles come before
 * new Deliveries, each by order, time and name, until the document is full.
 */
export function entriesWithoutRoom(
  present: readonly Pick<AssembledEntry, 'bundle'>[],
  entries: readonly AssembledEntry[],
  max: number,
): readonly string[] {
  if (entries.length <= max) return []
  const before = new Set(present.map(({ bundle }) => bundle))
  const isDelivery = ({ bundle }: AssembledEntry) => Number(deliveryKeyOf(bundle) !== undefined)
  const added = entries
    .filter(({ bundle }) => !before.has(bundle))
    .toSorted(
      (a, b) =>
        isDelivery(a) - isDelivery(b) ||
        (a.order ?? 0) - (b.order ?? 0) ||
        compareText(a.admittedAt ?? '', b.admittedAt ?? '') ||
        compareText(a.bundle, b.bundle),
    )
  const room = Math.max(0, max - (entries.length - added.length))
  return added
    .slice(room)
    .map(({ bundle }) => bundle)
    .toSorted(compareText)
}
