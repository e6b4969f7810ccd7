/** How the removal of a bundle from a cluster is said, the same in rows, explanations and lists. */
import { plural } from '../../core/text/name-some.ts'
import type { Availability } from '../fleet/availability.ts'
import type { StateOnCluster, Revision } from '../fleet/state.ts'

/** What is known of a bundle that leaves, or left, a cluster. */
export interface RemovalFactsOnCluster {
  readonly availability: Pick<Availability, 'state' | 'message'>
  /** What the cluster's document has of it. */
  readonly assigned?: Revision
  /** Its tombstone in the cluster's document. */
  readonly buried?: { readonly generation: number }
  /** What the cluster's agent says about it. */
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

/** The state of a pair that is being removed, or was; undefined: nothing of it is a removal. */
export function removalState(facts: RemovalFactsOnCluster): StateOnCluster | undefined {
  const { availability, assigned, buried, removal, removedBy } = facts
  if (buried) {
    const said = removal && removal.generation >= buried.generation ? removal : undefined
    if (said?.state === 'Removed' || said?.state === 'Orphaned') {
      return { state: 'Progressing', message: `${receiptMessage(said)} Its document still says so.` }
    }
    const words = said?.message === undefined ? 'no receipt yet' : said.message
    if (availability.state === 'Offline') {
      return {
        state: 'Offline',
        message: `${availability.message} The removal of generation ${buried.generation} is queued.`,
      }
    }
    const state = said?.state === 'Failed' ? 'Failed' : 'Progressing'
    return { state, message: `Removing generation ${buried.generation}: ${words}.` }
  }
  if (assigned) {
    if (removedBy === undefined) return undefined
    return { state: 'Pending', waitsFor: 'ring', message: `Rollout ${removedBy} removes it when its turn comes.` }
  }
  if (removal?.state !== 'Removed' && removal?.state !== 'Orphaned') return undefined
  return { state: 'NotSelected', message: receiptMessage(removal) }
}

/** One sentence about what a removal did. */
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
