// Tested by src/hub/view/view.contract.test.ts
/** Which rows a change of what they are made from may have touched; never too few, sometimes too many. */
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Delivery, deliveryEntryName } from '../../kinds/native/delivery.ts'
import { GROUP } from '../../kinds/define-kind.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Release } from '../../kinds/native/release.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { Window } from '../../kinds/native/window.ts'
import type { RowFilter } from './row-source.ts'

/** The kinds that rows are made from. */
export const ROW_INPUTS = [
  Assignment,
  Bundle,
  Cluster,
  ClusterReport,
  ClusterWindow,
  Delivery,
  Placement,
  PlacementDecision,
  Release,
  Rollout,
  Window,
] as const

/** The prefix of the keys of all of them. */
export const INPUTS_PREFIX = `/${GROUP}/`

const OF_ONE_CLUSTER: ReadonlySet<string> = new Set([Assignment, Cluster, ClusterReport].map(({ plural }) => plural))
const OF_ONE_NAMESPACE: ReadonlySet<string> = new Set(
  [Placement, PlacementDecision, Release, Rollout, Window].map(({ plural }) => plural),
)

/** What changed since it was last taken. */
export interface AffectedRows {
  /** Notes a change by its key; false when no row is made from it. */
  note(key: string): boolean
  /** Anything may have: time has passed, and windows open and close. */
  noteAll(): void
  /** The rows to look at again, or undefined for all, and forgets them. */
  take(): RowFilter | undefined
}

/** Begins with nothing touched. */
export function createAffectedRows(): AffectedRows {
  let all = false
  let bundles = new Set<string>()
  let namespaces = new Set<string>()
  let clusters = new Set<string>()
  return {
    note(key) {
      const [plural = '', first = '', second = ''] = key.slice(INPUTS_PREFIX.length).split('/')
      if (OF_ONE_CLUSTER.has(plural)) clusters.add(first)
      else if (OF_ONE_NAMESPACE.has(plural)) namespaces.add(first)
      else if (plural === Bundle.plural) bundles.add(`${first}/${second}`)
      else if (plural === Delivery.plural) bundles.add(`${first}/${deliveryEntryName(second)}`)
      else if (plural === ClusterWindow.plural) all = true
      else return false
      return true
    },
    noteAll: () => {
      all = true
    },
    take() {
      const taken = { all, bundles, namespaces, clusters }
      all = false
      bundles = new Set()
      namespaces = new Set()
      clusters = new Set()
      if (taken.all) return undefined
      return {
        bundle: (key) => taken.bundles.has(key) || taken.namespaces.has(key.slice(0, key.indexOf('/'))),
        clusters: taken.clusters,
      }
    },
  }
}
