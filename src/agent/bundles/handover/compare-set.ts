// Tested by src/agent/bundles/handover/compare-set.contract.test.ts
/**
 * Compares the objects of a bundle with the objects in the cluster, by dry runs of the writes that would take them
 * over. Nothing is written, so the peer may still run.
 */
import { inParallel } from '../../../core/async/in-parallel.ts'
import { comparisonMessage } from '../../../plan/handover/comparison.ts'
import type { OperationDecision } from '../../../plan/apply/operation.ts'
import { isWithPeer } from '../../../plan/handover/handover-rule.ts'
import type { HandoverRule } from '../../../plan/handover/handover-rule.ts'
import { describeDifference, differences } from '../../../plan/objects/differences.ts'
import { describeObject } from '../../../plan/objects/object-id.ts'
import type { Applier } from '../../cluster/applier.ts'
import { ObjectFailure } from '../../cluster/object-failure.ts'
import type { Content } from '../../documents/content.ts'
import { objectToWrite } from '../../documents/set-plan.ts'
import type { PlannedObject, SetPlan } from '../../documents/set-plan.ts'
import { OBSERVE_INTERVAL_MS } from '../../timing.ts'
import type { BundleRun, StepResult } from '../bundle-run.ts'

const AT_ONCE = 8
const FIELDS_SHOWN = 10

/** What a comparison needs besides the bundle. */
export interface CompareContext {
  readonly applier: Applier
  readonly content: Content
  readonly rule: HandoverRule
  readonly signal: AbortSignal
}

/** Compares a bundle; the row is Pending and has the result. */
export async function compareSet(run: BundleRun, plan: SetPlan, context: CompareContext): Promise<StepResult> {
  const found = new Map<string, string>()
  await inParallel(plan.objects, AT_ONCE, async (planned) => {
    const difference = await differenceOf(run, planned, context).catch((caught: unknown) => {
      if (!(caught instanceof ObjectFailure)) throw caught
      return caught.message
    })
    if (difference !== undefined) found.set(planned.key, difference)
  })
  const inOrder = plan.objects.flatMap(({ key }) => found.get(key) ?? [])
  const message = comparisonMessage(context.rule.from, { objects: plan.objects.length, differences: inOrder })
  return { row: { state: 'Pending', message }, nextStepMs: OBSERVE_INTERVAL_MS.polled }
}

/** How an object differs from what the bundle would write; undefined when it does not. */
async function differenceOf(
  run: BundleRun,
  planned: PlannedObject,
  { applier, content, signal }: CompareContext,
): Promise<string | undefined> {
  await applier.check(run.entry.bundle, planned, signal)
  const live = await applier.get(planned, signal)
  const name = describeObject(planned)
  if (!live) return planned.options.method === 'ReadOnly' ? undefined : `${name}: does not exist`
  if (planned.options.method === 'ReadOnly' || planned.options.method === 'CreateOnly') return undefined
  const object = await objectToWrite(planned, content, signal)
  const options = { ...planned.options, force: true }
  const ownership = { kind: 'Adopt', onlyIfSame: false } as const
  const { bundle } = run.entry
  const wanted = await applier.write({ bundle, object, options, ownership, live, dryRun: true }, signal)
  const all = differences(live, wanted).map((one) => describeDifference(live, one, run.manager))
  if (all.length === 0) return undefined
  const more = all.length > FIELDS_SHOWN ? ` and ${all.length - FIELDS_SHOWN} more` : ''
  return `${name}: ${all.slice(0, FIELDS_SHOWN).join(', ')}${more}`
}

/** A bundle that gave objects back takes them over as it did the first time, and does not resume. */
export function afterGiveBack({ inventory, handover }: BundleRun, decision: OperationDecision): OperationDecision {
  const begins = decision.kind === 'Resume' || decision.kind === 'Begin'
  const takesAgain = handover?.step === 'Take' && inventory?.operation?.isGivenBack === true
  return begins && takesAgain ? { kind: 'Begin', operation: 'Install' } : decision
}

/** The plan of a bundle that takes over what another system runs: its hooks have run there, and do not run again. */
export function planOfTakeover(run: BundleRun, plan: SetPlan): SetPlan {
  if (!run.handover || isWithPeer(run.handover) || run.inventory?.operation?.kind !== 'Install') return plan
  const takes = [...run.records.values()].some(({ adopted }) => adopted === true)
  return takes && plan.hooks.length > 0 ? { ...plan, hooks: [] } : plan
}
