import type { ConditionSet } from '../../engine/reconciler.ts'
import { holdSentence } from '../../plan/rollout/holds.ts'
import type { RolloutDecision } from '../../plan/rollout/types.ts'

/** Shows a decision in a Rollout's conditions: Ready, Held, Superseded, and kstatus's Reconciling and Stalled. */
export function setRolloutConditions(
  conditions: ConditionSet,
  decision: RolloutDecision,
  leftBehind: readonly string[],
): void {
  const stays = leftBehind.length > 0 ? ` ${someOf(leftBehind)} no longer selected, and kept as it is.` : ''
  const message = `${decision.message}${stays}`
  switch (decision.kind) {
    case 'Complete':
      conditions.set('Ready', 'True', 'RolledOut', message)
      conditions.remove('Held')
      return
    case 'Open':
    case 'Pass':
      conditions.set('Ready', 'False', 'RingPassed', message)
      conditions.set('Reconciling', 'True', 'RingPassed', decision.message)
      conditions.remove('Held')
      return
    case 'Admit':
      conditions.set('Ready', 'False', 'Progressing', message)
      conditions.set('Reconciling', 'True', 'Progressing', decision.message)
      conditions.remove('Held')
      return
    case 'Wait':
      conditions.set('Ready', 'False', decision.hold.reason, message)
      conditions.set('Reconciling', 'True', decision.hold.reason, decision.message)
      conditions.set('Held', 'True', decision.hold.reason, holdSentence(decision.hold))
      return
    case 'Pause':
      conditions.set('Ready', 'False', decision.hold.reason, message)
      conditions.set('Held', 'True', decision.hold.reason, holdSentence(decision.hold))
      return
    case 'Fail':
      conditions.set('Ready', 'False', decision.hold.reason, message)
      conditions.set('Stalled', 'True', decision.hold.reason, decision.message)
      conditions.set('Held', 'True', decision.hold.reason, holdSentence(decision.hold))
      return
    case 'Supersede':
      // A completed Rollout stays completed; only the condition shows that it is superseded.
      if (decision.phase !== 'Completed') conditions.set('Ready', 'False', 'Superseded', message)
      conditions.set('Superseded', 'True', 'NewerRelease', decision.message)
      conditions.remove('Held')
  }
}

function someOf(clusters: readonly string[]): string {
  const shown = [...clusters].sort().slice(0, 3).join(', ')
  return clusters.length > 3
    ? `${shown} and ${clusters.length - 3} more are`
    : `${shown} ${clusters.length > 1 ? 'are' : 'is'}`
}
