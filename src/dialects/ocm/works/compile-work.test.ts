import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileWork } from './compile-work.ts'
import type { ManifestWork } from './kinds.ts'

const object = (kind: string, name: string, apiVersion = 'v1', metadata: object = { namespace: 'shop' }) => ({
  apiVersion,
  kind,
  metadata: { name, ...metadata },
})
const DEPLOYMENT = object('Deployment', 'web', 'apps/v1')
const NAMESPACE = object('Namespace', 'shop', 'v1', {})

function compile(manifests: object[], spec: Partial<ManifestWork['spec']> = {}) {
  const read = compileWork({ spec: { workload: { manifests: manifests as never }, ...spec } })
  assert.ok(read.ok, read.ok ? '' : read.problem)
  return read.work
}
const problem = (manifests: object[]) => {
  const read = compileWork({ spec: { workload: { manifests: manifests as never } } })
  return read.ok ? '' : read.problem
}
const of = (kind: string, name: string, group = '') => ({ group, kind, namespace: 'shop', name })

describe('a ManifestWork compiles', () => {
  test('to its objects, without what only an API server may write', () => {
    const exported = {
      ...DEPLOYMENT,
      metadata: { ...DEPLOYMENT.metadata, uid: 'u', resourceVersion: '7' },
      status: { a: 1 },
    }
    const { objects, options, ids } = compile([exported])
    assert.deepEqual(objects, [DEPLOYMENT])
    assert.deepEqual(options, { apply: { method: 'ServerSideApply', force: true, onError: 'Continue' }, delete: {} })
    assert.equal(ids[0]?.resource, 'deployments')
  })

  test('not, when it is empty, or a manifest has no name, kind or version, or is there twice', () => {
    assert.match(problem([]), /should not be empty/)
    assert.match(problem([{ kind: 'A', metadata: { name: 'a' } }]), /manifests\[0\]: apiVersion must be set/)
    assert.match(problem([{ apiVersion: 'v1', metadata: { name: 'a' } }]), /kind must be set/)
    assert.match(problem([{ apiVersion: 'v1', kind: 'A' }]), /name must be set/)
    assert.match(
      problem([{ apiVersion: 'v1', kind: 'A', metadata: { generateName: 'a-' } }]),
      /instead of generateName/,
    )
    assert.match(problem([DEPLOYMENT, DEPLOYMENT]), /manifests\[1\]: duplicated manifest deployments shop\/web/)
  })

  test('with the strategy, values and conditions of the first configuration that has each', () => {
    const at = (name: string) => ({ group: 'apps', resource: 'deployments', namespace: 'shop', name })
    const { options, findings } = compile([DEPLOYMENT, object('ConfigMap', 'c')], {
      manifestConfigs: [
        { resourceIdentifier: at('other'), updateStrategy: { type: 'ReadOnly' } },
        { resourceIdentifier: at('w*'), feedbackRules: [{ type: 'WellKnownStatus' }] },
        {
          resourceIdentifier: at('web'),
          updateStrategy: {
            type: 'ServerSideApply',
            serverSideApply: {
              ignoreFields: [
                { condition: 'OnSpokePresent', jsonPointers: ['/spec/replicas'] },
                {
                  condition: 'OnSpokeChange',
                  jqPathExpressions: ['.spec.template.spec.containers[] | select(.name == "web") | .image', 'keys'],
                },
              ],
            },
          },
          feedbackRules: [{ type: 'JSONPaths', jsonPaths: [{ name: 'late', path: 'x' }] }],
          conditionRules: [{ type: 'CEL', condition: 'Progressing', celExpressions: ['true'] }],
        },
      ],
    })
    const web = of('Deployment', 'web', 'apps')
    assert.deepEqual(options.apply?.objects, [{ ...web, method: 'ServerSideApply', force: false }])
    assert.deepEqual(options.ignore, [
      { ...web, pointers: ['/spec/replicas'] },
      { ...web, paths: ['.spec.template.spec.containers[?(@.name=="web")].image'] },
    ])
    assert.deepEqual(
      options.feedback?.map(({ as, path }) => [as, path]),
      [
        ['ReadyReplicas', '.status.readyReplicas'],
        ['Replicas', '.status.replicas'],
        ['AvailableReplicas', '.status.availableReplicas'],
      ],
    )
    assert.deepEqual(options.conditions, [{ ...web, type: 'Progressing', expressions: ['true'] }])
    assert.match(
      findings.join(),
      /jqPathExpression "keys" of deployments web has no effect, because it is more than a path/,
    )
  })

  test('with its deletion: what it lists goes with it, what it orphans stays', () => {
    const kept = object('ConfigMap', 'keep')
    assert.deepEqual(compile([NAMESPACE, kept]).options.delete, {
      named: [{ group: '', kind: 'Namespace', namespace: '', name: 'shop' }],
    })
    const orphan = compile([kept], { deleteOption: { propagationPolicy: 'Orphan' } }).options.delete
    assert.deepEqual(orphan, { removed: 'Orphan', unplaced: 'Orphan', bundleDeleted: 'Orphan' })
    const rules = { orphaningRules: [{ resource: 'configmaps', namespace: 'shop', name: 'keep' }] }
    const some = compile([kept, object('ConfigMap', 'b')], {
      deleteOption: { propagationPolicy: 'SelectivelyOrphan', selectivelyOrphans: rules },
    })
    assert.deepEqual(some.options.delete, { orphan: [of('ConfigMap', 'keep')] })
  })

  test('with its executor and well-known conditions', () => {
    const job = object('Job', 'copy', 'batch/v1')
    const { options } = compile([job], {
      executor: { subject: { type: 'ServiceAccount', serviceAccount: { namespace: 'ops', name: 'runner' } } },
      manifestConfigs: [
        {
          resourceIdentifier: { group: 'batch', resource: 'jobs', namespace: '*', name: '*' },
          conditionRules: [{ type: 'WellKnownConditions' }],
        },
      ],
    })
    assert.deepEqual(options.executor, { namespace: 'ops', name: 'runner' })
    assert.equal(options.conditions?.[0]?.type, 'Complete')
  })
})
