/** Compiles a HelmOp to Sources, Placement, RolloutPlan and Bundle, and writes their state into its status. */
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import { Stalled } from '../../../core/errors.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import { keyOf } from '../../../kinds/meta.ts'
import { findingText } from '../../read-fields.ts'
import type { Finding } from '../../read-fields.ts'
import { compileHelmOp } from '../compile-helm-op.ts'
import { helmOpObjects } from '../compile/desired-objects.ts'
import type { HelmOp } from '../kinds.ts'
import { summaryOf, summaryText, worstOf } from '../status/states.ts'
import { unreachedText } from '../status/unreached.ts'
import { prune, writeObjects } from './made-objects.ts'
import { selectionOf } from './ports.ts'
import type { GitRepoPorts } from './ports.ts'
import { bindChartSecret } from './secrets.ts'

const KEPT = 'Nothing that is delivered is taken away.'
const MAX_FINDINGS = 100

/** Writes the objects of a HelmOp. */
export function helmOpReconciler(ports: GitRepoPorts): Reconciler<HelmOp> {
  return {
    name: 'fleet-helm-op',
    async reconcile(draft: Draft<HelmOp>, context: Context): Promise<Result> {
      const op = draft.next
      if (op.metadata.deletionTimestamp) return {}
      const { namespace = '', name } = op.metadata
      const findings: Finding[] = []
      const bundle = compileHelmOp(op, ports.workspace(namespace), findings)
      showFindings(draft, findings)
      const wrong = findings.find(({ level }) => level === 'error')
      if (!bundle) throw stalled(draft, 'Refused', `${wrong ? findingText(wrong) : 'the chart is missing'}. ${KEPT}`)
      const desired = helmOpObjects(op, bundle)
      await bindChartSecret(op, desired, { ports, context })
      const [taken] = await writeObjects(op, desired, { ports, context })
      if (taken) throw stalled(draft, 'NameTaken', `${taken.message}. ${KEPT}`)
      const { again } = await prune(op, desired, { ports, context })
      const waitMs = ports.statusThrottle.waitMs(keyOf(op))
      if (waitMs > 0 && draft.seen.status?.display) return { requeueAfterMs: again ? 1000 : waitMs }
      ports.statusThrottle.note(keyOf(op))
      show(draft, { chart: bundle.charts[0]!.source, bundle: name }, ports)
      return again ? { requeueAfterMs: 1000 } : {}
    },
  }
}

function stalled({ next }: Draft<HelmOp>, reason: string, message: string): Stalled {
  const status = (next.status ??= {})
  status.display = { ...status.display, state: 'ErrApplied', message, error: true }
  return new Stalled(reason, message)
}

function showFindings({ next, conditions }: Draft<HelmOp>, findings: readonly Finding[]): void {
  const status = (next.status ??= {})
  const texts = findings.slice(0, MAX_FINDINGS).map((one) => findingText(one).slice(0, 2048))
  if (texts.length === 0) delete status.findings
  else status.findings = texts
  if (texts.length === 0) conditions.set('Exact', 'True', 'AllHasEffect', 'Everything that is said has its effect.')
  else conditions.set('Exact', 'False', 'NotAllHasEffect', `${texts.join('; ')}.`.slice(0, 4096))
}

function show(
  { next, conditions }: Draft<HelmOp>,
  names: { readonly chart: string; readonly bundle: string },
  ports: GitRepoPorts,
): void {
  const { namespace = '' } = next.metadata
  const source = ports.sourceOf(namespace, names.chart)
  const fetched = findCondition(source?.status?.conditions, 'Ready')
  const bundle = ports.bundleOf(namespace, names.bundle)
  const summary = summaryOf(bundle && ports.countsOf(bundle))
  const rendered = findCondition(bundle?.status?.conditions, 'Rendered')
  const problem = [fetched, rendered].find((one) => one?.status === 'False')?.message
  const waiting = summaryText(summary, bundle && ports.firstsOf(bundle))
  const unreached = summary.desiredReady === 0 ? unreachedText('HelmOp', next, selectionOf(next, ports)) : ''
  const state = problem === undefined ? worstOf(summary) : 'ErrApplied'
  const message = problem ?? (waiting === '' ? unreached : waiting)
  const status = (next.status ??= {})
  const revision = source?.status?.artifact?.revision
  if (revision === undefined) delete status.version
  else status.version = revision.split('@')[0]!.slice(0, 256)
  status.summary = summary
  status.display = compact({
    readyBundleDeployments: `${summary.ready}/${summary.desiredReady}`,
    state,
    message: message === '' ? undefined : message,
    error: problem === undefined ? undefined : true,
  })
  const isReady = message === ''
  const reason = state === 'Ready' ? 'NotReady' : state
  conditions.set('Ready', isReady ? 'True' : 'False', isReady ? 'Ready' : reason, message)
}
