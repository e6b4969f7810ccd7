// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Which clusters a binding may run on, and why the others are refused. */
import { compareText } from '../../../core/text/compare-text.ts'
import type { ClusterAffinity, ClusterToleration, KarmadaBinding, KarmadaTaint } from '../types.ts'
import { tolerates } from '../../../plan/placement/taints.ts'
import { affinityPredicate } from './cluster-affinity.ts'
import { kindKey } from './cluster-snapshot.ts'
import type { ClusterSnapshot } from './cluster-snapshot.ts'

/** The input of the filters. */
export interface FilterInput {
  readonly binding: KarmadaBinding
  readonly clusters: readonly ClusterSnapshot[]
  /** Name of the affinity term in use. */
  readonly affinityName: string
  /** Other bindings; groups of workloads that run together or apart are found among them. */
  readonly others: readonly KarmadaBinding[]
  /** True when groups of workloads are respected. */
  readonly respectsWorkloadAffinity: boolean
}

/** The clusters that passed, and the refusals by cluster. */
export interface FilterResult {
  readonly feasible: readonly ClusterSnapshot[]
  readonly refusals: ReadonlyMap<string, string>
}

type Filter = (cluster: ClusterSnapshot) => string | undefined

/**
 * Runs the filters over the clusters; the first refusal of a cluster counts. Clusters that are being deleted are
 * skipped.
 */
export function filterClusters(input: FilterInput): FilterResult {
  const { spec } = input.binding
  const targets = new Set((spec.clusters ?? []).map(({ name }) => name))
  const forNewTargets = [kindFilter(spec.resource), taintFilter(spec.placement?.clusterTolerations ?? [])]
  if (input.respectsWorkloadAffinity) forNewTargets.push(...groupFilters(input))
  const forAll = [affinityFilter(input), spreadFilter(input.binding), evictionFilter(input.binding)].filter(
    (filter) => filter !== undefined,
  )
  const feasible: ClusterSnapshot[] = []
  const refusals = new Map<string, string>()
  for (const cluster of input.clusters) {
    if (cluster.isDeleting) continue
    const refusal =
      (targets.has(cluster.name) ? undefined : firstRefusal(forNewTargets, cluster)) ?? firstRefusal(forAll, cluster)
    if (refusal === undefined) feasible.push(cluster)
    else refusals.set(cluster.name, refusal)
  }
  return { feasible, refusals }
}

/** The sentence that names all refusals, as the condition of a binding shows it. */
export function refusalMessage(clusters: number, refusals: ReadonlyMap<string, string>): string {
  const counts = new Map<string, number>()
  for (const refusal of refusals.values()) counts.set(refusal, (counts.get(refusal) ?? 0) + 1)
  const reasons = [...counts].map(([refusal, count]) => `${count} ${refusal}`).sort(compareText)
  return `0/${clusters} clusters are available: ${reasons.length === 0 ? 'no cluster exists' : reasons.join(', ')}.`
}

function firstRefusal(filters: readonly Filter[], cluster: ClusterSnapshot): string | undefined {
  for (const filter of filters) {
    const refusal = filter(cluster)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

function kindFilter({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): Filter {
  const key = kindKey(apiVersion, kind)
  return ({ kinds }) => (kinds.has(key) ? undefined : 'cluster(s) did not have the API resource')
}

function taintFilter(tolerations: readonly ClusterToleration[]): Filter {
  return ({ taints }) => {
    const taint = taints.find((one) => !tolerations.some((toleration) => tolerates(one, toleration)))
    return taint && `cluster(s) had untolerated taint {${taintText(taint)}}`
  }
}

function taintText({ key, value, effect }: KarmadaTaint): string {
  return `${key}${value ? `=${value}` : ''}:${effect}`
}

function affinityFilter({ binding, affinityName }: FilterInput): Filter | undefined {
  const affinities = affinitiesOf(binding, affinityName)
  if (!affinities) return undefined
  const predicates = affinities.map(affinityPredicate)
  return (cluster) =>
    predicates.some((predicate) => predicate(cluster))
      ? undefined
      : 'cluster(s) did not match the placement cluster affinity constraint'
}

function affinitiesOf(binding: KarmadaBinding, affinityName: string): readonly ClusterAffinity[] | undefined {
  const { clusterAffinity, clusterAffinities = [] } = binding.spec.placement ?? {}
  if (clusterAffinity) return [clusterAffinity]
  const term = clusterAffinities.find((one) => one.affinityName === affinityName)
  if (!term) return undefined
  return isWorkload(binding) ? [term, ...(term.overflowAffinities ?? [])] : [term]
}

/** Whether the object has pods. */
export function isWorkload({ spec }: KarmadaBinding): boolean {
  return (spec.replicas ?? 0) > 0 || spec.replicaRequirements !== undefined || (spec.components ?? []).length > 0
}

function spreadFilter({ spec }: KarmadaBinding): Filter | undefined {
  const fields = (spec.placement?.spreadConstraints ?? []).map(({ spreadByField }) => spreadByField)
  const needed = fields.filter((field) => field === 'provider' || field === 'region' || field === 'zone')
  if (needed.length === 0) return undefined
  return ({ provider, region, zones }) => {
    for (const field of needed) {
      if (field === 'provider' && provider === undefined) return 'cluster(s) did not have provider property'
      if (field === 'region' && region === undefined) return 'cluster(s) did not have region property'
      if (field === 'zone' && zones.length === 0) return 'cluster(s) did not have zones property'
    }
    return undefined
  }
}

function evictionFilter({ spec }: KarmadaBinding): Filter | undefined {
  const tasks = spec.gracefulEvictionTasks ?? []
  if (tasks.length === 0) return undefined
  const leaving = new Set(tasks.map(({ fromCluster }) => fromCluster))
  return ({ name }) => (leaving.has(name) ? 'cluster(s) is in the process of eviction' : undefined)
}

function groupFilters({ binding, others }: FilterInput): readonly Filter[] {
  const { resource, workloadAffinityGroups: groups = {} } = binding.spec
  const own = bindingName(resource)
  const inNamespace = others.filter(
    ({ metadata }) => (metadata.namespace ?? '') === (resource.namespace ?? '') && metadata.name !== own,
  )
  const targetsOf = (one: KarmadaBinding): ReadonlySet<string> =>
    new Set((one.spec.clusters ?? []).map(({ name }) => name))
  const together = inNamespace
    .filter(({ spec }) => groups.affinityGroup && spec.workloadAffinityGroups?.affinityGroup === groups.affinityGroup)
    .map(targetsOf)
    .filter((targets) => targets.size > 0)
  const apart = inNamespace
    .filter(
      ({ spec }) =>
        groups.antiAffinityGroup && spec.workloadAffinityGroups?.antiAffinityGroup === groups.antiAffinityGroup,
    )
    .map(targetsOf)
  return [
    ({ name }) =>
      together.every((targets) => targets.has(name))
        ? undefined
        : 'ResourceBinding with the same affinity group does not target this cluster',
    ({ name }) =>
      apart.some((targets) => targets.has(name))
        ? 'cluster already has workload with the same anti-affinity group'
        : undefined,
  ]
}

/** The name of an object's binding: `<name>-<kind>`, with the colons that names of RBAC objects may have as dots. */
function bindingName({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${name.replaceAll(':', '.')}-${kind.toLowerCase()}`
}
