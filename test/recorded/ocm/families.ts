/** The families of Open Cluster Management's recorded answers, each with the product's function that answers it. */
import { formatTime, parseTime } from '../../../src/core/time/time.ts'
import { answerCase, createCelCompiler } from '../../../src/dialects/ocm/placement/answer-case.ts'
import { nextClusters } from '../../../src/dialects/ocm/rollout/next-clusters.ts'
import type {
  ClusterRolloutStatus,
  RolloutCluster,
  RolloutInput,
} from '../../../src/dialects/ocm/rollout/next-clusters.ts'
import type { RecordedCase } from '../recorded-case.ts'

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

export const OCM_FAMILIES = {
  rollout,
  placement: (input: RecordedCase) => answerCase(input, compileCel),
}
