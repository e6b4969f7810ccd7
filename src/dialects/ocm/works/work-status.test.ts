import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../../core/crypto/digest.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Delivery } from '../../../kinds/native/delivery.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { workStatus } from './work-status.ts'

const set = digestOf('set')
const id = (name: string) => ({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespace: 'shop',
  name,
})
const IDS = [id('a'), id('b')]
const delivery = build(Delivery, 'store-1/web', {
  spec: { set, clusters: ['store-1'] },
  status: { revision: { generation: 2, set } },
})
const BUNDLE = 'store-1/delivery:web'
type Spec = ClusterReport['spec']
type Observed = NonNullable<Spec['feedback']>[number]['objects'][number]

function shown(observed: Partial<Observed>[] | undefined, row: Partial<Spec['bundles'][number]> = {}, generation = 2) {
  const objects = observed?.map((one, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: 'shop',
    name: IDS[index]!.name,
    ...one,
  }))
  const report = build(ClusterReport, 'store-1', {
    spec: {
      clusterId: 'c-1',
      epoch: 1,
      revision: 1,
      receivedAt: '2026-11-18T12:00:00Z',
      bundles: [{ bundle: BUNDLE, generation: 2, set, state: 'Ready', ...row }],
      ...(objects ? { feedback: [{ bundle: BUNDLE, generation, objects }] } : {}),
    },
  })
  return workStatus({
    ids: IDS,
    hasFeedback: ({ name }) => name === 'a',
    entry: BUNDLE,
    revision: delivery.status?.revision,
    report,
  })
}
const words = (conditions: readonly { type: string; status: string; reason: string; message: string }[]) =>
  conditions.map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`)
const FINE = { applied: true, available: true }

test('applied and available is said when all are', () => {
  const { conditions, manifests } = shown([{ ...FINE, values: [{ name: 'n', type: 'Integer', value: '3' }] }, FINE])
  assert.deepEqual(words(conditions), [
    'Applied True AppliedManifestWorkComplete: Apply manifest work complete',
    'Available True ResourcesAvailable: All resources are available',
  ])
  assert.match(words(manifests[0]!.conditions).join(), /StatusFeedbackSynced True StatusFeedbackSynced/)
  assert.match(words(manifests[1]!.conditions).join(), /StatusFeedbackSynced True NoStatusFeedbackSynced/)
  assert.deepEqual(manifests[0]!.statusFeedback?.values, [{ name: 'n', fieldValue: { type: 'Integer', integer: 3 } }])
})

test('the error of one manifest is its own, word for word; the others are applied', () => {
  const row = { state: 'Failed', message: 'ConfigMap shop/b: it is invalid' } as const
  const { conditions, manifests } = shown([FINE, { applied: false, available: false, message: 'it is invalid' }], row)
  assert.match(
    words(manifests[1]!.conditions)[0]!,
    /^Applied False AppliedManifestFailed: Failed to apply manifest: it is invalid$/,
  )
  assert.match(words(manifests[0]!.conditions)[0]!, /^Applied True AppliedManifestComplete/)
  assert.deepEqual(words(conditions), [
    'Applied False AppliedManifestWorkFailed: Failed to apply manifest work',
    'Available False ResourcesNotAvailable: 1 of 2 resources are not available',
  ])
})

test('a manifest that waits for another one says nothing; a work that fails as a whole says why', () => {
  const row = { state: 'Failed', message: 'executor ops/runner is not allowed' } as const
  const waiting = shown([{}, { applied: false, message: 'it is invalid' }], row)
  assert.deepEqual(words(waiting.manifests[0]!.conditions), [])
  const whole = shown([{}, {}], row)
  assert.match(
    words(whole.manifests[0]!.conditions)[0]!,
    /Failed to apply manifest: executor ops\/runner is not allowed$/,
  )
})

test('nothing is claimed of what is not reported, of another generation, or before the agent has tried', () => {
  for (const { conditions, manifests } of [shown(undefined), shown([FINE, FINE], {}, 1), shown([{}, {}])]) {
    assert.deepEqual(conditions, [])
    assert.deepEqual(
      manifests.map((one) => one.conditions),
      [[], []],
    )
  }
  const part = shown([FINE])
  assert.deepEqual(words(part.conditions), [
    'Available Unknown ResourcesStatusUnknown: 1 of 2 resources have unknown status',
  ])
})

test('missing values are a failed sync; rule conditions are taken together, the worst first', () => {
  const rule = (met: boolean, message: string) => ({
    type: 'Complete',
    met,
    reason: 'ConditionRuleEvaluated',
    message,
  })
  const { conditions, manifests } = shown([
    { ...FINE, missing: 'n', conditions: [rule(true, 'done')] },
    { ...FINE, conditions: [rule(false, 'runs')] },
  ])
  assert.match(
    words(manifests[0]!.conditions).join(),
    /StatusFeedbackSynced False StatusFeedbackSyncFailed: .*no value for n/,
  )
  assert.ok(words(conditions).includes('Complete False ConditionRulesAggregated: 1 of 2 resources: runs'))
})

test('a work that is not admitted is shown with its reason', () => {
  const notAdmitted = { type: 'Admitted', status: 'False', reason: 'ClusterFull', message: 'full' } as const
  const facts = { ids: IDS, hasFeedback: () => false, entry: BUNDLE, revision: undefined, report: undefined }
  const { conditions } = workStatus({ ...facts, notAdmitted })
  assert.deepEqual(words(conditions), ['Admitted False ClusterFull: full'])
})

test('parts without effect are a condition of the work', () => {
  const facts = { ids: IDS, hasFeedback: () => false, entry: BUNDLE, revision: undefined, report: undefined }
  const { conditions } = workStatus({ ...facts, findings: ['a', 'b'] })
  assert.deepEqual(words(conditions), ['FieldsHonored False FieldsIgnored: No effect: a; b.'])
})
