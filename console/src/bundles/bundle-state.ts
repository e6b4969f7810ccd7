/** The state of a Bundle as a whole. */
import { findCondition } from '../../../src/core/conditions.ts'
import type { Bundle } from '../../../src/kinds/native/bundle.ts'

/** A Bundle on its way has not failed; only one that stands still until a person looks at it has. */
export function stateOfBundle({ status }: Bundle): string {
  const of = (wanted: string) => findCondition(status?.conditions, wanted)
  const ready = of('Ready')
  if (of('Unplaced')?.status === 'True') return 'NotSelected'
  if (ready?.status === 'True') return 'Ready'
  if (of('Stalled')?.status === 'True') return 'Failed'
  if (ready?.reason === 'RolloutPaused') return 'Paused'
  if (ready?.reason === 'RolloutAborted') return 'Aborted'
  if (ready?.reason === 'HeldBack') return 'HeldBack'
  return ready?.status === 'False' ? 'Progressing' : 'Pending'
}
