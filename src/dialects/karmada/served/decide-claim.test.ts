import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Template } from '../templates/template-kinds.ts'
import { bindingName, decideBinding, isIgnored, readPolicy } from './decide-claim.ts'
import type { ClaimFacts } from './decide-claim.ts'
import { PropagationPolicy } from './kinds.ts'
import type { ServedBinding, ServedPropagation } from './kinds.ts'
import { policiesInForce, propagationPolicyReconciler } from './policies.ts'
import { templateReconciler } from './template.ts'

const TEMPLATE: Template = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', uid: 'u-1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { replicas: 3 },
}

function policy(name: string, spec: object = {}, metadata: object = {}): ServedPropagation {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, creationTimestamp: '2026-02-01T00:00:00Z', ...metadata },
    spec: {
      resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }],
      placement: { clusterAffinity: { clusterNames: [name] } },
      ...spec,
    },
  }
}

function decide(policies: readonly ServedPropagation[], more: Partial<ClaimFacts> = {}): ServedBinding | undefined {
  return decideBinding({
    template: TEMPLATE,
    binding: undefined,
    ...policiesInForce(policies),
    overrides: [],
    ...more,
  })
}
const usedBy = (binding: ServedBinding | undefined) => binding?.spec.placement?.clusterAffinity?.clusterNames?.[0]

describe('the binding of a template', () => {
  test('has the policy with the highest priority, and the replicas of the template', () => {
    const binding = decide([policy('a'), policy('b', { priority: 2 })])
    assert.equal(usedBy(binding), 'b')
    assert.deepEqual(
      [binding?.metadata.name, binding?.spec.replicas, binding?.spec.resource.uid],
      ['web-deployment', 3, 'u-1'],
    )
    assert.equal(binding?.metadata.annotations?.['propagationpolicy.karmada.io/name'], 'b')
  })

  test('stays with its policy when another one comes, unless that one preempts', () => {
    const binding = decide([policy('a')])
    assert.equal(usedBy(decide([policy('a'), policy('b', { priority: 2 })], { binding })), 'a')
    const named = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }]
    const preempts = policy('b', { priority: 2, preemption: 'Always', resourceSelectors: named })
    assert.equal(usedBy(decide([policy('a'), preempts], { binding })), 'b')
  })

  test('stays without a claim when its policy is deleted, and goes to another policy that selects it', () => {
    const binding = decide([policy('a')])
    const left = decide([], { binding })
    assert.deepEqual([usedBy(left), left?.metadata.labels], ['a', {}])
    assert.equal(usedBy(decide([policy('b')], { binding: left })), 'b')
  })

  test('of a lazy policy follows the next change of the template only', () => {
    const lazy = policy('a', { activationPreference: 'Lazy' })
    assert.equal(decide([lazy]), undefined, 'the object was there before the policy')
    const template = { ...TEMPLATE, metadata: { ...TEMPLATE.metadata, creationTimestamp: '2026-03-01T00:00:00Z' } }
    const binding = decide([lazy], { template })
    assert.equal(usedBy(binding), 'a')
    const changed = policy('a', {
      activationPreference: 'Lazy',
      placement: { clusterAffinity: { clusterNames: ['z'] } },
    })
    assert.equal(usedBy(decide([changed], { template, binding })), 'a')
    const edited = { ...template, spec: { replicas: 4 } }
    assert.equal(usedBy(decide([changed], { template: edited, binding })), 'z')
  })

  test('waits for the overrides that its policy depends on', () => {
    const waiting = policy('a', { dependentOverrides: ['mirror'] })
    assert.equal(decide([waiting]), undefined)
    const overrides = [{ kind: 'OverridePolicy', metadata: { name: 'mirror', namespace: 'shop' } }]
    assert.equal(usedBy(decide([waiting], { overrides })), 'a')
  })

  test('of an object that workloads need has their clusters, and goes with the last of them', () => {
    const template: Template = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', namespace: 'shop', uid: 'u-2' },
    }
    const requiredBy = [{ namespace: 'shop', name: 'web-deployment', clusters: [{ name: 'a' }] }]
    const binding = decide([], { template, requiredBy })
    assert.deepEqual([binding?.spec.requiredBy, binding?.spec.placement], [requiredBy, undefined])
    assert.deepEqual(decide([], { template, binding, requiredBy })?.spec, binding?.spec)
    assert.equal(decide([], { template, binding, requiredBy: [] }), undefined)
    const selectors = [{ apiVersion: 'v1', kind: 'ConfigMap' }]
    const both = decide([policy('b', { resourceSelectors: selectors })], { template, binding, requiredBy })
    assert.deepEqual([usedBy(both), both?.spec.requiredBy], ['b', requiredBy])
  })
})

test('a deleted template whose policy has come to preserve it hands that on before its binding goes', async () => {
  const binding = decide([policy('a')])!
  const template = {
    ...TEMPLATE,
    metadata: {
      ...TEMPLATE.metadata,
      deletionTimestamp: '2026-03-01T00:00:00Z',
      finalizers: ['karmada.flotilla.dev/template'],
    },
  }
  let stored: ServedBinding | undefined = binding
  const steps: string[] = []
  const inForce = policiesInForce([policy('a', { preserveResourcesOnDeletion: true })])
  const { reconcile } = templateReconciler('t', {
    bindingOf: () => stored,
    factsOf: () => ({ ...inForce, overrides: [], requiredBy: [] }),
    createBinding: async () => void steps.push('create'),
    updateBinding: async (next) => {
      stored = next
      steps.push(`preserves ${next.spec.preserveResourcesOnDeletion}`)
    },
    deleteBinding: async () => void steps.push('delete'),
  })
  const draft = { next: template, seen: template } as never
  for (let pass = 0; pass < 2; pass++) await reconcile(draft, { signal: new AbortController().signal } as never)
  assert.deepEqual(steps, ['preserves true', 'delete'])
})

test('objects of the system, and those that each cluster makes itself, are never templates', () => {
  const of = (kind: string, name: string, namespace = 'shop', more: object = {}) =>
    isIgnored({ apiVersion: 'v1', kind, metadata: { name, namespace }, ...more })
  assert.deepEqual(
    [
      of('ConfigMap', 'kube-root-ca.crt'),
      of('ServiceAccount', 'default'),
      of('Secret', 's', 'flotilla-system'),
      of('Secret', 's', 'kube-system'),
      of('Secret', 's', 'shop', { type: 'kubernetes.io/service-account-token' }),
      of('Secret', 's'),
      of('ConfigMap', 'c'),
    ],
    [true, true, true, true, true, false, false],
  )
})

test('a policy that Karmada refuses, or that names another scheduler, has no effect', () => {
  const problem = (spec: object): string => {
    const read = readPolicy(policy('a', spec))
    return 'problem' in read ? read.problem : ''
  }
  assert.match(problem({ placement: { clusterAffinity: {}, clusterAffinities: [] } }), /clusterAffinit/)
  assert.match(problem({ schedulerName: 'mine' }), /spec\.schedulerName: only default-scheduler is served/)
  assert.equal(problem({}), '')
})

describe('a policy that is edited and not valid any more', () => {
  const lastValid = { generation: 3, spec: policy('a').spec as never, failBackAfter: '10m' }
  const wrong = { placement: { clusterAffinity: {}, clusterAffinities: [] } }

  test('acts as it was when it was valid, with its fail-back time', () => {
    const annotations = { 'karmada.flotilla.dev/fail-back-after': 'soon' }
    for (const edited of [policy('a', wrong), policy('a', {}, { annotations })]) {
      const binding = decide([{ ...edited, status: { lastValid } }])
      assert.equal(usedBy(binding), 'a')
      assert.equal(binding?.metadata.annotations?.['karmada.flotilla.dev/fail-back-after'], '10m')
    }
  })

  test('keeps what it claimed when it has not been seen valid, and no other policy takes it over', () => {
    const binding = decide([policy('a')])
    const template = { ...TEMPLATE, spec: { replicas: 7 } }
    const kept = decide([policy('a', wrong), policy('b')], { binding, template })
    assert.deepEqual([usedBy(kept), kept?.spec.replicas, kept?.metadata.labels], ['a', 7, binding?.metadata.labels])
    const deleted = policy('a', wrong, { deletionTimestamp: '2026-03-01T00:00:00Z' })
    assert.equal(usedBy(decide([deleted, policy('b')], { binding })), 'b')
  })

  test('says which generation stays in force', async () => {
    const said = async (status: ServedPropagation['status']) => {
      const conditions: string[] = []
      const seen = { ...policy('a', wrong, { generation: 4 }), ...(status && { status }) }
      const draft = {
        seen,
        next: { ...seen },
        conditions: { set: (...words: string[]) => void conditions.push(...words) },
      }
      await propagationPolicyReconciler(PropagationPolicy).reconcile(draft as never, {} as never)
      assert.deepEqual(draft.next.status, status, 'an invalid edit is not kept')
      return conditions
    }
    assert.match(
      (await said({ lastValid })).join(' '),
      /^Accepted False Invalid The policy is not valid, so generation 3 of it stays in force: /,
    )
    assert.match((await said(undefined)).join(' '), /^Accepted False Invalid The policy has no effect: /)
  })
})

test('the name of a binding is at most 253 characters long', () => {
  const [a, b] = ['a', 'b'].map((last) => bindingName({ kind: 'Deployment', name: `${'x'.repeat(250)}${last}` }))
  assert.ok(a!.length <= 253)
  assert.notEqual(a, b)
})
