/**
 * Rows Y and K of what Fleet was seen to do with plain manifests, overlays and kustomizations; where Fleet is wrong,
 * what is right.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFleetTree } from '../../../testing/fixtures/rancher-fleet/repository.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const cm = (name: string, data = 'base'): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {k: ${data}}\n`

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 1
  selector: {matchLabels: {a: d}}
  template:
    metadata: {labels: {a: d}}
    spec:
      containers:
      - {name: web, image: 'nginx:1', env: [{name: A, value: '1'}]}
      - {name: side, image: 'side:1'}
`

function render(tree: Record<string, unknown>, cluster = 'c1'): UnknownObject[] | string {
  const read = readFleetTree(tree)
  return read.bundles.length === 0 ? read.findings.join('; ') : read.objects(cluster)
}

const names = (objects: UnknownObject[] | string): string =>
  typeof objects === 'string'
    ? objects
    : objects
        .map(({ kind, metadata }) => `${kind}/${metadata.name}`)
        .sort()
        .join(' ')

const withOverlays = (overlays: string[]) => ({ yaml: { overlays } })

function only(objects: UnknownObject[] | string): UnknownObject {
  assert.ok(Array.isArray(objects) && objects.length === 1, typeof objects === 'string' ? objects : names(objects))
  return objects[0]!
}

test('plain manifests', () => {
  const text = render({
    'a.yaml': cm('a', '"{{ .x }}"'),
    'templates/t.yaml': cm('t', '"{{ .Values.v }}"'),
    'sub/templates/u.yaml': cm('u', '"{{ .y }}"'),
    'fleet.yaml': { helm: { values: { v: 7 } } },
  })
  const data = Object.fromEntries(
    (text as UnknownObject[]).map((one) => [one.metadata.name, (one['data'] as { k: string }).k]),
  )
  assert.deepEqual(data, { a: '{{ .x }}', t: '7', u: '{{ .y }}' }, 'Y1')
  assert.equal(names(render({ 'a.yaml': cm('a'), 'values.yaml': 'x: 1' })), 'ConfigMap/a', 'Y2')
  const list = `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: l}}\n---\n---\nfoo: bar\n`
  assert.equal(names(render({ 'l.yaml': list })), 'ConfigMap/l', 'Y3')
  assert.equal(
    names(render({ 'm.yaml': `${cm('a')}---\nfoo: bar\n---\n${cm('z')}` })),
    'ConfigMap/a ConfigMap/z',
    'Y4: only that document',
  )
  assert.match(shown(render({ 'a.yaml': 'a: [', 'b.yaml': cm('b') })), /a\.yaml/, 'Y5')
  assert.equal(
    names(render({ 'a.yaml': cm('a'), 'b.json': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}' })),
    'ConfigMap/a ConfigMap/b',
    'Y6',
  )
  assert.match(
    shown(
      render({ 'fleet.yaml': { namespace: 'tn' }, 'n.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n' }),
    ),
    /Namespace x has no namespace/,
    'Y13',
  )
  const nested = {
    'a.yaml': cm('a'),
    'b/fleet.yaml': {},
    'b/b.yaml': cm('b'),
    'c/Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\n',
    'c/templates/c.yaml': cm('c'),
  }
  assert.equal(names(render(nested)), 'ConfigMap/a', 'Y14')
  const placed = readFleetTree({
    'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: own}\n',
    'fleet.yaml': { defaultNamespace: 'dn' },
  })
  assert.equal(only(placed.objects('c1')).metadata.namespace, 'own', 'Y12')
})

test('overlays replace, add and patch files', () => {
  const base = { 'cm.yaml': cm('cm') }
  const data = (objects: UnknownObject[] | string): unknown => (only(objects)['data'] as { k: string }).k
  assert.equal(data(render({ ...base, 'overlays/a/cm.yaml': cm('cm', 'a') })), 'base', 'Y15')
  assert.equal(data(render({ ...base, 'fleet.yaml': withOverlays(['nope']) })), 'base', 'Y15')
  const a = { 'overlays/a/cm.yaml': cm('cm', 'a'), 'overlays/a/new.yaml': cm('new') }
  assert.equal(names(render({ ...base, ...a, 'fleet.yaml': withOverlays(['a']) })), 'ConfigMap/cm ConfigMap/new', 'Y16')
  const two = { ...base, 'overlays/a/cm.yaml': cm('cm', 'a'), 'overlays/b/cm.yaml': cm('cm', 'b') }
  assert.equal(data(render({ ...two, 'fleet.yaml': withOverlays(['a', 'b']) })), 'b', 'Y17')
  assert.equal(data(render({ ...two, 'fleet.yaml': withOverlays(['b', 'a']) })), 'a', 'Y17')
  assert.equal(
    data(render({ ...base, 'overlays/a/b/cm.yaml': cm('cm', 'ab'), 'fleet.yaml': withOverlays(['a/b']) })),
    'ab',
    'Y28',
  )
  const custom = {
    ...two,
    'fleet.yaml': { ...withOverlays(['a']), targetCustomizations: [{ clusterName: 'c2', ...withOverlays(['b']) }] },
  }
  assert.deepEqual(
    [data(render(custom)), data(render(custom, 'c2'))],
    ['a', 'b'],
    'O16: those of a customization come after',
  )
})

test('patches of overlays: strategic merge, merge patch, JSON Patch', () => {
  const patched = (
    patch: unknown,
    base: Record<string, string> = { 'd.yaml': DEPLOYMENT },
  ): UnknownObject[] | string => {
    const [file] = Object.keys(base)
    return render({
      ...base,
      [`overlays/a/${file!.replace('.', '_patch.')}`]: patch,
      'fleet.yaml': withOverlays(['a']),
    })
  }
  const spec = (objects: UnknownObject[] | string) =>
    only(objects)['spec'] as {
      replicas: number
      template: { spec: { containers: { name: string; image: string; env?: unknown }[] } }
    }
  const web = spec(
    patched({ spec: { replicas: 3, template: { spec: { containers: [{ name: 'side', image: 'side:2' }] } } } }),
  )
  assert.equal(web.replicas, 3)
  assert.deepEqual(
    web.template.spec.containers.map(({ name, image }) => `${name} ${image}`),
    ['web nginx:1', 'side side:2'],
    'Y18',
  )
  assert.deepEqual(web.template.spec.containers[0]!.env, [{ name: 'A', value: '1' }], 'Y18')
  const gone = spec(patched({ spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } } }))
  assert.deepEqual(
    gone.template.spec.containers.map(({ name }) => name),
    ['web'],
    'Y18',
  )
  const thing = {
    't.yaml': 'apiVersion: ex.io/v1\nkind: Thing\nmetadata: {name: t}\nspec: {list: [a, b], m: {x: 1, z: 2}}\n',
  }
  assert.deepEqual(
    only(patched({ spec: { list: ['c'], m: { x: null, w: 3 } } }, thing))['spec'],
    { list: ['c'], m: { w: 3, z: 2 } },
    'Y19',
  )
  assert.equal(spec(patched([{ op: 'replace', path: '/spec/replicas', value: 5 }])).replicas, 5, 'Y20')
  assert.match(
    shown(patched([{ op: 'replace', path: '/nope/x', value: 5 }])),
    /overlays\/a\/d_patch\.yaml: replace operation does not apply/,
    'Y20',
  )
  assert.equal(only(patched({ metadata: { name: 'renamed' } })).metadata.name, 'renamed', 'Y25')
  const missing = render({ 'cm.yaml': cm('cm'), 'overlays/a/x_patch.yaml': {}, 'fleet.yaml': withOverlays(['a']) })
  assert.equal(
    missing,
    'overlays/a/x_patch.yaml patches x.yaml, and there is no such file; the name must be the same, also its end',
    'Y21',
  )
  const dotted = render({
    'a.b.yaml': cm('cm'),
    'overlays/a/a_patch.b.yaml': { data: { k: 'p' } },
    'fleet.yaml': withOverlays(['a']),
  })
  assert.deepEqual(only(dotted)['data'], { k: 'p' }, 'Y22')
  const two = { 'm.yaml': `${cm('one')}---\n${cm('two')}` }
  const named = patched('kind: ConfigMap\nmetadata: {name: two}\ndata: {k: p}\n', two) as UnknownObject[]
  assert.deepEqual(
    named.map((one) => (one['data'] as { k: string }).k),
    ['base', 'p'],
    'Y23: nothing is lost',
  )
  assert.match(shown(patched({ data: {} }, two)), /m\.yaml, which holds 2 objects; say kind and metadata\.name/, 'Y23')
  const both = {
    'cm.yaml': cm('cm'),
    'overlays/a/cm.yaml': cm('cm', 'new'),
    'overlays/a/cm_patch.yaml': { data: { p: '1' } },
  }
  assert.deepEqual(
    only(render({ ...both, 'fleet.yaml': withOverlays(['a']) }))['data'],
    { k: 'new', p: '1' },
    'Y24: replaced, then patched',
  )
})

test('kustomizations', () => {
  const kustomize = {
    'base/kustomization.yaml': 'resources: [cm.yaml]\n',
    'base/cm.yaml': cm('cm'),
    'overlays/prod/kustomization.yaml': 'resources: [../../base]\nnamePrefix: prod-\n',
  }
  for (const dir of ['overlays/prod', './overlays/prod', '/overlays/prod/']) {
    assert.equal(
      names(render({ ...kustomize, 'fleet.yaml': { kustomize: { dir } } })),
      'ConfigMap/prod-cm',
      `K1 ${dir}`,
    )
  }
  const some = {
    ...kustomize,
    'fleet.yaml': { targetCustomizations: [{ clusterName: 'c1', kustomize: { dir: 'overlays/prod' } }] },
  }
  assert.equal(names(render(some)), 'ConfigMap/prod-cm')
  assert.match(shown(render(some, 'c2')), /holds no \.yaml/, 'K2: said instead of deployed raw')
  assert.match(
    shown(render({ ...kustomize, 'fleet.yaml': { kustomize: { dir: 'nope' } } })),
    /asks for a kustomization, and "nope" holds none/,
    'K2',
  )
  const beside = {
    'kustomization.yaml': 'resources: [cm.yaml]\n',
    'cm.yaml': cm('cm'),
    'other.yaml': cm('other'),
    'templates/t.yaml': cm('t'),
  }
  assert.equal(names(render(beside)), 'ConfigMap/cm', 'K4')
  const below = {
    'a.yaml': cm('a'),
    'k/kustomization.yaml': 'resources: [b.yaml]\nnamePrefix: x-\n',
    'k/b.yaml': cm('b'),
  }
  assert.equal(names(render(below)), 'ConfigMap/a ConfigMap/b', 'K9')
  const namespaced = { 'kustomization.yaml': 'namespace: kns\nresources: [cm.yaml]\n', 'cm.yaml': cm('cm') }
  assert.equal(
    only(render({ ...namespaced, 'fleet.yaml': { defaultNamespace: 'dn' } })).metadata.namespace,
    'kns',
    'K8',
  )
  assert.equal(only(render({ ...namespaced, 'fleet.yaml': { namespace: 'tn' } })).metadata.namespace, 'tn', 'K8')
})
