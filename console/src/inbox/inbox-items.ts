/** What waits for a person, and what is broken: the items of the Inbox, from objects of the API. */
import { findCondition } from '../../../src/core/conditions.ts'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { attentionItems } from '../../../src/plan/fleet/attention.ts'
import type { AttentionFacts, AttentionItem } from '../../../src/plan/fleet/attention.ts'
import type { FleetRow } from '../../../src/hub/console/fleet-row.ts'
import { ringToApprove, waitsForApproval } from '../actions/rollout-actions.ts'
import { movingRollouts } from '../rollouts/rollout-rows.ts'

/** A ring that waits for an approval. */
export interface ApprovalItem {
  readonly rollout: Rollout
  readonly ring: string
  readonly since: string | undefined
  readonly message: string
}

export interface InboxItems {
  readonly approvals: readonly ApprovalItem[]
  /** Clusters that wait to be accepted. */
  readonly clusters: readonly FleetRow[]
  /** Held placements and reverted bundles: a person decides. */
  readonly held: readonly AttentionItem[]
  /** Failed rollouts, sources and builds. */
  readonly broken: readonly AttentionItem[]
  /** What works and should be changed all the same. */
  readonly warnings: readonly AttentionItem[]
  readonly count: number
}

const STATES: Readonly<Record<string, string>> = {
  FailedRollout: 'Failed',
  FailingSource: 'Failed',
  UnbuiltBundle: 'Failed',
  HeldPlacement: 'Held',
  HeldChange: 'Held',
  HeldBack: 'HeldBack',
}

const NOUNS: Readonly<Record<string, string>> = {
  FailedRollout: 'rollout',
  FailingSource: 'source',
  UnbuiltBundle: 'bundle',
  HeldPlacement: 'placement',
  HeldBack: 'bundle',
}

/** The state that an item is shown with. */
export function stateOfItem(kind: string): string {
  return STATES[kind] ?? 'Warning'
}

/** The kind of the object of an item; empty where its message says it. */
export function nounOf(kind: string): string {
  return NOUNS[kind] ?? ''
}

/** The pages of objects that have one. */
const PAGES: Readonly<Record<string, string>> = { rollout: 'rollouts', bundle: 'bundles', placement: 'placements' }

/** The page of the object of an item; undefined if it has none. */
export function linkOf({
  kind,
  namespace,
  name,
}: Pick<AttentionItem, 'kind' | 'namespace' | 'name'>): string | undefined {
  const page = PAGES[nounOf(kind)]
  return page === undefined || namespace === undefined ? undefined : `/${page}/${namespace}/${name}`
}

export function inboxItems(facts: AttentionFacts, rows: readonly FleetRow[]): InboxItems {
  const approvals = movingRollouts(facts.rollouts).flatMap((rollout) => {
    const ring = waitsForApproval(rollout) ? ringToApprove(rollout) : undefined
    if (!ring) return []
    const held = findCondition(rollout.status?.conditions, 'Held')
    return [{ rollout, ring: ring.name, since: held?.lastTransitionTime, message: held?.message ?? '' }]
  })
  const clusters = rows.filter(({ waitsFor }) => waitsFor === 'acceptance')
  const items = attentionItems(facts)
  const inState = (...states: string[]) => items.filter(({ kind }) => states.includes(stateOfItem(kind)))
  return {
    approvals,
    clusters,
    held: inState('Held', 'HeldBack'),
    broken: inState('Failed'),
    warnings: inState('Warning'),
    count: approvals.length + clusters.length + items.length,
  }
}
