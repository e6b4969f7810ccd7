/**
 * The one vocabulary of states: what a (bundle, cluster) pair is, from what is assigned, reported and seen.
 * API, CLI, console and metrics all ask here, so that they cannot disagree.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import { plural } from '../../core/text/name-some.ts'
import { BUNDLE_STATES } from '../../kinds/fields/states.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import type { Availability } from './availability.ts'

/** What identifies the content of a bundle: its generation and the digest of its object set. */
export interface Revision {
  readonly generation: number
  readonly set: Digest
}

/** What a cluster's agent says about one bundle. */
export interface ReportedBundle extends Revision {
  readonly state: BundleStateName
  /** Which of the tries that somebody asked for this is about. */
  readonly attempt?: number
  readonly message?: string
  readonly firstFailing?: string
}

/** What a Pending pair waits for. */
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

/** Everything a pair's state follows from. */
export interface BundleStateFacts {
  /** Whether the placement selects the cluster, and its sentence. */
  readonly selection: { readonly selected: boolean; readonly message: string }
  /** What the newest release wants; absent while nothing has been rendered. */
  readonly target?: Revision
  /** A slot is held for the pair. */
  readonly admitted: boolean
  /** What the cluster's document says now. */
  readonly assigned?: Revision
  readonly reported?: ReportedBundle
  readonly availability: Availability
  /** What an agent waits for that says Pending in its own words: a window or a freeze. */
  readonly heldFor?: PendingReason
  /** What holds the pair back when it is neither admitted nor assigned. */
  readonly waits?: { readonly for: PendingReason; readonly message: string }
  /** Why nothing could be rendered for this cluster. */
  readonly problem?: string
}

/** Exactly one state, with what a person needs to know about it. */
export interface StateOnCluster {
  readonly state: BundleStateName
  readonly message: string
  readonly waitsFor?: PendingReason
  /** For Offline: what was last known. */
  readonly lastKnown?: BundleStateName
  /** For Offline: the generation the cluster will move to when it returns. */
  readonly queued?: number
  readonly firstFailing?: string
}

/** Counts per state; aggregates are these, never the worst one. */
export type StateCounts = Readonly<Record<BundleStateName, number>>

/** Whether two revisions are the same content at the same generation. */
export function sameRevision(a: Revision | undefined, b: Revision | undefined): boolean {
  return a !== undefined && b !== undefined && a.generation === b.generation && a.set === b.set
}

/** The state of one bundle on one cluster. */
export function stateOnCluster(facts: BundleStateFacts): StateOnCluster {
  if (!facts.selection.selected) {
    const stays = facts.assigned ? `; it keeps generation ${facts.assigned.generation} until it is removed` : ''
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
    const keeps = assigned ? `It keeps generation ${assigned.generation}.` : 'It gets nothing.'
    return { state: 'Failed', message: `Cannot be rendered for this cluster: ${problem.replace(/\.?$/, '.')} ${keeps}` }
  }
  if (!target) return { state: 'Pending', waitsFor: 'render', message: 'Nothing has been rendered yet.' }
  if (reported && sameRevision(reported, target)) return reportedState(reported, facts.heldFor)
  if (facts.admitted && facts.heldFor && facts.waits?.for === facts.heldFor) {
    const message = `Generation ${target.generation} was handed out, and then it was held: ${facts.waits.message} Its slot stays taken, for its agent begins as soon as it is free; where the ring has a startBy, until that has passed.`
    return { state: 'Progressing', message }
  }
  if (facts.admitted || sameRevision(assigned, target)) {
    return { state: 'Progressing', message: `Generation ${target.generation} was handed out; no report about it yet.` }
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

/** Counts pairs per state; every state is there, also with zero. */
export function countStates(states: Iterable<BundleStateName>): StateCounts {
  const counts = Object.fromEntries(BUNDLE_STATES.map((state) => [state, 0])) as Record<BundleStateName, number>
  for (const state of states) counts[state]++
  return counts
}

/** What a cluster has of one bundle: what its document says and what its agent reports. */
export interface HeldBundle {
  readonly assigned: Revision
  readonly reported?: ReportedBundle
}

/** A cluster as a whole: one word, the sentence behind it, and how many of its bundles are Ready. */
export interface ClusterSummary {
  readonly state: BundleStateName
  readonly message: string
  readonly bundles: { readonly total: number; readonly ready: number }
}

// What a person should look at first; a list of words, not a scale of pain.
const FIRST_LOOK = ['Failed', 'Drifted', 'Progressing', 'Pending'] as const

/** Summarizes a cluster from the bundles it holds; the counts stay beside the word. */
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
  if (!cluster.accepted) return of('Pending', cluster.waits ?? 'Waits to be accepted: flotilla cluster accept NAME.')
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
  if (bundles === 0) return 'Runs no bundles.'
  return bundles === 1 ? 'Its bundle is Ready.' : `All ${bundles} bundles are Ready.`
}
