/** Delivers Bundles of Fleet that people write, and shows the status of all others. */
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import { Stalled, Waiting } from '../../../core/errors.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import { keyOf } from '../../../kinds/meta.ts'
import { findingText } from '../../read-fields.ts'
import type { Finding } from '../../read-fields.ts'
import { compileWrittenBundle, madeByFleet } from '../compile-written-bundle.ts'
import { makerOf, writtenBundleObjects } from '../compile/desired-objects.ts'
import type { FleetBundle } from '../kinds.ts'
import { summaryOf, summaryText, worstOf } from '../status/states.ts'
import { unreachedText } from '../status/unreached.ts'
import { prune, writeObjects } from './made-objects.ts'
import { selectionOf } from './ports.ts'
import type { GitRepoPorts } from './ports.ts'

const KEPT = 'Nothing that is delivered is taken away.'
const MAX_FINDINGS = 100

export function fleetBundleReconciler(ports: GitRepoPorts): Reconciler<FleetBundle> {
  return {
    name: 'fleet-bundle',
    async reconcile(draft: Draft<FleetBundle>, context: Context): Promise<Result> {
      const { next: row } = draft
      const key = keyOf(row)
      if (row.metadata.deletionTimestamp) return {}
      const { namespace = '', name } = row.metadata
      const isWritten = makerOf(row) === undefined
      const again = isWritten && (await deliver(draft, ports, context)) ? { requeueAfterMs: 1000 } : undefined
      if (!isWritten && !ports.bundleOf(namespace, name))
        throw new Waiting('BundleNotFound', `There is no Bundle ${name} of flotilla.dev.`, 60_000)
      const waitMs = ports.statusThrottle.waitMs(key)
      if (waitMs > 0 && draft.seen.status?.display) return again ?? { requeueAfterMs: waitMs }
      ports.statusThrottle.note(key)
      show(draft, ports)
      return again ?? {}
    },
  }
}

/** Writes the objects of a Bundle that a person wrote; true if objects are still to be removed. */
async function deliver(draft: Draft<FleetBundle>, ports: GitRepoPorts, context: Context): Promise<boolean> {
  const { next: bundle } = draft
  const foreign = madeByFleet(bundle)
  if (foreign !== undefined) throw stalled(draft, 'MadeByFleet', foreign)
  const findings: Finding[] = []
  const written = compileWrittenBundle(bundle, ports.workspace(bundle.metadata.namespace ?? ''), findings)
  showFindings(draft, findings)
  const wrong = findings.find(({ level }) => level === 'error')
  if (!written) throw stalled(draft, 'Refused', `${wrong ? findingText(wrong) : 'spec has no content'}. ${KEPT}`)
  const desired = writtenBundleObjects(bundle, written)
  const [taken] = await writeObjects(bundle, desired, { ports, context })
  if (taken) throw stalled(draft, 'NameTaken', `${taken.message}. ${KEPT}`)
  return (await prune(bundle, desired, { ports, context })).again
}

function stalled({ next }: Draft<FleetBundle>, reason: string, message: string): Stalled {
  const status = (next.status ??= {})
  status.display = { ...status.display, state: 'ErrApplied', message, error: true }
  return new Stalled(reason, message)
}

function showFindings({ next, conditions }: Draft<FleetBundle>, findings: readonly Finding[]): void {
  const status = (next.status ??= {})
  const texts = findings.slice(0, MAX_FINDINGS).map((one) => findingText(one).slice(0, 2048))
  if (texts.length === 0) delete status.findings
  else status.findings = texts
  if (texts.length === 0) conditions.set('Exact', 'True', 'AllHasEffect', 'Everything that is said has its effect.')
  else conditions.set('Exact', 'False', 'NotAllHasEffect', `${texts.join('; ')}.`.slice(0, 4096))
}

function show({ conditions, next: row }: Draft<FleetBundle>, ports: GitRepoPorts): void {
  const { namespace = '', name } = row.metadata
  const bundle = ports.bundleOf(namespace, name)
  const isWritten = makerOf(row) === undefined
  const source = bundle?.spec.source && isWritten ? ports.sourceOf(namespace, bundle.spec.source.name) : undefined
  const fetched = findCondition(source?.status?.conditions, 'Ready')
  const rendered = findCondition(bundle?.status?.conditions, 'Rendered')
  const summary = summaryOf(bundle && ports.countsOf(bundle))
  const problem = [fetched, rendered].find((one) => one?.status === 'False')?.message
  const waiting = summaryText(summary, bundle && ports.firstsOf(bundle))
  const status = (row.status ??= {})
  const state = problem === undefined ? worstOf(summary) : 'ErrApplied'
  status.summary = summary
  status.display = compact({
    readyClusters: `${summary.ready}/${summary.desiredReady}`,
    state,
    message: isWritten ? (problem ?? (waiting || undefined)) : undefined,
    error: isWritten && problem !== undefined ? true : undefined,
  })
  const isReady = problem === undefined && waiting === ''
  const unreached = isWritten ? unreachedText('Bundle', row, selectionOf(row, ports)) : 'No cluster is reached yet.'
  const allReady = summary.desiredReady === 0 ? unreached : 'Ready on every cluster.'
  conditions.set('Ready', isReady ? 'True' : 'False', state, problem ?? (waiting === '' ? allReady : waiting))
}
