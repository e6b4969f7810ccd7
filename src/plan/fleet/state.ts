/**
 * The state of a bundle on a cluster, from assignment, report and availability. API, CLI, console and metrics use this
 * file, so that they cannot disagree.
 */
import { compact } from '../../core/compact.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { plural } from '../../core/text/name-some.ts'
import { BUNDLE_STATES } from '../../kinds/fields/states.ts'
import type { BundleStateName, ClusterWait } from '../../kinds/fields/states.ts'
import type { Availability } from './availability.ts'

/** The identity of a bundle's content: its generation and the digest of its set. */
export interface Revision {
  readonly generation: number
  readonly set: Digest
}

/** A revision that runs while the agent waits to start another; without a state when it was not observed. */
export interface RunningRevision extends Revision {
  readonly state?: BundleStateName
}

/** An agent's report about a bundle. */
export interface ReportedBundle extends Revision {
  readonly state: BundleStateName
  /** The revision that runs while this one is Pending. Agents of 0.1 do not report it. */
  readonly running?: RunningRevision
  /** Whether the whole set was applied, while the bundle is Progressing or Failed. Agents of 0.1 do not report it. */
  readonly applied?: boolean
  /** Number of the manual retry that this report belongs to. */
  readonly attempt?: number
  readonly message?: string
  readonly firstFailing?: string
}

/** What a bundle on a cluster waits for, beside its state. */
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
  | 'admission'

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
  /** Why the Project of the namespace refuses the bundle, or that there is none. */
  readonly refused?: string
}

/**
 * The state of a bundle on a cluster, with its message. The state says what runs, and `waitsFor` stands beside any
 * state; it is Pending only where nothing of the bundle runs. For example
 * `{ state: 'Failed', waitsFor: 'approval', message: 'Generation 1 is Failed: no image. Waits for approval.' }`.
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
  return compact({
    state: 'Offline',
    message: facts.availability.message,
    lastKnown: facts.reported ? runningState(facts.reported) : connected.state,
    queued,
    waitsFor: connected.waitsFor,
  })
}

function connectedState(facts: BundleStateFacts): StateOnCluster {
  const { target, reported, assigned, problem } = facts
  if (problem !== undefined) {
    const keeps = assigned
      ? `The cluster keeps generation ${assigned.generation}.`
      : 'The cluster does not receive the bundle.'
    return { state: 'Failed', message: `The bundle cannot be rendered for this cluster: ${sentence(problem)} ${keeps}` }
  }
  if (!target) return waitingState(facts, notRendered(facts))
  if (reported && sameRevision(reported, target)) return reportedState(reported, facts.heldFor)
  if (facts.admitted && facts.heldFor && facts.waits?.for === facts.heldFor) {
    const message = `Generation ${target.generation} was delivered, and then the cluster was held: ${facts.waits.message} The slot stays taken until the agent starts, or until the ring's startBy has passed.`
    return { state: 'Progressing', waitsFor: facts.heldFor, message }
  }
  if (facts.admitted || sameRevision(assigned, target)) return { state: 'Progressing', message: delivered(target) }
  return waitingState(facts, facts.waits ?? { for: 'ring', message: 'Waits for its turn in the rollout.' })
}

function notRendered({ refused }: BundleStateFacts): NonNullable<BundleStateFacts['waits']> {
  if (refused !== undefined) return { for: 'freeze', message: refused }
  return { for: 'render', message: 'The bundle has not been rendered yet.' }
}

/** The state of a bundle that waits for its next revision: that of the revision which runs. */
function waitingState(
  { reported, assigned }: BundleStateFacts,
  waits: NonNullable<BundleStateFacts['waits']>,
): StateOnCluster {
  const waitsFor = waits.for
  if (assigned && !sameRevision(reported, assigned))
    return { state: 'Progressing', waitsFor, message: `${delivered(assigned)} ${waits.message}` }
  if (!reported || (reported.state === 'Pending' && !reported.running))
    return { state: 'Pending', waitsFor, message: waits.message }
  const { state, message, firstFailing } = reportedState(reported, undefined)
  const said = reported.message === undefined ? '.' : `: ${sentence(reported.message)}`
  const about =
    reported.state === 'Pending' ? sentence(message) : `Generation ${reported.generation} is ${state}${said}`
  return compact({
    state,
    waitsFor,
    message: `${about} ${waits.message}`,
    firstFailing,
  })
}

function delivered({ generation }: Revision): string {
  return `Generation ${generation} was delivered; the agent has not reported on it yet.`
}

/** The state of what runs, by the agent's report. A revision that was not observed since a restart is Progressing. */
function runningState({ state, running }: ReportedBundle): BundleStateName {
  return state === 'Pending' && running ? (running.state ?? 'Progressing') : state
}

function reportedState(reported: ReportedBundle, heldFor: PendingReason | undefined): StateOnCluster {
  const { generation, running } = reported
  const state = runningState(reported)
  const said = reported.message ?? `Reported ${reported.state} at generation ${generation}.`
  return compact({
    state,
    message: reported.state === 'Pending' && running ? runningMessage(reported, running) : said,
    firstFailing: reported.firstFailing,
    waitsFor: reported.state === 'Pending' && heldFor ? heldFor : undefined,
  })
}

function runningMessage({ generation, message }: ReportedBundle, running: RunningRevision): string {
  const runs =
    running.state === undefined ? 'runs; its state is not known since the agent restarted' : `is ${running.state}`
  const waits = `${generation === running.generation ? 'The agent' : `Generation ${generation}`} waits`
  return `Generation ${running.generation} ${runs}. ${waits}${message === undefined ? '.' : `: ${message}`}`
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}

/** Counts states; every state is present, also with zero. */
export function countStates(states: Iterable<BundleStateName>): StateCounts {
  const counts = Object.fromEntries(BUNDLE_STATES.map((state) => [state, 0])) as Record<BundleStateName, number>
  for (const state of states) counts[state]++
  return counts
}

/** A bundle of a cluster: the revision in its document and the agent's report. */
export interface HeldBundle {
  /** Absent for a bundle that the cluster is selected for and has not received. */
  readonly assigned?: Revision
  readonly reported?: ReportedBundle
  /** Why no content of the newest Release could be rendered for the cluster. */
  readonly problem?: string
}

/** Facts that the state of a cluster follows from. */
export interface ClusterFacts {
  readonly accepted: boolean
  readonly availability: Availability
  /** Why a cluster that is not accepted waits. */
  readonly waits?: string
  /** Why a cluster is not part of the fleet any more: rejected, revoked or decommissioned. */
  readonly apart?: string
  /** Number of bundles that are being removed. */
  readonly removing?: number
}

/** The state of a whole cluster, with its message and the number of Ready bundles. */
export interface ClusterSummary {
  /** Absent for a cluster that left or was turned away: it has only its badge. */
  readonly state?: BundleStateName
  readonly waitsFor?: ClusterWait
  readonly message: string
  readonly bundles: { readonly total: number; readonly ready: number }
}

// The order in which a state of a bundle becomes the state of the cluster.
const FIRST_LOOK = ['Failed', 'Drifted', 'Progressing', 'Pending'] as const

const NONE_REACHES = 'No bundle reaches the cluster: no Placement that a Bundle uses selects it.'

/**
 * Summarizes a cluster from the bundles that it has or is selected for. A bundle that it has not received yet does not
 * change its state while other bundles run.
 */
export function clusterSummary(cluster: ClusterFacts, held: readonly HeldBundle[]): ClusterSummary {
  const given = held.filter(({ assigned, problem }) => assigned ?? problem)
  const states = given.map(stateOfHeld)
  const counts = countStates(states)
  const bundles = { total: held.filter(({ assigned }) => assigned).length, ready: counts.Ready }
  const of = (state: BundleStateName, message: string): ClusterSummary => ({ state, message, bundles })
  if (cluster.apart !== undefined) return { message: cluster.apart, bundles }
  if (!cluster.accepted) {
    const message = cluster.waits ?? 'The cluster is not accepted yet; accept it with "flotilla cluster accept NAME".'
    return { ...of('Pending', message), waitsFor: 'acceptance' }
  }
  if (cluster.availability.state === 'Offline') return of('Offline', cluster.availability.message)
  if (cluster.availability.state === 'Unknown' && held.every(({ reported }) => !reported)) {
    return { ...of('Pending', cluster.availability.message), waitsFor: 'connection' }
  }
  if (given.length === 0) {
    const { removing = 0 } = cluster
    if (removing > 0) return of('Progressing', `Removing ${plural(removing, 'bundle')}.`)
    if (held.length === 0) return of('NotSelected', NONE_REACHES)
    const wait = `${plural(held.length, 'bundle is', 'bundles are')} placed on the cluster; no Rollout has admitted it yet.`
    return { ...of('Pending', wait), waitsFor: 'rollout' }
  }
  const first = FIRST_LOOK.find((state) => counts[state] > 0)
  if (!first) return of('Ready', readySentence(given.length))
  const words = BUNDLE_STATES.filter((state) => counts[state] > 0).map((state) => `${counts[state]} ${state}`)
  const at = states.findIndex((state, index) => state === first && messageOf(given[index]!) !== undefined)
  const message = at < 0 ? '' : ` ${messageOf(given[at]!)}`
  return of(first, `Of ${plural(given.length, 'bundle')}: ${words.join(', ')}.${message}`)
}

function stateOfHeld({ assigned, reported, problem }: HeldBundle): BundleStateName {
  if (problem !== undefined) return 'Failed'
  return reported && sameRevision(reported, assigned) ? runningState(reported) : 'Progressing'
}

function messageOf({ reported, problem }: HeldBundle): string | undefined {
  return problem === undefined ? reported?.message : `Not rendered for this cluster: ${problem}`
}

function readySentence(bundles: number): string {
  return bundles === 1 ? 'The only bundle is Ready.' : `All ${bundles} bundles are Ready.`
}
