/** The status of a ManifestWork in Open Cluster Management's words, from what was delivered and the agent's report. */
import type { BundleOptions } from '../../../kinds/fields/bundle-options.ts'
import type { Condition } from '../../../kinds/meta.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import type { ManifestStatus } from './kinds.ts'
import type { ManifestId } from './resources.ts'
import { objectKey } from '../../../plan/objects/object-id.ts'

/** A condition without its times. */
export type WorkCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

/** The status of a manifest, with conditions that have no times yet. */
export interface ShownManifest extends Omit<ManifestStatus, 'conditions'> {
  readonly conditions: readonly WorkCondition[]
}

/** What a ManifestWork shows. */
export interface WorkStatus {
  readonly conditions: readonly WorkCondition[]
  readonly manifests: readonly ShownManifest[]
}

type Feedback = NonNullable<ClusterReport['spec']['feedback']>[number]
type ObjectFeedback = Feedback['objects'][number]
type RuleCondition = NonNullable<ObjectFeedback['conditions']>[number]

/** Facts about the delivered work. */
export interface WorkFacts {
  readonly ids: readonly ManifestId[]
  /** Whether a manifest has feedback rules. */
  readonly hasFeedback: (id: ManifestId) => boolean
  /** The entry of the work in documents and reports. */
  readonly entry: string | undefined
  /** The content that the status is about. */
  readonly revision: { readonly generation: number; readonly set: string } | undefined
  readonly report: ClusterReport | undefined
  /** Why the work does not reach its cluster; absent while it does. */
  readonly notAdmitted?: WorkCondition | undefined
  /** Parts of the work that have no effect. */
  readonly findings?: readonly string[]
}

/** The condition about fields without effect; absent where there is none. */
export function findingsCondition(findings: readonly string[] = []): WorkCondition | undefined {
  if (findings.length === 0) return undefined
  const message = `No effect: ${findings.join('; ')}.`.slice(0, 4096)
  return { type: 'FieldsHonored', status: 'False', reason: 'FieldsIgnored', message }
}

const AVAILABLE = ['False', 'Unknown', 'True'] as const
const PROGRESSING = ['True', 'Unknown', 'False'] as const

/** The status of a work; manifests that the agent has not reported have no conditions. */
export function workStatus(facts: WorkFacts): WorkStatus {
  const { ids, hasFeedback, entry, revision, report, notAdmitted, findings } = facts
  const row = report?.spec.bundles.find(({ bundle, set }) => bundle === entry && set === revision?.set)
  const feedback = report?.spec.feedback?.find(
    ({ bundle, generation }) => bundle === entry && generation === revision?.generation,
  )
  // A work that fails as a whole, for example because its executor is refused, has no failure of a single manifest.
  const hasFailure = (feedback?.objects ?? []).some(({ applied }) => applied === false)
  const failed = row?.state === 'Failed' && !hasFailure ? (row.message ?? 'the work cannot be applied') : undefined
  const reported = new Map((feedback?.objects ?? []).map((one) => [objectKey(one), one]))
  const manifests = ids.map((id, ordinal): ShownManifest => {
    const observed = reported.get(keyOfId(id))
    const values = observed?.values?.map(({ name, type, value }) => ({ name, fieldValue: fieldValue(type, value) }))
    return {
      resourceMeta: { ordinal, ...id },
      conditions: manifestConditions(observed, failed, hasFeedback(id)),
      ...(values ? { statusFeedback: { values } } : { statusFeedback: {} }),
    }
  })
  const own = [notAdmitted, findingsCondition(findings)].filter((one) => one !== undefined)
  return { conditions: [...workConditions(manifests), ...own], manifests }
}

/** Whether feedback rules select a manifest. */
export function feedbackAsked({ feedback = [] }: BundleOptions): (id: ManifestId) => boolean {
  const asked = new Set(feedback.map(({ group, kind, namespace, name }) => `${group}/${kind}/${namespace}/${name}`))
  return (id) => asked.has(keyOfId(id))
}

function keyOfId({ group, kind, namespace, name }: ManifestId): string {
  return `${group}/${kind}/${namespace}/${name}`
}

function fieldValue(type: NonNullable<ObjectFeedback['values']>[number]['type'], value: string) {
  if (type === 'Integer') return { type, integer: Number(value) }
  if (type === 'Boolean') return { type, boolean: value === 'true' }
  return type === 'String' ? { type, string: value } : { type, jsonRaw: value }
}

function manifestConditions(
  observed: ObjectFeedback | undefined,
  failed: string | undefined,
  hasFeedback: boolean,
): WorkCondition[] {
  const applied = appliedOf(observed, failed)
  if (!applied) return []
  return [
    applied,
    ...availableOf(observed),
    ...(observed?.conditions ?? []).map(ruleCondition),
    ...feedbackCondition(observed, hasFeedback),
  ]
}

function ruleCondition({ type, met, reason, message = '' }: RuleCondition): WorkCondition {
  return { type, status: met ? 'True' : 'False', reason, message }
}

function appliedOf(observed: ObjectFeedback | undefined, workFailure: string | undefined): WorkCondition | undefined {
  if (observed?.applied === true) {
    return { type: 'Applied', status: 'True', reason: 'AppliedManifestComplete', message: 'Apply manifest complete' }
  }
  const failed = (message: string): WorkCondition => ({
    type: 'Applied',
    status: 'False',
    reason: 'AppliedManifestFailed',
    message: `Failed to apply manifest: ${message}`.slice(0, 4096),
  })
  if (observed?.applied === false) return failed(observed.message ?? '')
  return workFailure === undefined ? undefined : failed(workFailure)
}

function availableOf(observed: ObjectFeedback | undefined): WorkCondition[] {
  if (observed?.available === undefined) {
    const message = 'The agent has not reported the resource.'
    return [{ type: 'Available', status: 'Unknown', reason: 'FetchingResourceFailed', message }]
  }
  return observed.available
    ? [{ type: 'Available', status: 'True', reason: 'ResourceAvailable', message: 'Resource is available' }]
    : [{ type: 'Available', status: 'False', reason: 'ResourceNotAvailable', message: 'Resource is not available' }]
}

function feedbackCondition(observed: ObjectFeedback | undefined, hasFeedback: boolean): WorkCondition[] {
  const type = 'StatusFeedbackSynced'
  if (!hasFeedback) return [{ type, status: 'True', reason: 'NoStatusFeedbackSynced', message: '' }]
  if (!observed) return [{ type, status: 'False', reason: 'NotReported', message: 'The values are not reported.' }]
  return observed.missing === undefined
    ? [{ type, status: 'True', reason: 'StatusFeedbackSynced', message: '' }]
    : [
        {
          type,
          status: 'False',
          reason: 'StatusFeedbackSyncFailed',
          message: `Sync status feedback failed with error: no value for ${observed.missing}`,
        },
      ]
}

function workConditions(manifests: readonly ShownManifest[]): WorkCondition[] {
  const of = (type: string) => manifests.map(({ conditions }) => conditions.find((one) => one.type === type)?.status)
  const applied = of('Applied')
  const available = of('Available')
  const conditions: WorkCondition[] = []
  if (applied.includes('False')) {
    const message = 'Failed to apply manifest work'
    conditions.push({ type: 'Applied', status: 'False', reason: 'AppliedManifestWorkFailed', message })
  } else if (applied.length > 0 && applied.every((status) => status === 'True')) {
    const message = 'Apply manifest work complete'
    conditions.push({ type: 'Applied', status: 'True', reason: 'AppliedManifestWorkComplete', message })
  }
  if (applied.some(Boolean)) conditions.push(availability(available))
  const ruled = new Set(manifests.flatMap(({ conditions: own }) => own.map(({ type }) => type)))
  for (const type of ruled) {
    if (['Applied', 'Available', 'StatusFeedbackSynced'].includes(type)) continue
    conditions.push(aggregated(type, manifests))
  }
  return conditions
}

function availability(statuses: readonly (string | undefined)[]): WorkCondition {
  const count = (wanted: string) => statuses.filter((status) => (status ?? 'Unknown') === wanted).length
  const type = 'Available'
  const all = statuses.length
  if (count('False') > 0) {
    const message = `${count('False')} of ${all} resources are not available`
    return { type, status: 'False', reason: 'ResourcesNotAvailable', message }
  }
  if (count('Unknown') > 0) {
    const message = `${count('Unknown')} of ${all} resources have unknown status`
    return { type, status: 'Unknown', reason: 'ResourcesStatusUnknown', message }
  }
  return { type, status: 'True', reason: 'ResourcesAvailable', message: 'All resources are available' }
}

function aggregated(type: string, manifests: readonly ShownManifest[]): WorkCondition {
  const own = manifests.flatMap(({ conditions }) => conditions.filter((one) => one.type === type))
  const order: readonly string[] = type === 'Progressing' ? PROGRESSING : AVAILABLE
  const [worst] = own.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status))
  const message =
    own.length === 1
      ? worst!.message
      : `${own.filter(({ status }) => status === worst!.status).length} of ${own.length} resources: ${worst!.message}`
  return { type, status: worst!.status, reason: 'ConditionRulesAggregated', message: message.slice(0, 4096) }
}
