import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfigurationPolicy } from './configuration-policy.ts'
import type { RelatedObject } from './configuration-policy.ts'
import { evaluatePolicy } from './evaluate-policy.ts'
import type { PolicyResult } from './evaluate-policy.ts'
import { copyOf, deepEqual, goValue, sprint, textAt } from './go-value.ts'
import type { GoObject } from './go-value.ts'
import { ClusterRefusal } from './policy-ports.ts'
import type { PolicyCluster, PolicyNamespace, PolicyTools } from './policy-ports.ts'
import { labelsOf } from './select-labels.ts'

const TOOLS: PolicyTools = {
  resolve: (value) => ({ value, skips: false, readsSecrets: false }),
  resolveText: () => ({ error: 'no templates here', skips: false }),
  readYaml: (text) => ({ value: goValue(JSON.parse(text)) }),
  message: (template) => (template === 'bad' ? { error: 'it is bad' } : { text: template }),
}

interface Fixture {
  readonly objects: Map<string, GoObject>
  readonly calls: string[]
  readonly cluster: PolicyCluster
}

const KINDS: Record<string, boolean> = { ConfigMap: true, Role: true, Namespace: false, Secret: true }

/** A cluster of objects in memory; `refuse` stands for rules of the API. */
function fixture(
  given: readonly object[],
  refuse?: (call: string, object: GoObject) => ClusterRefusal | undefined,
): Fixture {
  const keyOf = (object: GoObject): string =>
    `${textAt(object, 'kind')} ${textAt(object, 'metadata', 'namespace')}/${textAt(object, 'metadata', 'name')}`
  const objects = new Map(given.map((one) => goValue(one) as GoObject).map((one) => [keyOf(one), one]))
  const calls: string[] = []
  let uids = 0
  const write = (call: string, object: GoObject): GoObject => {
    const refusal = refuse?.(call, object)
    if (refusal) throw refusal
    const stored = copyOf(object)
    if (call === 'create') (stored['metadata'] as GoObject)['uid'] = `new-${++uids}`
    if (call !== 'dry run') {
      calls.push(`${call} ${keyOf(object)}`)
      objects.set(keyOf(object), stored)
    }
    return stored
  }
  const namespaces: readonly PolicyNamespace[] = [
    { name: 'a', labels: { env: 'prod' }, isTerminating: false },
    { name: 'b', labels: {}, isTerminating: false },
    { name: 'gone', labels: {}, isTerminating: true },
  ]
  const cluster: PolicyCluster = {
    resourceOf: (apiVersion, kind) =>
      kind in KINDS ? { apiVersion, kind, resource: `${kind.toLowerCase()}s`, namespaced: KINDS[kind]! } : undefined,
    get: ({ kind }, namespace, name) => objects.get(`${kind} ${namespace}/${name}`),
    list: ({ kind }, namespace, matches) =>
      [...objects.values()].filter(
        (one) =>
          textAt(one, 'kind') === kind &&
          (namespace === '' || textAt(one, 'metadata', 'namespace') === namespace) &&
          matches(labelsOf(one)),
      ),
    namespaces: () => namespaces,
    dryRunUpdate: (_, object) => write('dry run', object),
    update: (_, object) => write('update', object),
    create: (_, object) => write('create', object),
    delete: ({ kind }, namespace, name) => {
      calls.push(`delete ${kind} ${namespace}/${name}`)
      return objects.delete(`${kind} ${namespace}/${name}`)
    },
  }
  return { objects, calls, cluster }
}

interface Case {
  readonly spec?: object
  readonly template?: object
  readonly definition: object
  readonly before?: readonly RelatedObject[]
  readonly deleted?: boolean
}

function evaluate({ cluster }: Fixture, { spec, template, definition, before, deleted }: Case): PolicyResult {
  const object = goValue({
    metadata: { name: 'p', ...(deleted && { deletionTimestamp: 'now' }) },
    spec: {
      remediationAction: 'inform',
      'object-templates': [{ complianceType: 'musthave', ...template, objectDefinition: definition }],
      ...spec,
    },
  }) as GoObject
  const policy = readConfigurationPolicy(object)
  return evaluatePolicy({ policy, cluster, tools: TOOLS, time: 'T', ...(before && { before }) })
}

const map = (name: string, rest: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'a', uid: `uid-${name}`, ...metadata },
  ...rest,
})
const wanted = (name: string, rest: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'a' },
  ...rest,
})

test('inform tells and changes nothing', () => {
  const world = fixture([map('x', { data: { k: '1' } })])
  const same = evaluate(world, { definition: wanted('x', { data: { k: '1' } }) })
  assert.equal(same.messages[0], 'Compliant; notification - configmaps [x] found as specified in namespace a')
  const other = evaluate(world, { definition: wanted('x', { data: { k: '2' } }), template: { recordDiff: 'InStatus' } })
  assert.equal(other.status.compliant, 'NonCompliant')
  assert.match(other.status.relatedObjects![0]!.properties!.diff!, /-  k: "1"\n\+  k: "2"/)
  const absent = evaluate(world, { definition: wanted('y') })
  assert.equal(absent.messages[0], 'NonCompliant; violation - configmaps [y] not found in namespace a')
  assert.deepEqual(world.calls, [])
})

test('enforce creates, updates and deletes, and tells both states', () => {
  const world = fixture([map('x', { data: { k: '1', other: 'o' } })])
  const spec = { remediationAction: 'Enforce' }
  const created = evaluate(world, { spec, definition: wanted('y', { data: { k: 'v' } }) })
  assert.deepEqual(created.messages, [
    'NonCompliant; violation - configmaps [y] not found in namespace a',
    'Compliant; notification - configmaps [y] was created successfully in namespace a',
  ])
  assert.deepEqual(created.status.relatedObjects![0]!.properties, { createdByPolicy: true, uid: 'new-1' })
  const updated = evaluate(world, { spec, definition: wanted('x', { data: { k: '2' } }) })
  assert.equal(updated.messages[1], 'Compliant; notification - configmaps [x] was updated successfully in namespace a')
  assert.deepEqual(world.objects.get('ConfigMap a/x')!['data'], { k: '2', other: 'o' })
  evaluate(world, { spec, template: { complianceType: 'mustnothave' }, definition: wanted('y') })
  assert.deepEqual(world.calls, ['create ConfigMap a/y', 'update ConfigMap a/x', 'delete ConfigMap a/y'])
})

test('informonly never enforces', () => {
  const world = fixture([])
  assert.equal(
    evaluate(world, { spec: { remediationAction: 'InformOnly' }, definition: wanted('x') }).status.compliant,
    'NonCompliant',
  )
  assert.deepEqual(world.calls, [])
})

test('mustonlyhave takes away what the template does not name', () => {
  const world = fixture([map('x', { data: { k: '1', other: 'o' }, binaryData: {} })])
  const template = { complianceType: 'mustonlyhave' }
  evaluate(world, { spec: { remediationAction: 'enforce' }, template, definition: wanted('x', { data: { k: '1' } }) })
  const stored = world.objects.get('ConfigMap a/x')!
  assert.deepEqual(stored['data'], { k: '1' })
  assert.equal('binaryData' in stored, false)
})

test('an object that cannot be updated is recreated only if the policy says so', () => {
  const refuse = (call: string) => (call === 'dry run' ? new ClusterRefusal('Invalid', 'immutable') : undefined)
  const definition = wanted('x', { data: { k: '2' } })
  const spec = { remediationAction: 'enforce' }
  const world = fixture([map('x', { data: { k: '1' } })], refuse)
  const kept = evaluate(world, { spec, definition })
  assert.match(kept.messages.at(-1)!, /cannot be updated, likely due to immutable fields not matching/)
  assert.deepEqual(world.calls, [])
  evaluate(world, { spec, template: { recreateOption: 'IfRequired' }, definition })
  assert.deepEqual(world.calls, ['delete ConfigMap a/x', 'create ConfigMap a/x'])
})

test('a refused write is a violation and an error to try again', () => {
  const world = fixture([], (call) => (call === 'create' ? new ClusterRefusal('Other', 'quota') : undefined))
  const result = evaluate(world, { spec: { remediationAction: 'enforce' }, definition: wanted('x') })
  assert.deepEqual(result.errors, ['quota'])
  assert.match(
    result.messages.at(-1)!,
    /configmaps \[x\] in namespace a is missing, and cannot be created, reason: `quota`/,
  )
})

const created = (name: string, uid: string): RelatedObject => ({
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'a' } },
  compliant: 'Compliant',
  properties: { createdByPolicy: true, uid },
})

test('objects that are not wanted any more are pruned as the policy says', () => {
  const before = [created('own', 'uid-own'), created('other', 'uid-of-another'), created('x', 'uid-x')]
  for (const [pruneObjectBehavior, remediationAction, deleted] of [
    ['DeleteIfCreated', 'enforce', ['own']],
    ['DeleteAll', 'enforce', ['own', 'other']],
    ['None', 'enforce', []],
    ['DeleteAll', 'inform', []],
  ] as const) {
    const world = fixture([map('own'), map('other'), map('x')])
    const result = evaluate(world, {
      spec: { pruneObjectBehavior, remediationAction },
      definition: wanted('x'),
      before,
    })
    assert.deepEqual(
      world.calls,
      deleted.map((name) => `delete ConfigMap a/${name}`),
      pruneObjectBehavior,
    )
    assert.deepEqual(result.status.relatedObjects![0]!.properties, { createdByPolicy: true, uid: 'uid-x' })
  }
})

test('nothing is pruned while it is not known what is wanted', () => {
  const world = fixture([map('own')])
  const spec = { pruneObjectBehavior: 'DeleteAll', remediationAction: 'enforce' }
  const definition = { apiVersion: 'v1', kind: 'Nope', metadata: { name: 'n' } }
  const result = evaluate(world, { spec, definition, before: [created('own', 'uid-own')] })
  assert.match(result.errors[0]!, /couldn't find mapping resource with kind Nope/)
  assert.deepEqual(world.calls, [])
})

test('a deleted policy removes its objects and reports nothing', () => {
  const world = fixture([map('own')])
  const spec = { pruneObjectBehavior: 'DeleteIfCreated', remediationAction: 'enforce' }
  const result = evaluate(world, {
    spec,
    definition: wanted('own'),
    before: [created('own', 'uid-own')],
    deleted: true,
  })
  assert.deepEqual(world.calls, ['delete ConfigMap a/own'])
  assert.deepEqual(result, { status: {}, messages: [], errors: [] })
})

test('a namespace selector chooses, and a bad pattern is an error', () => {
  const definition = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }
  const world = fixture([map('x')])
  const run = (namespaceSelector: object): string | undefined => {
    const result = evaluate(world, { spec: { namespaceSelector }, definition })
    return result.errors[0] ?? result.messages[0]
  }
  assert.match(run({ include: ['*'] })!, /\[x\] not found in namespace b$/)
  assert.match(run({ matchLabels: { env: 'prod' } })!, /^Compliant/)
  assert.match(run({ include: ['*'], exclude: ['a', 'b'] })!, /has no namespace specified/)
  assert.match(run({})!, /has no namespace specified/)
  assert.match(run({ include: ['gone'], terminatingInclusion: 'IfMatch' })!, /not found in namespace gone/)
  assert.equal(run({ include: ['['] }), "error parsing 'include' pattern '[': syntax error in pattern")
})

test('custom messages and intervals', () => {
  const world = fixture([])
  const messageOf = (spec: object): string => evaluate(world, { spec, definition: wanted('x') }).messages[0]!
  assert.equal(messageOf({ customMessage: { noncompliant: 'call ops' } }), 'NonCompliant; call ops')
  assert.match(
    messageOf({ customMessage: { noncompliant: 'bad' } }),
    /\(failure processing the custom message: it is bad\)$/,
  )
  assert.match(messageOf({ evaluationInterval: { noncompliant: 'never' } }), /will not be evaluated again/)
  assert.match(messageOf({ customMessage: { noncompliant: 'y'.repeat(5000) } }), /^.{4082}\.\.\.\[truncated\]$/)
})

test('policies that cannot be evaluated say why', () => {
  const world = fixture([])
  assert.match(
    evaluate(world, { spec: { remediationAction: '' }, definition: wanted('x') }).messages[0]!,
    /RemediationAction/,
  )
  assert.match(
    evaluate(world, { definition: wanted('x', { data: { k: '{{hub 1 hub}}' } }) }).errors[0]!,
    /hub-templating/,
  )
  assert.match(
    evaluate(world, { definition: { kind: 'ConfigMap' } }).messages[0]!,
    /kind and apiVersion fields are required/,
  )
  const raw = evaluate(world, { spec: { 'object-templates-raw': '{}' }, definition: {} })
  assert.match(raw.messages[0]!, /cannot unmarshal object into Go value/)
  assert.match(
    evaluate(world, { spec: { 'object-templates-raw': '[]' }, definition: {} }).messages[0]!,
    /no object templates/,
  )
})

test('Go prints integers and floats apart', () => {
  const value = goValue({ b: 1_234_567, a: [0.5, null, true], c: 1e30 })
  assert.equal(sprint(value), 'map[a:[0.5 <nil> true] b:1234567 c:1e+30]')
  assert.ok(deepEqual(value, copyOf(value)))
  assert.equal(deepEqual(goValue({ a: 1 }), { a: 1 }), false)
})
