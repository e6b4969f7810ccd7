/** The state of a Placement as a whole. */
import { findCondition } from '../../../src/core/conditions.ts'
import type { Placement } from '../../../src/kinds/native/placement.ts'

/** Held by its guard, selecting no cluster, ready, or failed with a message. */
export function stateOfPlacement({ status }: Placement): string {
  const ready = findCondition(status?.conditions, 'Ready')
  if (status?.held) return 'Held'
  if (findCondition(status?.conditions, 'Empty')?.status === 'True') return 'NotSelected'
  if (ready?.status === 'True') return 'Ready'
  return ready?.status === 'False' ? 'Failed' : 'Pending'
}
