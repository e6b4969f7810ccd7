import type { JsonObject } from '../../core/json.ts'
import { itemsAt, mapAt, textAt } from '../../kinds/builtin/read-path.ts'
import { addAmounts, maxAmounts, NO_AMOUNTS, readAmounts } from './amounts.ts'
import type { Amounts } from './amounts.ts'

/** What a pod requests, or is limited to, as a whole. */

/** Which of both. */
export type RequestsOrLimits = 'requests' | 'limits'

/** What counts besides what the spec says of containers. */
export interface PodAmountOptions {
  /** What the containers have been given, while a resize is under way. */
  readonly given: boolean
  /** What running a pod costs whatever is in it. */
  readonly overhead: boolean
}

/**
 * Containers run together, init containers in turn before them; sidecars, which go on running, count with all
 * that come later.
 */
export function podAmounts(pod: JsonObject, side: RequestsOrLimits, { given, overhead }: PodAmountOptions): Amounts {
  const ofContainer = (container: JsonObject) => (given ? effective(pod, container, side) : said(container, side))
  let together = NO_AMOUNTS
  for (const container of itemsAt(pod, 'spec.containers')) together = addAmounts(together, ofContainer(container))
  let stayed = NO_AMOUNTS
  let before = NO_AMOUNTS
  for (const container of itemsAt(pod, 'spec.initContainers')) {
    if (container['restartPolicy'] === 'Always') {
      const amounts = ofContainer(container)
      together = addAmounts(together, amounts)
      stayed = addAmounts(stayed, amounts)
      before = maxAmounts(before, stayed)
    } else before = maxAmounts(before, addAmounts(said(container, side), stayed))
  }
  const total = new Map(maxAmounts(together, before))
  for (const [name, amount] of readAmounts(mapAt(pod, `spec.resources.${side}`))) {
    if (isPodLevelResource(name)) total.set(name, amount)
  }
  return overhead ? withOverhead(total, readAmounts(mapAt(pod, 'spec.overhead')), side) : total
}

function said(container: JsonObject, side: RequestsOrLimits): Amounts {
  return readAmounts(mapAt(container, `resources.${side}`))
}

function withOverhead(total: Amounts, overhead: Amounts, side: RequestsOrLimits): Amounts {
  if (side === 'requests') return addAmounts(total, overhead)
  // What has no limit is not limited by what it costs to run it.
  const limited = [...overhead].filter(([name]) => (total.get(name)?.nano ?? 0n) !== 0n)
  return addAmounts(total, new Map(limited))
}

/** A container that is to grow or shrink has the larger until it is done. */
function effective(pod: JsonObject, container: JsonObject, side: RequestsOrLimits): Amounts {
  const statuses = [...itemsAt(pod, 'status.containerStatuses'), ...itemsAt(pod, 'status.initContainerStatuses')]
  const status = statuses.find(({ name }) => name === container['name'])
  const wanted = said(container, side)
  if (status?.['resources'] === undefined) return wanted
  const actual = said(status, side)
  const allocated = side === 'requests' ? readAmounts(mapAt(status, 'allocatedResources')) : NO_AMOUNTS
  const has = maxAmounts(actual, allocated)
  return isResizeInfeasible(pod) ? has : maxAmounts(wanted, has)
}

function isResizeInfeasible(pod: JsonObject): boolean {
  const pending = itemsAt(pod, 'status.conditions').find(({ type }) => type === 'PodResizePending')
  return pending !== undefined && textAt(pending, 'reason') === 'Infeasible'
}

/** Whether a resource can be said for a pod as a whole. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')
}
