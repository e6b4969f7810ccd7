/**
 * The state of a bundle on a cluster, from assignment, report and availability. API, CLI, console and metrics use this
 * file, so that they cannot disagree.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import { plural } from '../../core/text/name-some.ts'
import { BUNDLE_STATES } from '../../kinds/fields/states.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import type { Availability } from './availability.ts'

/** The identity of a bundle's content: its generation and the digest of its set. */
export interface Revision {
  readonly generation: number
  readonly set: Digest
}

/** An agent's report about one bundle. */
export interface ReportedBundle extends Revision {
  readonly state: BundleStateName
  /** Number of the manual retry that this report belongs to. */
  readonly attempt?: number
  readonly message?: string
  readonly firstFailing?: string
}

/** What a Pending bundle on a cluster waits for. */
export type PendingReason =
  | 'render'
  | 'placement'
  | 'connection'
  | 'ring'
  | 'budget'
  | 'approval'
  | 'window'
  | 'freeze'
  | 'dependency'
  | 'gate'
  | 'generation'

/** Facts that the state of a bundle on a cluster follows from. */
export interface BundleStateFacts {
  /** Whether the Placement selects the cluster, and why not. */
  readonly selection: { readonly selected: boolean; readonly message: string }
  /** The revision of the newest Release; absent while nothing has been rendered. */
  readonly target?: Revision
  /** The rollout has admitted the cluster. */
  readonly admitted: boolean
  /** The revision in the cluster's document. */
  readonly assigned?: Revision
  readonly reported?: ReportedBundle
  readonly availability: Availability
  /** The kind of hold where the agent reports Pending: a window or a freeze. */
  readonly heldFor?: PendingReason
  /** What the bundle waits for while it is neither admitted nor assigned. */
  readonly waits?: { readonly for: PendingReason; readonly message: string }
  /** Why no content could be rendered for this cluster. */
  readonly problem?: string
}

/**
 * The state of a bundle on a cluster, with its message. For example
 * `{ state: 'Pending', waitsFor: 'ring', message: 'Waits for its turn in the rollout.' }`.
 */
export interface StateOnCluster {
  readonly state: BundleStateName
  readonly message: string
  readonly waitsFor?: PendingReason
  /** For Offline: the last known state. */
  readonly lastKnown?: BundleStateName
  /** For Offline: the generation that the cluster moves to when it returns. */
  readonly queued?: number
  readonly firstFailing?: string
}

/** Counts per state; aggregates show counts, never only the worst state. */
export type StateCounts = Readonly<Record<BundleStateName, number>>

/** Whether two revisions are the same content at the same generation. */
export function sameRevision(a: Revision | undefined, b: Revision | undefined): boolean {
  return a !== undefined && b !== undefined && a.generation === b.generation && a.set === b.set
}

export function stateOnCluster(facts: BundleStateFacts): StateOnCluster {
  if (!facts.selection.selected) {
    const stays = facts.assigned
      ? `; the cluster keeps generation ${facts.assigned.generation} until it is removed`
      : ''
    return { state: 'NotSelected', message: `${facts.selection.message}${stays}` }
  }
  const connected = connectedState(facts)
  if (facts.availability.state !== 'Offline') return connected
  const queued = facts.target && !sameRevision(facts.reported, facts.target) ? facts.target.generation : undefined
  return {
    state: 'Offline',
    message: facts.availability.message,
    lastKnown: facts.reported?.state ?? connected.state,
    ...(queued === undefined ? {} : { queued }),
  }
}

function connectedState(facts: BundleStateFacts): StateOnCluster {
  const { target, reported, assigned, problem } = facts
  if (problem !== undefined) {
    const keeps = assigned
      ? `The cluster keeps generation ${assigned.generation}.`
      : 'The cluster does not receive the bundle.'
    const cause = problem.endsWith('.') ? problem : `${problem}.`
    return { state: 'Failed', message: `The bundle cannot be rendered for this cluster: ${cause} ${keeps}` }
  }
  if (!target) return { state: 'Pending', waitsFor: 'render', message: 'The bundle has not been rendered yet.' }
  if (reported && sameRevision(reported, target)) return reportedState(reported, facts.heldFor)
  if (facts.admitted && facts.heldFor && facts.waits?.for === facts.heldFor) {
    const message = `Generation ${target.generation} was delivered, and then the cluster was held: ${facts.waits.message} The slot stays taken until the agent starts, or until the ring's startBy has passed.`
    return { state: 'Progressing', message }
  }
  if (facts.admitted || sameRevision(assigned, target)) {
    return {
      state: 'Progressing',
      message: `Generation ${target.generation} was delivered; the agent has not reported on it yet.`,
    }
  }
  const waits = facts.waits ?? { for: 'ring', message: 'Waits for its turn in the rollout.' }
  return { state: 'Pending', waitsFor: waits.for, message: waits.message }
}

function reportedState(reported: ReportedBundle, heldFor: PendingReason | undefined): StateOnCluster {
  return {
    state: reported.state,
    message: reported.message ?? `Reported ${reported.state} at generation ${reported.generation}.`,
    ...(reported.firstFailing === undefined ? {} : { firstFailing: reported.firstFailing }),
    ...(reported.state === 'Pending' && heldFor ? { waitsFor: heldFor } : {}),
  }
}

/** Counts states; every state is present, also with zero. */
export function countStates(states: Iterable<BundleStateName>): StateCounts {
  const counts = Object.fromEntries(BUNDLE_STATES.map((state) => [state, 0])) as Record<BundleStateName, number>
  for (const state of states) counts[state]++
  return counts
}

/** One bundle of a cluster: the revision in its document and the agent's report. */
export interface HeldBundle {
  readonly assigned: Revision
  readonly reported?: ReportedBundle
}

/** The state of a whole cluster, with its message and the number of Ready bundles. */
export interface ClusterSummary {
  readonly state: BundleStateName
  readonly message: string
  readonly bundles: { readonly total: number; readonly ready: number }
}

// The order in which a state of a bundle becomes the state of the cluster.
const FIRST_LOOK = ['Failed', 'Drifted', 'Progressing', 'Pending'] as const

/** Summarizes a cluster from its bundles. */
export function clusterSummary(
  cluster: { readonly accepted: boolean; readonly availability: Availability; readonly waits?: string },
  held: readonly HeldBundle[],
): ClusterSummary {
  const states = held.map(({ assigned, reported }) =>
    reported && sameRevision(reported, assigned) ? reported.state : 'Progressing',
  )
  const counts = countStates(states)
  const bundles = { total: held.length, ready: counts.Ready }
  const of = (state: BundleStateName, message: string): ClusterSummary => ({ state, message, bundles })
  if (!cluster.accepted)
    return of(
      'Pending',
      cluster.waits ?? 'The cluster is not accepted yet; accept it with "flotilla cluster accept NAME".',
    )
  if (cluster.availability.state === 'Offline') return of('Offline', cluster.availability.message)
  if (cluster.availability.state === 'Unknown' && held.every(({ reported }) => !reported)) {
    return of('Pending', cluster.availability.message)
  }
  const first = FIRST_LOOK.find((state) => counts[state] > 0)
  if (!first) return of('Ready', readySentence(held.length))
  const words = BUNDLE_STATES.filter((state) => counts[state] > 0).map((state) => `${counts[state]} ${state}`)
  const failing = held.find(({ reported }) => reported?.state === first && reported.message)?.reported
  return of(first, `Of ${plural(held.length, 'bundle')}: ${words.join(', ')}.${failing ? ` ${failing.message}` : ''}`)
}

function readySentence(bundles: number): string {
  if (bundles === 0) return 'The cluster has no bundles.'
  return bundles === 1 ? 'The only bundle is Ready.' : `All ${bundles} bundles are Ready.`
}
