/** The status of Fleet's Bundle. */
import { findCondition } from '../../../core/conditions.ts'
import { Waiting } from '../../../core/errors.ts'
import type { Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { FleetBundle } from '../kinds.ts'
import { summaryOf, summaryText, worstOf } from '../status/states.ts'
import type { GitRepoPorts } from './ports.ts'

/** Writes the status of a Bundle into Fleet's Bundle of the same name. */
export function fleetBundleReconciler(
  ports: Pick<GitRepoPorts, 'bundleOf' | 'countsOf' | 'statusThrottle'>,
): Reconciler<FleetBundle> {
  return {
    name: 'fleet-bundle-row',
    async reconcile(draft: Draft<FleetBundle>): Promise<Result> {
      const row = draft.next
      const key = keyOf(row)
      if (row.metadata.deletionTimestamp) return {}
      const { namespace = '', name } = row.metadata
      const bundle = ports.bundleOf(namespace, name)
      if (!bundle) throw new Waiting('BundleNotFound', `There is no Bundle ${name} of flotilla.dev.`, 60_000)
      const waitMs = ports.statusThrottle.waitMs(key)
      if (waitMs > 0 && draft.seen.status?.display) return { requeueAfterMs: waitMs }
      ports.statusThrottle.note(key)
      show(draft, bundle, ports)
      return {}
    },
  }
}

function show(
  { conditions, next: row }: Draft<FleetBundle>,
  bundle: Bundle,
  ports: Pick<GitRepoPorts, 'countsOf'>,
): void {
  const summary = summaryOf(ports.countsOf(bundle))
  const rendered = findCondition(bundle.status?.conditions, 'Rendered')
  const problem = rendered?.status === 'False' ? rendered.message : undefined
  const waiting = summaryText(summary)
  const status = (row.status ??= {})
  const state = problem === undefined ? worstOf(summary) : 'ErrApplied'
  status.summary = summary
  status.display = { readyClusters: `${summary.ready}/${summary.desiredReady}`, state }
  const isReady = problem === undefined && waiting === ''
  const allReady = summary.desiredReady === 0 ? 'No cluster is reached yet.' : 'Ready on every cluster.'
  conditions.set('Ready', isReady ? 'True' : 'False', state, problem ?? (waiting === '' ? allReady : waiting))
}
