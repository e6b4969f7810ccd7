// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/**
 * Clusters as the scheduler reads them: labels, taints, served kinds and free resources, prepared once for many
 * bindings.
 */
import type { KarmadaCluster, KarmadaTaint, ResourceList } from '../types.ts'
import { amountOf, nanoOf } from './amounts.ts'
import type { Amount } from './amounts.ts'
import { modelNodes } from './model-nodes.ts'
import type { ModelNodes } from './model-nodes.ts'

/** Free resources of a cluster. */
export interface FreeResources {
  /** Number of further pods; never below 0. */
  readonly pods: number
  readonly amounts: ReadonlyMap<string, Amount>
  /** Sizes of nodes, when the cluster reports them. */
  readonly nodes?: ModelNodes
}

/** A cluster, prepared for the scheduler. */
export interface ClusterSnapshot {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly provider?: string
  readonly region?: string
  readonly zones: readonly string[]
  readonly isDeleting: boolean
  /** Taints with effect NoSchedule or NoExecute. */
  readonly taints: readonly KarmadaTaint[]
  /** Served kinds as `apps/v1, Deployment`. */
  readonly kinds: ReadonlySet<string>
  /** Undefined while the cluster has not reported its resources. */
  readonly free?: FreeResources
  /** Requests that the quotas of a namespace still allow; a namespace without quotas is not limited. */
  readonly quotaRooms?: ReadonlyMap<string, ResourceList>
}

/** A cluster whose agent reports quotas, which a Cluster of Karmada has no field for. */
export interface QuotaCluster extends KarmadaCluster {
  readonly quotaRooms?: ReadonlyMap<string, ResourceList>
}

const SNAPSHOTS = new WeakMap<KarmadaCluster, ClusterSnapshot>()

/** The key of a kind in `ClusterSnapshot.kinds`. */
export function kindKey(apiVersion: string, kind: string): string {
  return `${apiVersion}, ${kind}`
}

/** Prepares a cluster; the same object is prepared once. */
export function snapshotOf(cluster: QuotaCluster): ClusterSnapshot {
  const known = SNAPSHOTS.get(cluster)
  if (known) return known
  const snapshot = prepare(cluster)
  SNAPSHOTS.set(cluster, snapshot)
  return snapshot
}

function prepare({ metadata, spec = {}, status = {}, quotaRooms }: QuotaCluster): ClusterSnapshot {
  const enablements = status.apiEnablements ?? []
  const free = freeResources({ spec, status })
  return {
    name: metadata.name,
    labels: new Map(Object.entries(metadata.labels ?? {})),
    ...(spec.provider ? { provider: spec.provider } : undefined),
    ...(spec.region ? { region: spec.region } : undefined),
    zones: spec.zones ?? [],
    isDeleting: metadata.deletionTimestamp !== undefined,
    taints: (spec.taints ?? []).filter(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute'),
    kinds: new Set(
      enablements.flatMap(({ groupVersion, resources = [] }) =>
        resources.map(({ kind }) => kindKey(groupVersion, kind)),
      ),
    ),
    ...(free && { free }),
    ...(quotaRooms && { quotaRooms }),
  }
}

function freeResources({ spec, status }: Pick<KarmadaCluster, 'spec' | 'status'>): FreeResources | undefined {
  const summary = status?.resourceSummary
  if (!summary) return undefined
  const { allocatable = {}, allocated = {}, allocating = {}, allocatableModelings = [] } = summary
  const amounts = new Map<string, Amount>()
  for (const [name, value] of Object.entries(allocatable)) {
    const nano = nanoOf(value) - nanoOf(allocated[name]) - nanoOf(allocating[name])
    amounts.set(name, amountOf(nano, typeof value === 'string' && value.endsWith('i')))
  }
  const nodes =
    allocatableModelings.length === 0 ? undefined : modelNodes(spec?.resourceModels ?? [], allocatableModelings)
  return { pods: freePods(allocatable, allocated, allocating), amounts, ...(nodes && { nodes }) }
}

/** Pods are counted in whole numbers, each list for itself. */
function freePods(
  ...[allocatable, allocated, allocating]: readonly [ResourceList, ResourceList, ResourceList]
): number {
  const pods = (list: ResourceList): number => amountOf(nanoOf(list['pods']), false).whole
  return Math.max(0, pods(allocatable) - pods(allocated) - pods(allocating))
}
