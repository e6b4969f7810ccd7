/** The state of an object of a bundle on a cluster. API, CLI and console use this file. */
import { BUNDLE_STATES } from '../../kinds/fields/states.ts'
import type { BundleStateName, ObjectStateName } from '../../kinds/fields/states.ts'

/** An agent's report about a bundle, as the states of its objects read it. */
export interface ReportedObjects {
  readonly state: BundleStateName
  readonly message?: string | undefined
  readonly firstFailing?: string | undefined
  readonly objects?:
    | readonly { readonly object: string; readonly state: BundleStateName; readonly message?: string | undefined }[]
    | undefined
  /** Absent in reports of agents of version 0.1. */
  readonly objectCounts?: Readonly<Partial<Record<BundleStateName, number | undefined>>> | undefined
  readonly drift?: readonly { readonly object: string; readonly fields: readonly string[] }[] | undefined
}

/** The state of an object, with the agent's message about this object. */
export interface ObjectState {
  readonly state: ObjectStateName
  readonly message?: string
}

/** How many drifted objects a report names at most. */
const MAX_DRIFTS = 20

/**
 * The state of an object, named as in the report (`Deployment shop/web`).
 *
 * @param reported The agent's report about the set that has the object; undefined: it reported another set or nothing.
 */
export function objectState(label: string, reported: ReportedObjects | undefined, isOffline: boolean): ObjectState {
  const known = reported ? reportedState(label, reported) : notReported('The agent has not reported on this content.')
  if (!isOffline) return known
  const last = known.state === 'NotReported' ? 'Its state was not reported' : `Last reported ${known.state}`
  return { state: 'Offline', message: `${last}${known.message === undefined ? '.' : `: ${known.message}`}` }
}

function reportedState(label: string, reported: ReportedObjects): ObjectState {
  const own = reported.objects?.find(({ object }) => object === label)
  if (own) {
    const drift = own.state === 'Drifted' ? driftOf(label, reported) : undefined
    return { state: own.state, ...messageOf(drift ?? own.message) }
  }
  return reported.objectCounts ? countedState(reported) : stateByOldReport(label, reported)
}

/** The objects that the report does not name have one state where only one is left to count. */
function countedState({ objects = [], objectCounts = {}, state, message }: ReportedObjects): ObjectState {
  const left = BUNDLE_STATES.filter(
    (one) => (objectCounts[one] ?? 0) > objects.filter((named) => named.state === one).length,
  )
  const [only, ...others] = left
  if (only === undefined || others.length > 0) return notReported('The report has more objects than it names.')
  return { state: only, ...(only === 'Pending' && state === 'Pending' ? messageOf(message) : {}) }
}

/** Agents of version 0.1 name the first object that is not healthy, and the objects that drifted. */
function stateByOldReport(label: string, reported: ReportedObjects): ObjectState {
  if (reported.firstFailing === label) return { state: reported.state, ...messageOf(reported.message) }
  const drift = driftOf(label, reported)
  if (drift !== undefined) return { state: 'Drifted', message: drift }
  // A bundle is Ready when all its objects are; of a drifted bundle all that drifted are named.
  const isWell = reported.state === 'Drifted' && (reported.drift?.length ?? MAX_DRIFTS) < MAX_DRIFTS
  if (reported.state === 'Ready' || isWell) return { state: 'Ready' }
  return notReported('The agent does not report the state of this object.')
}

function driftOf(label: string, { drift }: ReportedObjects): string | undefined {
  return drift?.find(({ object }) => object === label)?.fields.join('; ')
}

function notReported(message: string): ObjectState {
  return { state: 'NotReported', message }
}

function messageOf(message: string | undefined): { readonly message?: string } {
  return message === undefined ? {} : { message }
}
