import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ManagedFieldsEntry, UnknownObject } from '../../kinds/meta.ts'
import { describeDifference, differences } from './differences.ts'
import { ownersAt, ownedFieldPaths, ownedFieldsFingerprint, withOwnershipTransferred } from './managed-fields.ts'
import { objectOptions, waveTimeoutMs } from './object-options.ts'

const object = (annotations: Record<string, string> = {}, more: object = {}): UnknownObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', annotations },
  ...more,
})
const optionsOf = (...given: Parameters<typeof objectOptions>) => {
  const read = objectOptions(...given)
  assert.ok(read.ok, read.ok ? '' : read.problem)
  return read.options
}

describe('options of an object', () => {
  it('are defaults, then the bundle, then its annotations', () => {
    assert.deepEqual(optionsOf({}, object()), {
      wave: 0,
      method: 'ServerSideApply',
      force: false,
      immutable: 'Fail',
      takeover: 'Always',
      ignore: [],
      drift: 'Correct',
    })
    const bundle = {
      apply: { method: 'Replace', force: true, immutable: 'Recreate', takeover: 'Never', timeout: '1m' },
    } as const
    assert.equal(optionsOf(bundle, object()).method, 'Replace')
    const own = {
      'flotilla.dev/wave': '-3',
      'flotilla.dev/apply': 'CreateOnly',
      'flotilla.dev/force': 'false',
      'flotilla.dev/immutable': 'Fail',
      'flotilla.dev/takeover': 'IfNoDiff',
      'flotilla.dev/prune': 'Confirm',
      'flotilla.dev/delete': 'Orphan',
      'flotilla.dev/drift': 'Report',
      'flotilla.dev/ignore': '/spec/replicas, .spec.template.metadata.labels',
    }
    const { ignore, ...rest } = optionsOf(bundle, object(own))
    assert.deepEqual(rest, {
      wave: -3,
      method: 'CreateOnly',
      force: false,
      immutable: 'Fail',
      takeover: 'IfNoDiff',
      prune: 'Confirm',
      delete: 'Orphan',
      drift: 'Report',
    })
    assert.equal(ignore.length, 2)
    assert.equal(waveTimeoutMs(bundle), 60_000)
    assert.equal(waveTimeoutMs({}), 300_000)
  })

  const wrong: [string, string, RegExp][] = [
    ['wave', '1.5', /Deployment shop\/web: annotation flotilla.dev\/wave is "1.5"; write a whole number/],
    ['apply', 'Patch', /write one of ServerSideApply, Replace, CreateOnly, ReadOnly/],
    ['prune', 'false', /write one of Always, Never, Last, Confirm/],
    ['ignore', 'spec.replicas', /neither a pointer such as \/spec\/replicas nor a path/],
    ['ignore', '/kind', /neither a pointer/],
  ]
  for (const [name, value, expected] of wrong) {
    it(`refuse ${name}: ${value}`, () => {
      const read = objectOptions({}, object({ [`flotilla.dev/${name}`]: value }))
      assert.match(read.ok ? '' : read.problem, expected)
    })
  }
})

const containers = (image: string, extra: object[] = []) => ({
  template: { spec: { containers: [...extra, { name: 'web', image }] } },
})
const fieldsOf = (...fields: object[]) => Object.assign({}, ...fields) as Record<string, unknown>
const live: UnknownObject = object(
  {},
  { spec: { replicas: 7, paused: false, ...containers('web:9', [{ name: 'sidecar', image: 'proxy:1' }]) } },
)
live.metadata.managedFields = [
  {
    manager: 'flotilla:shop/app',
    operation: 'Apply',
    apiVersion: 'apps/v1',
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:spec': fieldsOf(
        { 'f:paused': {} },
        {
          'f:template': {
            'f:spec': { 'f:containers': { 'k:{"name":"web"}': { '.': {}, 'f:image': {}, 'f:name': {} } } },
          },
        },
      ),
    },
  },
  {
    manager: 'autoscaler',
    operation: 'Update',
    apiVersion: 'apps/v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    subresource: 'scale',
  },
]

describe('managed fields', () => {
  it('say who owns a place, also inside keyed lists', () => {
    const owners = (...place: (string | number)[]) => ownersAt(live, place).map(({ manager }) => manager)
    assert.deepEqual(owners('spec', 'replicas'), ['autoscaler'])
    assert.deepEqual(owners('spec', 'template', 'spec', 'containers', 1, 'image'), ['flotilla:shop/app'])
    assert.deepEqual(owners('spec', 'template', 'spec', 'containers', 0, 'image'), [])
    assert.deepEqual(ownedFieldPaths(live.metadata.managedFields![1]!.fieldsV1, live), [['spec', 'replicas']])
  })

  it('have a share that changes with the fields, not with times or other managers', () => {
    const share = ownedFieldsFingerprint(live, 'flotilla:shop/app')
    const [mine, other] = live.metadata.managedFields!
    const changed = (managedFields: NonNullable<typeof live.metadata.managedFields>) =>
      ownedFieldsFingerprint({ ...live, metadata: { ...live.metadata, managedFields } }, 'flotilla:shop/app')
    assert.equal(changed([{ ...mine!, time: '2026-01-01T00:00:00Z' }]), share)
    assert.equal(changed([other!, mine!]), share)
    assert.notEqual(changed([{ ...mine!, fieldsV1: { 'f:spec': {} } }]), share)
    assert.equal(changed([other!]), '')
  })
})

describe('fields that are taken over', () => {
  const entry = (manager: string, data: object, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
    manager,
    operation: 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': data },
    ...more,
  })
  const taken = (...managedFields: ManagedFieldsEntry[]) => {
    const found = withOwnershipTransferred(
      { ...live, metadata: { ...live.metadata, managedFields } },
      'us',
      (manager) => manager === 'helm',
    )
    return (
      found && [
        found.isOwnMerged,
        ...found.managedFields.map(({ manager, fieldsV1 }) => [manager, fieldsV1?.['f:data']]),
      ]
    )
  }
  const [a, b] = [{ 'f:a': {} }, { 'f:b': {} }]

  it('are taken from those who may lose them, as far as they are in both', () => {
    assert.deepEqual(taken(entry('us', a), entry('helm', { ...a, ...b })), [false, ['us', a], ['helm', b]])
    assert.deepEqual(taken(entry('us', a), entry('helm', a)), [false, ['us', a]])
    assert.equal(taken(entry('us', a), entry('helm', b)), undefined)
    assert.equal(taken(entry('us', a), entry('person', a)), undefined)
    assert.equal(taken(entry('us', a), entry('helm', a, { subresource: 'scale' })), undefined)
    assert.equal(taken(entry('us', { 'f:list': a }), entry('helm', { 'f:list': {} })), undefined, 'one value stays one')
    assert.equal(taken(entry('helm', a)), undefined, 'nothing was applied')
  })

  it('are also what was written in another way', () => {
    assert.deepEqual(taken(entry('us', a), entry('us', b, { operation: 'Update' })), [true, ['us', { ...a, ...b }]])
  })
})

describe('differences', () => {
  it('are fields, with who has them now; what the server keeps is none', () => {
    const wanted = structuredClone(live)
    wanted.metadata.resourceVersion = '99'
    wanted['status'] = { x: 1 }
    assert.deepEqual(differences(live, wanted), [])
    ;(wanted['spec'] as { replicas: number }).replicas = 2
    const [only, ...more] = differences(live, wanted)
    assert.equal(more.length, 0)
    assert.equal(describeDifference(live, only!, 'flotilla:shop/app'), '.spec.replicas (changed by autoscaler)')
  })
})
