/** The families of Open Cluster Management's recorded answers, each with the product's function that answers it. */
import { formatTime, parseTime } from '../../../src/core/time/time.ts'
import { answerCase, createCelCompiler } from '../../../src/dialects/ocm/placement/answer-case.ts'
import {
  acceptancePass,
  bindingPass,
  builtInSetPass,
  clockPass,
  leasePass,
  setPass,
  setsOfClusterPass,
  taintPass,
} from '../../../src/dialects/ocm/clusters/cluster-passes.ts'
import type { ClusterLease, PassResult } from '../../../src/dialects/ocm/clusters/cluster-passes.ts'
import type { ManagedCluster, ManagedClusterSet, ManagedClusterSetBinding } from '../../../src/dialects/ocm/kinds.ts'
import { nextClusters } from '../../../src/dialects/ocm/rollout/next-clusters.ts'
import type {
  ClusterRolloutStatus,
  RolloutCluster,
  RolloutInput,
} from '../../../src/dialects/ocm/rollout/next-clusters.ts'
import type { RecordedCase } from '../recorded-case.ts'
import { dryRunAnswer, templateAnswer } from './policy-cases.ts'

const compileCel = createCelCompiler()

const STATUSES: readonly string[] = ['ToApply', 'Progressing', 'Succeeded', 'Failed', 'TimeOut', 'Skip']

type RecordedCluster = Omit<RolloutCluster, 'since' | 'recheck' | 'status'> & {
  readonly status: string
  readonly since?: string
  readonly recheck?: string
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseTime(text)
}

function readCluster({ cluster, group, status, since }: RecordedCluster): RolloutCluster {
  const at = timeOf(since)
  return {
    cluster,
    group,
    status: (STATUSES.includes(status) ? status : 'Unknown') as ClusterRolloutStatus,
    ...(at === undefined ? {} : { since: at }),
  }
}

function writeCluster({ cluster, group, status, since, recheck }: RolloutCluster): RecordedCluster {
  return {
    cluster,
    group: { name: group.name, index: group.index },
    status,
    ...(since === undefined ? {} : { since: inSeconds(since) }),
    ...(recheck === undefined ? {} : { recheck: inSeconds(recheck) }),
  }
}

/** Kubernetes writes times in whole seconds. */
function inSeconds(at: number): string {
  return formatTime(Math.floor(at / 1000) * 1000)
}

function rollout(input: RecordedCase): unknown {
  const { now, strategy, groups, existing } = input as unknown as {
    readonly now: string
    readonly strategy: RolloutInput['strategy']
    readonly groups?: RolloutInput['groups']
    readonly existing?: readonly RecordedCluster[]
  }
  const step = nextClusters({
    now: parseTime(now)!,
    strategy,
    groups: groups ?? [],
    existing: (existing ?? []).map(readCluster),
  })
  return {
    ...step,
    rollout: step.rollout.map(writeCluster),
    timedOut: step.timedOut.map(writeCluster),
    removed: step.removed.map(writeCluster),
  }
}

interface ClusterCase {
  readonly check: string
  readonly key: string
  readonly now: string
  readonly clusters?: readonly ManagedCluster[]
  readonly leases?: readonly ClusterLease[]
  readonly sets?: readonly ManagedClusterSet[]
  readonly bindings?: readonly ManagedClusterSetBinding[]
}

/** One pass of one controller; an object that does not exist needs nothing. */
function clusterPass(input: ClusterCase): PassResult {
  const { check, key, clusters = [], leases = [], sets = [], bindings = [] } = input
  const now = parseTime(input.now)!
  const nothing: PassResult = { writes: [] }
  const cluster = clusters.find(({ metadata }) => metadata.name === key)
  switch (check) {
    case 'accept':
      return cluster ? acceptancePass(cluster) : nothing
    case 'lease':
      return cluster ? leasePass(cluster, leases, now) : nothing
    case 'clock':
      return cluster ? clockPass(cluster, leases, now) : nothing
    case 'taint':
      return cluster ? taintPass(cluster) : nothing
    case 'setsof':
      return cluster ? setsOfClusterPass(cluster, sets) : nothing
    case 'set': {
      const set = sets.find(({ metadata }) => metadata.name === key)
      return set ? setPass(set, clusters) : nothing
    }
    case 'binding': {
      const binding = bindings.find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === key)
      return binding ? bindingPass(binding, sets) : nothing
    }
    case 'defaultset':
      return builtInSetPass('default', sets)
    case 'globalset':
      return builtInSetPass('global', sets)
    default:
      throw new Error(`unknown check ${check}`)
  }
}

function cluster(input: RecordedCase): unknown {
  const { conditions = [], taints = [], ...rest } = clusterPass(input as unknown as ClusterCase)
  return {
    ...rest,
    conditions: Object.fromEntries(
      conditions.map(({ type, status, reason, message }) => [type, { status, reason, message }]),
    ),
    taints: taints.map(({ key, value, effect }) => ({ key, value: value ?? '', effect })),
  }
}

export const OCM_FAMILIES = {
  cluster,
  rollout,
  placement: (input: RecordedCase) => answerCase(input, compileCel),
  template: templateAnswer,
  dryrun: dryRunAnswer,
}
