/** Recorded questions about the division of replicas: seats by weight, strategies, and the choice of groups. */
import { chooseGroups } from '../../../src/plan/division/choose-groups.ts'
import type { ClusterGroup } from '../../../src/plan/division/choose-groups.ts'
import { divideReplicas } from '../../../src/plan/division/divide-replicas.ts'
import type { ClusterReplicas, DivisionStrategy } from '../../../src/plan/division/divide-replicas.ts'
import { divideSeats, tieOrder } from '../../../src/plan/division/seats.ts'
import type { RecordedCase } from '../recorded-case.ts'

interface WebsterCase {
  readonly replicas: number
  readonly weights: Readonly<Record<string, number>>
  readonly initial: Readonly<Record<string, number>>
  readonly uid: string
}

interface AssignCase {
  readonly candidates: readonly { readonly name: string; readonly allocatable: number }[]
  readonly strategy: {
    readonly replicaSchedulingType?: string
    readonly replicaDivisionPreference?: string
    readonly weightPreference?: {
      readonly staticWeightList?: readonly {
        readonly targetCluster: { readonly clusterNames?: readonly string[] }
        readonly weight: number
      }[]
      readonly dynamicWeight?: string
    }
  }
  readonly previous?: readonly ClusterReplicas[]
  readonly replicas: number
  readonly uid: string
}

export function answerDivision(input: RecordedCase): unknown {
  const question: unknown = input
  switch (input['op']) {
    case 'webster': {
      const { replicas, weights, initial, uid } = question as WebsterCase
      const seats = divideSeats({
        seats: replicas,
        weights: new Map(Object.entries(weights)),
        ...(Object.keys(initial).length > 0 && { initial: new Map(Object.entries(initial)) }),
        ties: tieOrder(uid),
      })
      return { clusters: [...seats].map(([name, count]) => ({ name, replicas: count })) }
    }
    case 'assign':
      return assign(question as AssignCase)
    case 'groups': {
      const { groups, min, max, target } = question as {
        readonly groups: readonly ClusterGroup[]
        readonly min: number
        readonly max: number
        readonly target: number
      }
      return { groups: chooseGroups(groups, { min, max, target }).map(({ name }) => name) }
    }
    default:
      throw new Error(`unknown op ${String(input['op'])}`)
  }
}

function assign({ strategy, previous = [], candidates, replicas, uid }: AssignCase): unknown {
  const weights = strategy.weightPreference?.staticWeightList ?? []
  const divided = () =>
    divideReplicas({
      strategy: strategyOf(strategy),
      candidates,
      replicas,
      previous,
      // The cases with `fresh` have no time of the last decision; Karmada then does not divide anew.
      fresh: false,
      uid,
      weightOf: ({ name }) =>
        Math.max(
          0,
          ...weights
            .filter(({ targetCluster }) => targetCluster.clusterNames?.includes(name) ?? true)
            .map(({ weight }) => weight),
        ),
    })
  try {
    return { clusters: divided().filter((one) => one.replicas > 0) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

function strategyOf({
  replicaSchedulingType,
  replicaDivisionPreference,
  weightPreference,
}: AssignCase['strategy']): DivisionStrategy {
  if (replicaSchedulingType === 'Duplicated') return 'Duplicated'
  if (replicaDivisionPreference === 'Aggregated') return 'Aggregated'
  return weightPreference?.dynamicWeight ? 'DynamicWeight' : 'StaticWeight'
}
