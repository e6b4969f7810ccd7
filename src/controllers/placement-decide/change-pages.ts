import { keyOf } from '../../kinds/meta.ts'
import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { PAGE_SIZE } from '../../plan/placement/decisions/paginate.ts'
import { selectedReason } from '../../plan/placement/explain.ts'
import { firstRejection, judgeClusterTaints } from '../../plan/placement/filter.ts'
import { isIncumbent } from './placement-cache.ts'
import type { CachedPlacement } from './placement-cache.ts'
import type { PlacementDecidePorts } from './ports.ts'

/** Pages to write because a few clusters changed, the clusters that were selected, and the number of dropped ones. */
export interface ChangedPages {
  readonly pages: readonly PlacementDecision[]
  readonly gained: readonly string[]
  readonly lost: number
}

/**
 * Applies the changed clusters to their pages. Undefined when the pages differ from the cache, when a newly selected
 * cluster needs a new page, or when a dropped cluster still has content: then the Placement is decided from the whole
 * fleet.
 */
export function changePages(
  placement: Placement,
  pages: readonly PlacementDecision[],
  from: { readonly book: CachedPlacement; readonly ports: PlacementDecidePorts; readonly now: number },
): ChangedPages | undefined {
  const { book, ports, now } = from
  if (pages.length !== book.pages || pages.some(({ spec }) => spec.placementGeneration !== book.generation)) {
    return undefined
  }
  const order = [...pages].sort((a, b) => a.spec.page - b.spec.page)
  const changed = new Map<number, PlacementDecision['spec']['decisions']>()
  const decisionsOf = (page: PlacementDecision) => changed.get(page.spec.page) ?? page.spec.decisions
  const reason = selectedReason(book.filter)
  const gained: string[] = []
  let lost = 0
  for (const name of [...book.changedClusters].sort(compareText)) {
    const cluster = ports.clusterOf(name)
    const page = ports.pageWith(keyOf(placement), name)
    const at = { now, incumbent: isIncumbent(page, name) }
    const isSelected = cluster !== undefined && !firstRejection(book.filter, cluster, at)
    // A toleration with an end changes the time of the next pass; a cluster that is Evicting has a history.
    if (isSelected && judgeClusterTaints(book.filter, cluster, at).until !== undefined) return undefined
    if (page && !at.incumbent) return undefined
    if (isSelected === (page !== undefined)) continue
    if (page) {
      if (ports.holds(placement, name)) return undefined
      changed.set(
        page.spec.page,
        decisionsOf(page).filter((decision) => decision.cluster !== name),
      )
      lost++
      continue
    }
    const free = order.find((one) => decisionsOf(one).length < PAGE_SIZE)
    if (!free) return undefined
    // Pages are sorted by cluster.
    const present = decisionsOf(free)
    const next = present.findIndex((decision) => compareText(decision.cluster, name) > 0)
    const place = next === -1 ? present.length : next
    changed.set(free.spec.page, present.toSpliced(place, 0, { cluster: name, reason, state: 'Selected' }))
    gained.push(name)
  }
  return {
    pages: order.flatMap((page) => {
      const decisions = changed.get(page.spec.page)
      return decisions ? [{ ...page, spec: { ...page.spec, decisions } }] : []
    }),
    gained,
    lost,
  }
}
