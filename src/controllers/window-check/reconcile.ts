import { Stalled } from '../../core/errors.ts'
import type { Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import type { Window } from '../../kinds/native/window.ts'
import { windowObjectProblem } from '../../plan/windows/window-rules.ts'

/** Writes into a window's status whether its times can be parsed. */
export function windowCheckReconciler<T extends Window | ClusterWindow>(): Reconciler<T> {
  return {
    name: 'window-check',
    async reconcile({ next, conditions }: Draft<T>): Promise<Result> {
      const problem = windowObjectProblem(next)
      if (problem !== undefined) {
        throw new Stalled('Misconfigured', `${sentence(problem)} Until it is corrected nothing begins where it is for.`)
      }
      const { mode, zone } = next.spec
      const times = zone === undefined ? "the clusters' own time zones" : zone
      const what = mode === 'Freeze' ? 'Nothing begins within its times' : 'Content begins only within its times'
      conditions.set('Ready', 'True', 'Valid', `${what}, in ${times}.`)
      return {}
    },
  }
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1).replace(/\.?$/, '.')}`
}
