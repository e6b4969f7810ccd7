import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { ManagedFieldsEntry, UnknownObject } from '../../kinds/meta.ts'
import { ignoreRulesFor, withLiveIgnored, withoutIgnored } from './ignored-fields.ts'

type Rules = NonNullable<BundleOptions['ignore']>

const OURS = 'flotilla:shop/app'
const WEB = 'k:{"name":"web"}'
const entry = (manager: string, spec: object, metadata?: object): ManagedFieldsEntry => ({
  manager,
  operation: manager === OURS ? 'Apply' : 'Update',
  apiVersion: 'apps/v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': spec, ...(metadata ? { 'f:metadata': metadata } : {}) },
})
const inContainers = (items: object) => ({ 'f:template': { 'f:spec': { 'f:containers': items } } })
const shop = (spec: object, annotations?: Record<string, string>): UnknownObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', ...(annotations ? { annotations } : {}) },
  spec,
})
const containers = (...list: readonly (readonly [string, string])[]) => ({
  template: { spec: { containers: list.map(([name, image]) => ({ name, image })) } },
})
const withManagers = (object: UnknownObject, ...managedFields: ManagedFieldsEntry[]): UnknownObject => ({
  ...object,
  metadata: { ...object.metadata, managedFields },
})

// A sidecar was put in front of our container, the autoscaler has the replicas, the updater has our image.
const desired = shop({ replicas: 2, paused: true, ...containers(['web', 'web:1']) }, { ours: '1' })
const live = withManagers(
  shop(
    { replicas: 7, paused: false, ...containers(['proxy', 'proxy:1'], ['web', 'web:9']) },
    { ours: 'old', theirs: '1' },
  ),
  entry(
    OURS,
    { 'f:paused': {}, ...inContainers({ [WEB]: { '.': {}, 'f:name': {} } }) },
    { 'f:annotations': { 'f:ours': {} } },
  ),
  entry('autoscaler', { 'f:replicas': {} }),
  entry('updater', inContainers({ [WEB]: { 'f:image': {} } })),
  entry('injector', inContainers({ 'k:{"name":"proxy"}': { '.': {}, 'f:name': {}, 'f:image': {} } }), {
    'f:annotations': { 'f:theirs': {} },
  }),
)

function rulesOf(rules: Rules, object: UnknownObject, annotation?: string) {
  const { apiVersion, kind, metadata } = object
  const read = ignoreRulesFor(rules, { apiVersion, kind, name: metadata.name }, annotation)
  if (!read.ok) throw new Error(read.problem)
  return read.rules
}
const sent = (rules: Rules, wanted = desired, there = live) =>
  withoutIgnored(wanted, there, { rules: rulesOf(rules, wanted), manager: OURS })
const specOf = (object: UnknownObject) => object['spec']
const web = (more: object) => ({ template: { spec: { containers: [{ name: 'web', ...more }] } } })

describe('an ignored field', () => {
  const plain = { replicas: 2, paused: true, ...web({ image: 'web:1' }) }
  const table: readonly (readonly [string, Rules, unknown])[] = [
    [
      'that another manager has is not sent',
      [{ pointers: ['/spec/replicas'] }],
      { paused: true, ...web({ image: 'web:1' }) },
    ],
    ['that no other manager has is sent as it is', [{ pointers: ['/spec/paused'] }], { ...plain, paused: false }],
    ['may be that of a manager', [{ managers: ['autoscaler'] }], { paused: true, ...web({ image: 'web:1' }) }],
    ['may be that of a manager inside a list', [{ managers: ['updater'] }], { ...plain, ...web({}) }],
    ['of a manager that has none is nothing', [{ managers: ['unknown'] }], plain],
    [
      'is found by an expression, in the item that is the same and not at the same place',
      [{ paths: ['.spec.template.spec.containers[?(@.name=="web")].image'] }],
      { ...plain, ...web({}) },
    ],
    [
      'is found by a pointer in the item that is the same',
      [{ pointers: ['/spec/template/spec/containers/0/image'] }],
      { ...plain, ...web({}) },
    ],
    ['is found in all items', [{ paths: ['.spec.template.spec.containers[*].image'] }], { ...plain, ...web({}) }],
    [
      'of a whole list leaves its items their keys',
      [{ pointers: ['/spec/template/spec/containers'] }],
      { ...plain, ...web({}) },
    ],
    ['of another object does not count', [{ kind: 'StatefulSet', pointers: ['/spec/replicas'] }], plain],
    [
      'is that of rules by name, too',
      [{ name: 'w*', pointers: ['/spec/replicas'] }],
      { paused: true, ...web({ image: 'web:1' }) },
    ],
  ]
  for (const [what, rules, expected] of table) {
    it(what, () => assert.deepEqual(specOf(sent(rules)), expected))
  }

  it('that is a map is left part by part: what is ours stays ours, with the value it has', () => {
    assert.deepEqual(sent([{ pointers: ['/metadata/annotations'] }]).metadata.annotations, { ours: 'old' })
    const theirs = withManagers(live, ...live.metadata.managedFields!.slice(1))
    const left = sent([{ pointers: ['/metadata/annotations'] }], desired, theirs)
    assert.deepEqual(left.metadata.annotations, { ours: 'old' }, 'a manager that has nothing of it takes nothing')
  })

  it('that the set does not name any more stays as it is', () => {
    const less = shop({ replicas: 2, ...containers(['web', 'web:1']) }, { ours: '1' })
    assert.equal((specOf(sent([{ pointers: ['/spec/paused'] }], less)) as { paused: boolean }).paused, false)
    assert.ok(!('paused' in (specOf(sent([], less)) as object)))
  })

  it('of an item that is new is sent with it, and an ignored item that is gone stays gone', () => {
    const more = shop(containers(['web', 'web:1'], ['new', 'new:1']))
    const images = [{ paths: ['.spec.template.spec.containers[*].image'] }]
    assert.deepEqual(specOf(sent(images, more)), {
      template: { spec: { containers: [{ name: 'web' }, { name: 'new', image: 'new:1' }] } },
    })
    const item = [{ paths: ['.spec.template.spec.containers[?(@.name=="new")]'] }]
    assert.deepEqual(specOf(sent(item, more)), containers(['web', 'web:1']))
  })

  it('inside what is owned as one value is sent as it is there, for any owner', () => {
    const rule = (port: number, weight: number) => shop({ backends: [{ port, weight }] })
    const there = withManagers(rule(80, 9), entry('balancer', { 'f:backends': {} }))
    assert.deepEqual(specOf(sent([{ paths: ['.spec.backends[*].weight'] }], rule(80, 1), there)), {
      backends: [{ port: 80, weight: 9 }],
    })
    assert.deepEqual(
      specOf(sent([{ managers: ['balancer'] }], rule(80, 1), there)),
      undefined,
      'and not at all as a whole',
    )
  })

  it('is the same by keys that one side leaves to their default', () => {
    const ports = (...list: object[]) => shop({ ports: list })
    const key = 'k:{"port":80,"protocol":"TCP"}'
    const there = withManagers(
      ports({ port: 443, protocol: 'TCP', nodePort: 2 }, { port: 80, protocol: 'TCP', nodePort: 30 }),
      entry(OURS, { 'f:ports': { [key]: { '.': {}, 'f:port': {}, 'f:nodePort': {} } } }),
    )
    assert.deepEqual(specOf(sent([{ paths: ['.spec.ports[*].nodePort'] }], ports({ port: 80, nodePort: 1 }), there)), {
      ports: [{ port: 80, nodePort: 30 }],
    })
  })
})

describe('where the whole object is written, an ignored field', () => {
  const written = (rules: Rules, wanted = desired) => withLiveIgnored(wanted, live, rulesOf(rules, wanted))
  it('is in it as it is, also when the set does not name it', () => {
    assert.deepEqual(specOf(written([{ pointers: ['/spec/replicas'] }], shop({ paused: true }))), {
      paused: true,
      replicas: 7,
    })
    assert.deepEqual(written([{ pointers: ['/metadata/annotations'] }], shop({})).metadata.annotations, {
      ours: 'old',
      theirs: '1',
    })
  })
  it('may be that of a manager, and in the item that is the same', () => {
    const { replicas, ...rest } = specOf(written([{ managers: ['autoscaler', 'updater'] }])) as { replicas: number }
    assert.deepEqual([replicas, rest], [7, { paused: true, ...web({ image: 'web:9' }) }])
  })
  it('may be an item that another manager put in, or took out', () => {
    const [item] = [{ paths: ['.spec.template.spec.containers[?(@.name=="proxy")]'] }]
    assert.deepEqual(specOf(written([item])), {
      replicas: 2,
      paused: true,
      ...containers(['web', 'web:1'], ['proxy', 'proxy:1']),
    })
    const gone = [{ paths: ['.spec.template.spec.containers[?(@.name=="new")]'] }]
    assert.deepEqual(
      specOf(written(gone, shop(containers(['new', 'x'], ['web', 'web:1'])))),
      containers(['web', 'web:1']),
    )
  })
})

describe('the annotation', () => {
  it('names pointers, expressions with spaces, and managers', () => {
    const text = '/spec/replicas, .spec.containers[?(@.name == "a b")].image manager:hpa'
    assert.deepEqual(
      rulesOf([], desired, text).map(({ type }) => type),
      ['manager', 'pointer', 'path'],
    )
    assert.deepEqual(rulesOf([], desired, 'manager:kube-controller-manager'), [
      { type: 'manager', manager: 'kube-controller-manager' },
    ])
  })
  it('that cannot be read says what to write', () => {
    assert.throws(() => rulesOf([], desired, 'manager:'), /"manager:" is neither a pointer such as \/spec\/replicas/)
  })
})
