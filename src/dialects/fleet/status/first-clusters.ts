/** The first cluster of a state, with the message of its agent: what Fleet's messages name beside the counts. */
import { findCondition } from '../../../core/conditions.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import type { FleetState } from './states.ts'

/** A text for some of the states. */
export type FirstClusters = Partial<Record<FleetState, string>>

const MOST = 512

/** The first clusters by name among those that a Rollout admitted and that are not Ready. */
export function firstClusters(
  { metadata, status }: Bundle,
  rollout: Rollout | undefined,
  messageOf: (cluster: string) => string | undefined,
): FirstClusters {
  const firsts: FirstClusters = {}
  const admitted = (rollout?.status?.admissions ?? []).filter(({ bundle }) => bundle === metadata.name)
  for (const { cluster, failedAt } of admitted.toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1))) {
    const state = failedAt === undefined ? 'NotReady' : 'ErrApplied'
    if (firsts[state] !== undefined) continue
    const message = messageOf(cluster)
    firsts[state] = message ? `Cluster ${cluster}: ${message.slice(0, MOST)}` : `Cluster ${cluster}`
  }
  const rendered = findCondition(status?.conditions, 'Rendered')
  if (rendered?.reason === 'PartlyRendered') firsts.ErrApplied ??= rendered.message.slice(0, MOST)
  return firsts
}

/** The first text of each state. */
export function joinFirsts(all: readonly FirstClusters[]): FirstClusters {
  return Object.assign({}, ...all.toReversed()) as FirstClusters
}
