import { findCondition } from '../../core/conditions.ts'
import type { ConditionSet } from '../../engine/reconciler.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'

/**
 * Sets a Bundle's conditions from the Rollout of its newest Release. While the Rollout progresses, the message stays
 * the same: a Bundle that repeated the counts would be written with each report.
 */
export function setRolloutCondition(conditions: ConditionSet, release: string, rollout: Rollout | undefined): void {
  const phase = rollout?.status?.phase
  const words = findCondition(rollout?.status?.conditions, 'Ready')?.message
  const reverted = conditions.get('Reverted')
  switch (phase) {
    case 'Completed':
      // The clusters are well with earlier content, and the content that the spec asks for is not rolled out.
      if (reverted?.status === 'True') {
        conditions.set('Ready', 'False', 'HeldBack', reverted.message)
        return
      }
      conditions.set('Ready', 'True', 'RolledOut', words ?? `Release ${release} is rolled out.`)
      return
    case 'Failed':
      conditions.set('Ready', 'False', 'RolloutFailed', words ?? `Rollout ${release} failed.`)
      conditions.set('Stalled', 'True', 'RolloutFailed', `Rollout ${release} stopped; a person must look at it.`)
      return
    case 'Aborted':
      conditions.set(
        'Ready',
        'False',
        'RolloutAborted',
        `Rollout ${release} was aborted; edit the Bundle to release anew.`,
      )
      return
    case 'Paused':
      conditions.set(
        'Ready',
        'False',
        'RolloutPaused',
        `Rollout ${release} is paused; \`flotilla rollout resume ${release}\` lets it go on.`,
      )
      return
    case 'Superseded':
    case 'Progressing':
    case 'Pending':
    case undefined:
      conditions.set('Ready', 'False', 'RollingOut', `Release ${release} is on its way; see rollout ${release}.`)
      conditions.set('Reconciling', 'True', 'RollingOut', `Release ${release} is on its way.`)
  }
}
