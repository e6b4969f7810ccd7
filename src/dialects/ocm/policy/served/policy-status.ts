// Tested by src/dialects/ocm/policy/served/policy.sim.test.ts
/** The status of Policies and PolicySets in the words of Open Cluster Management. Pure. */
import { compact } from '../../../../core/compact.ts'
import type { ClusterReport } from '../../../../kinds/native/cluster-report.ts'
import { countDuties, dutyState, nextDuty } from '../../../../plan/fleet/duties.ts'
import type { Demand, Duty } from '../../../../plan/fleet/duties.ts'
import { nameSome } from '../../../../core/text/name-some.ts'
import type { Policy, PolicySet } from './kinds.ts'

/** A state of compliance; absent while it is not known. */
export type Compliance = NonNullable<Policy['status']>['compliant']

/** The result of one check. */
export type Check = NonNullable<ClusterReport['spec']['checks']>[number]
type Row = NonNullable<NonNullable<Policy['status']>['status']>[number]

/** What the hub knows of a cluster. */
export interface KnownCluster {
  readonly name: string
  /** True if the agent has been heard within its time. What an offline cluster said last is not its state. */
  readonly isHeard: boolean
  /** The checks of a Bundle. A fleet has many checks, so they are not searched for each Policy. */
  readonly checksOf: (bundle: string) => readonly Check[]
}

/** The checks of a report by Bundle. */
export function checksByBundle({ spec: { checks = [] } }: ClusterReport): ReadonlyMap<string, readonly Check[]> {
  return Map.groupBy(checks, ({ bundle }) => bundle)
}

/** The rows of a Policy, one for each bound cluster in order of name. */
export function clusterRows(bundles: readonly string[], clusters: readonly KnownCluster[]): Row[] {
  return clusters.map(({ name, isHeard, checksOf }) => {
    const own = bundles.flatMap(checksOf)
    const compliant = isHeard
      ? complianceOf(own.map(({ state }) => (state === 'Unknown' ? undefined : state)))
      : undefined
    return { clustername: name, clusternamespace: name, ...compact({ compliant }) }
  })
}

/** The duties of the clusters, in order of name. */
export function clusterDuties(
  before: readonly Duty[],
  {
    bundles,
    clusters,
    demands,
  }: {
    readonly bundles: readonly string[]
    readonly clusters: readonly KnownCluster[]
    readonly demands: ReadonlyMap<string, Demand>
  },
  nowMs: number,
): Duty[] {
  const known = new Map(before.map((duty) => [duty.clustername, duty]))
  const stateOf = new Map(clusterRows(bundles, clusters).map((row) => [row.clustername, row.compliant]))
  return clusters.flatMap(({ name, checksOf }) => {
    const demand = demands.get(name)
    if (!demand) return []
    const state = stateOf.get(name)
    // A Policy is met when the last of its checks is, and is not met since the first one is not.
    const times = bundles
      .flatMap(checksOf)
      .filter((one) => one.state === state)
      .map(({ since }) => since)
      .toSorted()
    const since = state === 'Compliant' ? times.at(-1) : times[0]
    return [nextDuty(known.get(name), { clustername: name, demand, heard: { state, since } }, nowMs)]
  })
}

/** The condition about duties. */
export function dutiesCondition(
  duties: readonly Duty[],
  nowMs: number,
): { readonly reason: 'Overdue' | 'InTime' | 'Met'; readonly message: string } {
  const counts = countDuties(duties, nowMs)
  const overdue = duties.filter((duty) => dutyState(duty, nowMs) === 'Overdue')
  if (overdue.length > 0) {
    const names = nameSome(overdue.map(({ clustername }) => clustername))
    return { reason: 'Overdue', message: `${overdue.length} of ${duties.length} clusters do not comply, and their deadline has passed: ${names}.` } // prettier-ignore
  }
  const late = counts.Late > 0 ? `; ${counts.Late} complied after the deadline` : ''
  if (counts.Open === 0) return { reason: 'Met', message: `${duties.length === 1 ? 'The cluster complies' : `All ${duties.length} clusters comply`}${late}.` } // prettier-ignore
  const open = duties.filter((duty) => dutyState(duty, nowMs) === 'Open')
  const deadline = open.map((duty) => duty.deadline).toSorted()[0]
  return { reason: 'InTime', message: `${counts.Open} of ${duties.length} clusters do not comply yet; the next deadline is ${deadline}${late}.` } // prettier-ignore
}

/** NonCompliant before Pending before not known before Compliant; without any state, not known. */
export function complianceOf(states: readonly Compliance[]): Compliance {
  if (states.includes('NonCompliant')) return 'NonCompliant'
  if (states.includes('Pending')) return 'Pending'
  return states.length > 0 && states.every((state) => state === 'Compliant') ? 'Compliant' : undefined
}

/** State and message of a PolicySet. */
export function setStatus(
  { spec }: Pick<PolicySet, 'spec'>,
  policyOf: (name: string) => Policy | undefined,
): { readonly compliant?: Compliance; readonly statusMessage: string } {
  const policies = spec.policies.map((name) => ({ name, policy: policyOf(name) }))
  const live = policies.filter(({ policy }) => policy && !policy.spec.disabled)
  const named = (all: typeof policies) => all.map(({ name }) => name).join(', ')
  const parts: readonly [string, typeof policies][] = [
    ['Disabled policies: ', policies.filter(({ policy }) => policy?.spec.disabled)],
    [
      'No status provided while awaiting policy status: ',
      live.filter(({ policy }) => policy?.status?.compliant === undefined),
    ],
    ['Deleted policies: ', policies.filter(({ policy }) => !policy)],
    ['Policies awaiting pending dependencies: ', live.filter(({ policy }) => policy?.status?.compliant === 'Pending')],
  ]
  const told = parts.filter(([, all]) => all.length > 0).map(([words, all]) => `${words}${named(all)}`)
  const compliant = complianceOf(live.map(({ policy }) => policy?.status?.compliant))
  return {
    statusMessage: told.length === 0 ? 'All policies are reporting status' : told.join('; '),
    ...compact({ compliant }),
  }
}
