/** State and message of the removal of a bundle from a cluster, for rows, explanations and lists. */
import { plural } from '../../core/text/name-some.ts'
import type { Availability } from '../fleet/availability.ts'
import type { StateOnCluster, Revision } from '../fleet/state.ts'

/** Facts about a bundle that is being removed, or was removed, from a cluster. */
export interface RemovalFactsOnCluster {
  readonly availability: Pick<Availability, 'state' | 'message'>
  /** The bundle's revision in the cluster's document. */
  readonly assigned?: Revision
  /** Its tombstone in the cluster's document. */
  readonly buried?: { readonly generation: number }
  /** The agent's report about the removal. */
  readonly removal?: {
    readonly generation: number
    readonly state: 'Removing' | 'Failed' | 'Removed' | 'Orphaned'
    readonly message?: string | undefined
    readonly deleted?: number | undefined
    readonly left?: readonly string[] | undefined
    readonly leftTotal?: number | undefined
  }
  /** The Rollout that is to remove it. */
  readonly removedBy?: string
}

/** The state of a bundle on a cluster that is being removed, or was; undefined: there is no removal. */
export function removalState(facts: RemovalFactsOnCluster): StateOnCluster | undefined {
  const { availability, assigned, buried, removal, removedBy } = facts
  if (buried) {
    const said = removal && removal.generation >= buried.generation ? removal : undefined
    if (said?.state === 'Removed' || said?.state === 'Orphaned') {
      return { state: 'Progressing', message: `${receiptMessage(said)} The hub is about to store the receipt.` }
    }
    const progress = said?.message === undefined ? 'waiting for confirmation by the agent' : said.message
    if (availability.state === 'Offline') {
      return {
        state: 'Offline',
        message: `${availability.message} The removal of generation ${buried.generation} is queued.`,
      }
    }
    const state = said?.state === 'Failed' ? 'Failed' : 'Progressing'
    return { state, message: `Removing generation ${buried.generation}: ${progress}.` }
  }
  if (assigned) {
    if (removedBy === undefined) return undefined
    return {
      state: 'Pending',
      waitsFor: 'ring',
      message: `Waits for its turn: rollout ${removedBy} removes the bundle.`,
    }
  }
  if (removal?.state !== 'Removed' && removal?.state !== 'Orphaned') return undefined
  return { state: 'NotSelected', message: receiptMessage(removal) }
}

/** The result of a removal in one sentence. */
function receiptMessage({
  state,
  deleted = 0,
  left = [],
  leftTotal = left.length,
}: NonNullable<RemovalFactsOnCluster['removal']>): string {
  const objects = (count: number) => plural(count, 'object')
  const kept = leftTotal === 0 ? '' : `, ${objects(leftTotal)} left in place: ${someOf(left, leftTotal)}`
  return `${state === 'Orphaned' ? 'Orphaned' : 'Removed'}: ${objects(deleted)} deleted${kept}.`
}

function someOf(left: readonly string[], total: number): string {
  const shown = left.slice(0, 3).join('; ')
  return total > Math.min(left.length, 3) ? `${shown} and ${total - Math.min(left.length, 3)} more` : shown
}
