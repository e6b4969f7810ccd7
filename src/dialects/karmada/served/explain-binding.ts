// Tested by src/cli/commands/karmada/objects.test.ts
/** Why an object runs where it runs: each policy, and each cluster, with its reason. Pure. */
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import type { Capacity } from '../capacity/reported-capacity.ts'
import { capacityEstimate } from '../schedule/capacity.ts'
import { readsCapacity } from '../schedule/schedule-binding.ts'
import { asPlacementCluster } from '../../../plan/placement/read-objects.ts'
import type { PlacementReach } from '../../../plan/projects/placement-question.ts'
import { priorityOf } from '../match/choose-policy.ts'
import { selectorsPriority } from '../resource-selector.ts'
import type { ResourceSelector } from '../resource-selector.ts'
import { snapshotOf } from '../schedule/cluster-snapshot.ts'
import { filterClusters } from '../schedule/filter-clusters.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { Template } from '../templates/template-kinds.ts'
import { isLeaving, schedulerCluster } from './cluster-face.ts'
import { compileBinding, targetsOf } from './compile-binding.ts'
import { isIgnored } from './decide-claim.ts'
import { DROP_HELD } from './guard-drops.ts'
import type { ServedBinding, ServedOverride, ServedPropagation } from './kinds.ts'
import { propagationInForce, validOverrides } from './policies.ts'

/** What an explanation is made from. */
export interface ExplainFacts {
  readonly template: Template
  readonly binding: ServedBinding | undefined
  readonly policies: readonly ServedPropagation[]
  readonly overrides: readonly ServedOverride[]
  readonly clusters: readonly Cluster[]
  /** The clusters that the Project of the namespace allows, or why it allows none. Absent where it is not known. */
  readonly reach?: PlacementReach | undefined
  /** The free resources that the agent of a cluster reports. */
  readonly capacityOf?: (cluster: string) => Capacity | undefined
  /** The lines of the Project that refuse the object itself. */
  readonly refusals?: readonly string[]
}

/** Why clusters receive nothing: lines of the Project, and what the Delivery says. */
export function explainProject({ binding, reach, refusals = [] }: ExplainFacts): readonly string[] {
  const admitted = findCondition(binding?.status?.conditions, 'Admitted')
  const lines = [
    ...(reach && 'refusal' in reach ? [reach.refusal] : []),
    ...refusals,
    ...(admitted?.status === 'False' ? [admitted.message] : []),
  ]
  // The condition repeats what is known from the Project, unless it is older than a change of it.
  return lines.filter((line, nth) => lines.every((other, at) => at >= nth || !line.includes(other)))
}

/** A policy, and what it is to the object. */
export interface ExplainedPolicy {
  readonly policy: string
  readonly priority: number
  readonly selects: 'name' | 'labels' | 'kind' | 'no'
  readonly verdict: string
}

/** A cluster, and why it is a target or not. */
export interface ExplainedCluster {
  readonly cluster: string
  readonly replicas: string
  readonly why: string
  /** Further replicas that fit, for a placement that reads free resources; absent where the agent reported none. */
  readonly room?: number
  /** The override policies that change the object there, in order. */
  readonly overrides: readonly string[]
  /** Override policies that have no effect there, because later ones overwrite what they change. */
  readonly shadowed: readonly string[]
}

const PRECISION = ['no', 'kind', 'labels', 'name'] as const

/** Explains the claim of the object. */
export function explainPolicies({ template, binding, policies }: ExplainFacts): readonly ExplainedPolicy[] {
  const claim = Object.values(binding?.metadata.labels ?? {})
  const mine = policies.filter(
    ({ kind, metadata }) => kind === 'ClusterPropagationPolicy' || metadata.namespace === template.metadata.namespace,
  )
  return mine
    .map((policy): ExplainedPolicy => {
      const read = propagationInForce(policy)
      const selectors = policy.spec.resourceSelectors as readonly ResourceSelector[]
      const precision = read.policy ? selectorsPriority(template, read.policy.spec.resourceSelectors) : 0
      return {
        policy: `${policy.kind} ${policy.metadata.name}`,
        priority: priorityOf(policy),
        selects: PRECISION[precision || selectorsPriority(template, selectors)],
        verdict: verdictOf(template, { read, precision, isClaimed: claim.includes(policy.metadata.uid ?? '-') }),
      }
    })
    .toSorted((a, b) => b.priority - a.priority || (a.policy < b.policy ? -1 : 1))
}

interface Judged {
  readonly read: ReturnType<typeof propagationInForce>
  readonly precision: number
  readonly isClaimed: boolean
}

function verdictOf(template: Template, judged: Judged): string {
  const { policy, problem, generation } = judged.read
  if (!policy) return `has no effect: ${problem}`
  const verdict = claimVerdict(template, policy, judged)
  if (problem === undefined) return verdict
  return `${verdict}; it is not valid, so generation ${generation} of it stays in force: ${problem}`
}

function claimVerdict(template: Template, policy: ServedPropagation, { precision, isClaimed }: Judged): string {
  if (isIgnored(template)) return 'the object is of the system and never runs on clusters'
  if (isClaimed) return precision > 0 ? 'claims the object' : 'claims the object, which it does not select any more'
  if (precision === 0) return 'does not select the object'
  return policy.spec.preemption === 'Always'
    ? 'selects the object; a policy with a higher or the same priority claims it'
    : 'selects the object; another policy claimed it first, or has precedence'
}

/** Explains each cluster of the fleet, and each target that is not in it. */
export function explainClusters(facts: ExplainFacts): readonly ExplainedCluster[] {
  const { template, binding, overrides, clusters, reach } = facts
  if (!binding) return []
  const accepted = clusters.filter(({ spec }) => spec.accepted)
  const targets = new Map(targetsOf(binding).map((target) => [target.name, target]))
  const { refusals } = filterClusters({
    binding,
    clusters: accepted.map((cluster) => snapshotOf(schedulerCluster(cluster))),
    affinityName: binding.status?.schedulerObservingAffinityName ?? '',
    others: [],
    respectsWorkloadAffinity: false,
  })
  const byName = new Map(accepted.map((cluster) => [cluster.metadata.name, cluster]))
  const contents = compileBinding({
    binding,
    template,
    clusterOf: (name) => {
      const cluster = byName.get(name)
      return cluster && schedulerCluster(cluster)
    },
    overrides: validOverrides(overrides),
    findsShadowed: true,
  })
  const roomOf = roomFor(binding, facts.capacityOf)
  const content = new Map(contents.map((one) => [one.cluster, one]))
  const own = new Set((binding.spec.clusters ?? []).map(({ name }) => name))
  const isHeld = findCondition(binding.status?.conditions, 'Scheduled')?.reason === DROP_HELD
  const kept = new Set((binding.spec.gracefulEvictionTasks ?? []).map(({ fromCluster }) => fromCluster))
  return [...new Set([...byName.keys(), ...targets.keys()])].toSorted().map((name) => {
    const cluster = byName.get(name)
    const made = content.get(name)
    const changed = made && 'overrides' in made ? made.overrides : []
    const problem = made && 'problem' in made ? `overrides cannot be applied: ${made.problem}` : undefined
    const outside = cluster && reach && !('refusal' in reach) ? reach.whyNot(asPlacementCluster(cluster)) : undefined
    const refusal = outside ?? refusals.get(name)
    const why = own.has(name)
      ? targetReason({ outside, refusal: refusals.get(name), isHeld })
      : kept.has(name)
        ? 'its copy stays until the others are healthy'
        : targets.has(name)
          ? 'a workload there needs the object'
          : cluster && isLeaving(cluster)
            ? 'leaves the fleet'
            : (refusal ?? 'fits, and was not chosen')
    return {
      cluster: name,
      replicas: targets.get(name)?.replicas === undefined ? '' : `${targets.get(name)!.replicas}`,
      ...compact({ room: cluster && roomOf(cluster) }),
      why: problem ?? why,
      overrides: changed,
      shadowed: made && 'shadowed' in made ? made.shadowed : [],
    }
  })
}

/** The number of further replicas that fit on a cluster; undefined for a placement that does not read them. */
function roomFor(
  binding: ServedBinding,
  capacityOf: ExplainFacts['capacityOf'] = () => undefined,
): (cluster: Cluster) => number | undefined {
  const { placement } = binding.spec
  if (!placement || !readsCapacity(placement)) return () => undefined
  const estimate = capacityEstimate(binding, false)
  return (cluster) => {
    const capacity = capacityOf(cluster.metadata.name)
    return capacity && estimate(snapshotOf(schedulerCluster(cluster, capacity)))
  }
}

interface Target {
  /** Why the Project does not allow the cluster. */
  readonly outside: string | undefined
  /** Why the placement does not choose the cluster any more. */
  readonly refusal: string | undefined
  readonly isHeld: boolean
}

function targetReason({ outside, refusal, isHeld }: Target): string {
  if (outside !== undefined) return `target that keeps what it has and gets nothing new: ${outside}`
  if (refusal === undefined) return 'target'
  return `target, although ${refusal}${isHeld ? '; the guard holds its removal' : ''}`
}
