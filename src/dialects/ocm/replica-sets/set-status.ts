/** The status of a ManifestWorkReplicaSet in the words of Open Cluster Management. Pure. */
import { findCondition } from '../../../core/conditions.ts'
import type { Condition } from '../../../kinds/meta.ts'
import { plural } from '../../../core/text/name-some.ts'
import type { RolloutGroup } from '../rollout/next-clusters.ts'
import type { WorkCondition } from '../works/work-status.ts'
import type { WorkSummary } from './kinds.ts'

/** The work of a set on a cluster. */
export interface ClusterWork {
  readonly conditions: readonly WorkCondition[]
  /** The agent has the newest content. */
  readonly isUpdated: boolean
  /** State of the Bundle as the agent reports it. */
  readonly state: string
}

/** An entry of placementRefs. */
export interface RefFacts {
  readonly name: string
  readonly groups: readonly RolloutGroup[]
  readonly clusters: readonly string[]
  /** What the agents report; a cluster that has nothing of the set has no entry. */
  readonly works: ReadonlyMap<string, ClusterWork>
  /** The Ready conditions of what the entry became. */
  readonly placement: Pick<Condition, 'status' | 'message'> | undefined
  readonly bundle: Pick<Condition, 'status' | 'reason' | 'message'> | undefined
}

/** What a set shows. */
export interface SetStatus {
  readonly summary: WorkSummary
  readonly placementSummary: readonly {
    readonly name: string
    readonly availableDecisionGroups: string
    readonly summary: WorkSummary
  }[]
  readonly conditions: readonly WorkCondition[]
}

const NOTHING: WorkSummary = {
  total: 0,
  progressing: 0,
  available: 0,
  degraded: 0,
  applied: 0,
  desiredTotal: 0,
  updated: 0,
}

export function setStatus(refs: readonly RefFacts[]): SetStatus {
  const placementSummary = refs.map((ref) => ({
    name: ref.name,
    availableDecisionGroups: groupsText(ref),
    summary: summaryOf(ref),
  }))
  const summary = placementSummary.reduce((sum, one) => added(sum, one.summary), NOTHING)
  return { summary, placementSummary, conditions: [verified(refs, summary), applied(refs, summary), rolledOut(refs)] }
}

function summaryOf({ clusters, works }: RefFacts): WorkSummary {
  const found = [...works.values()]
  const count = (holds: (work: ClusterWork) => boolean): number => found.filter(holds).length
  return {
    total: found.length,
    desiredTotal: clusters.length,
    applied: count((work) => isTrue(work, 'Applied')),
    available: count((work) => isTrue(work, 'Available')),
    progressing: count(isProgressing),
    degraded: count(isDegraded),
    updated: count((work) => work.isUpdated && isTrue(work, 'Applied')),
  }
}

function added(a: WorkSummary, b: WorkSummary): WorkSummary {
  const sum = { ...a }
  for (const key of Object.keys(NOTHING) as (keyof WorkSummary)[]) sum[key] += b[key]
  return sum
}

function isTrue({ conditions }: ClusterWork, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True'
}

/** A rule decides; without one, the health of the objects. */
function isProgressing(work: ClusterWork): boolean {
  return findCondition(work.conditions, 'Progressing') ? isTrue(work, 'Progressing') : work.state === 'Progressing'
}

function isDegraded(work: ClusterWork): boolean {
  return findCondition(work.conditions, 'Degraded') ? isTrue(work, 'Degraded') : work.state === 'Failed'
}

/** Whether the newest content runs on the cluster and is healthy. */
function hasSucceeded(work: ClusterWork | undefined): boolean {
  return work !== undefined && work.isUpdated && (work.state === 'Ready' || work.state === 'Drifted')
}

function groupsText({ groups, works }: RefFacts): string {
  const isAvailable = (cluster: string): boolean => {
    const work = works.get(cluster)
    return work !== undefined && work.isUpdated && isTrue(work, 'Available')
  }
  const filled = groups.filter(({ clusters }) => clusters.length > 0)
  return `${filled.filter(({ clusters }) => clusters.every(isAvailable)).length}/${filled.length}`
}

function verified(refs: readonly RefFacts[], { desiredTotal }: WorkSummary): WorkCondition {
  const type = 'PlacementVerified'
  const bad = refs.find(({ placement }) => placement?.status === 'False')
  if (bad) return { type, status: 'False', reason: 'NotAsExpected', message: bad.placement!.message }
  if (desiredTotal > 0) return { type, status: 'True', reason: 'AsExpected', message: '' }
  return {
    type,
    status: 'False',
    reason: 'PlacementDecisionEmpty',
    message: `The decisions of ${refs.map(({ name }) => `Placement ${name}`).join(' and ')} are empty.`,
  }
}

function applied(refs: readonly RefFacts[], { applied: done, desiredTotal, updated }: WorkSummary): WorkCondition {
  const type = 'ManifestworkApplied'
  const broken = refs.find(({ bundle }) => bundle?.status === 'False' && !MOVING.has(bundle.reason))
  if (broken) return { type, status: 'False', reason: 'NotAsExpected', message: broken.bundle!.message }
  const failing = refs
    .flatMap(({ works }) => [...works])
    .find(([, { conditions }]) => findCondition(conditions, 'Applied')?.status === 'False')
  if (failing) {
    const message = `Cluster ${failing[0]}: ${findCondition(failing[1].conditions, 'Applied')!.message}`
    return { type, status: 'False', reason: 'NotAsExpected', message }
  }
  if (desiredTotal > 0 && updated === desiredTotal) return { type, status: 'True', reason: 'AsExpected', message: '' }
  const message = `${updated} of ${plural(desiredTotal, 'cluster')} have the newest manifests; ${done} have applied manifests.`
  return { type, status: 'False', reason: 'Processing', message }
}

/** Reasons of a Bundle that is on its way; with each other reason, a person must look at it. */
const MOVING: ReadonlySet<string> = new Set(['RollingOut', 'Gathering', 'RolloutPaused'])

function rolledOut(refs: readonly RefFacts[]): WorkCondition {
  const type = 'PlacementRolledOut'
  const all = refs.reduce((sum, { clusters }) => sum + clusters.length, 0)
  const done = refs.reduce(
    (sum, { clusters, works }) => sum + clusters.filter((one) => hasSucceeded(works.get(one))).length,
    0,
  )
  const isDone = all > 0 && done === all
  return {
    type,
    status: isDone ? 'True' : 'False',
    reason: isDone ? 'Complete' : 'Progressing',
    message: isDone ? '' : `${done} of ${plural(all, 'cluster')} run the newest manifests and are healthy.`,
  }
}
