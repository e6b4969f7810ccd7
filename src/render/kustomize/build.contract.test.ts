import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { buildKustomization, buildObjects, buildText } from './build.ts'
import type { BuildOptions } from './build.ts'
import { KustomizeError } from './kustomize-error.ts'
import { createFileTree } from './loader.ts'
import { FIXTURE_FILES, readFixtures } from '../../testing/kustomize/fixtures.ts'

function tree(files: Record<string, string> | ReadonlyMap<string, string>, root = '/DIR') {
  const entries = files instanceof Map ? [...files] : Object.entries(files)
  return createFileTree(new Map(entries.map(([path, content]) => [`${root}/${path}`, utf8(content as string)])))
}

function build(files: Record<string, string>, options: BuildOptions = {}): string {
  return buildText(buildKustomization(tree(files), '/DIR', options).resources)
}

const CONFIG_MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'

// What no other build can say in the same words: addresses in memory, and what the network answered.
const OWN_WORDS = new Set(['remote-base', 'generator-unknown-merge'])

for (const file of FIXTURE_FILES) {
  for (const { name, files, expected } of readFixtures(file)) {
    test(`${file}: ${name} comes out as the binary has it`, () => {
      assert.ok(expected !== undefined, 'the fixture has no expected output yet: run its oracle test')
      let got: string
      try {
        got = buildText(buildKustomization(tree(files), '/DIR').resources)
      } catch (caught) {
        assert.ok(caught instanceof KustomizeError, String((caught as Error).stack))
        got = `error: ${caught.message.trimEnd()}\n`
      }
      if (OWN_WORDS.has(name)) assert.match(got, /^error: /)
      else assert.equal(got, expected)
    })
  }
}

test('the same files give the same bytes, and the input stays as it was', () => {
  const files = tree({ 'kustomization.yaml': 'resources: [a.yaml]\nnamePrefix: x-\n', 'a.yaml': CONFIG_MAP })
  const first = buildText(buildKustomization(files, '/DIR').resources)
  assert.equal(buildText(buildKustomization(files, '/DIR').resources), first)
})

test('objects are plain JSON', () => {
  const { resources } = buildKustomization(
    tree({ 'kustomization.yaml': 'resources: [a.yaml]\n', 'a.yaml': `${CONFIG_MAP}__proto__: {x: 1}\n` }),
    '/DIR',
  )
  const [object] = buildObjects(resources)
  assert.equal(
    JSON.stringify(object),
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"__proto__":{"x":1}}',
  )
})

test('the library order keeps the order of the files', () => {
  const files = {
    'kustomization.yaml': 'resources: [a.yaml]\n',
    'a.yaml': `${CONFIG_MAP}---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n`,
  }
  assert.match(build(files), /^apiVersion: v1\nkind: Namespace/)
  assert.match(build(files, { order: 'fifo' }), /^apiVersion: v1\nkind: ConfigMap/)
})

test('a remote base that was fetched beforehand is built', () => {
  const files = {
    'kustomization.yaml': 'resources: ["https://github.com/org/repo//sub?ref=v1"]\n',
    'fetched/kustomization.yaml': 'resources: [a.yaml]\n',
    'fetched/a.yaml': CONFIG_MAP,
  }
  assert.throws(() => build(files), /is remote: it must be fetched and pinned before the build/)
  const remotes = new Map([['https://github.com/org/repo//sub?ref=v1', '/DIR/fetched']])
  assert.match(build(files, { remotes }), /name: a/)
})

test('files outside the root are read only when allowed', () => {
  const files = {
    'kustomization.yaml': 'resources: [in]\n',
    'in/kustomization.yaml': 'resources: [../a.yaml]\n',
    'a.yaml': CONFIG_MAP,
  }
  assert.throws(() => build(files), /security; file '\/DIR\/a.yaml' is not in or below '\/DIR\/in'/)
  assert.match(build(files, { allowOutside: true }), /name: a/)
})

test('delivery tools add patches, images, components, names and a namespace', () => {
  const files = {
    'kustomization.yaml': 'resources: [p.yaml]\nimages: [{name: x, newTag: "1"}]\nnamespace: own\n',
    'p.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: x}]}\n',
    'extra/kustomization.yaml': 'kind: Component\ncommonAnnotations: {from: component}\n',
  }
  const text = build(files, {
    additions: {
      patches: [{ target: { kind: 'Pod' }, patch: '[{"op": "add", "path": "/spec/hostname", "value": "h"}]' }],
      images: [{ name: 'x', newTag: '2' }],
      components: ['extra'],
      namePrefix: 'pre-',
      nameSuffix: '-suf',
      targetNamespace: 'target',
      commonMetadata: { labels: new Map([['team', 'a']]) },
    },
  })
  assert.equal(
    text,
    'apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    from: component\n  labels:\n    team: a\n  name: pre-p-suf\n' +
      '  namespace: target\nspec:\n  containers:\n  - image: x:2\n    name: c\n  hostname: h\n',
  )
})

test('a directory without a kustomization is built as Flux builds it, when asked', () => {
  const named = (name: string): string => CONFIG_MAP.replace('name: a', `name: ${name}`)
  const files = {
    'b.yml': named('b'),
    'a.yaml': `${named('a')}---\n${named('a2')}`,
    'README.md': 'not a manifest',
    'deep/er/c.yaml': named('c'),
    'own/kustomization.yml': 'resources: [d.yaml]\nnamePrefix: own-\n',
    'own/d.yaml': named('d'),
    'own/not-listed.yaml': named('e'),
  }
  assert.throws(() => build(files), /unable to find one of 'kustomization.yaml'/)
  const names = [...build(files, { generate: true, order: 'fifo' }).matchAll(/name: (\S+)/g)].map(([, name]) => name)
  assert.deepEqual(names, ['a', 'a2', 'b', 'c', 'own-d'])
  const given = { ...files, 'kustomization.yaml': 'resources: [b.yml]\n' }
  assert.equal(build(given, { generate: true }), build(given))
  const wrong = { ...files, 'deep/values.yaml': 'replicas: 2\n' }
  assert.throws(() => build(wrong, { generate: true }), {
    name: 'KustomizeError',
    message: /^failed to decode Kubernetes YAML from \/DIR\/deep\/values.yaml: /,
  })
})

test('charts are rendered by the caller and keep their namespace', () => {
  const files = {
    'kustomization.yaml': 'namespace: ns\nhelmCharts: [{name: c, releaseName: r, valuesInline: {b: 2}}]\n',
    'charts/c/values.yaml': 'a: 1\nb: 1\n',
  }
  const text = build(files, {
    renderHelm: ({ chartPath, releaseName, namespace, values }) => {
      assert.deepEqual([chartPath, releaseName, namespace, values], ['/DIR/charts/c', 'r', 'ns', ['a: 1\nb: 2\n']])
      return CONFIG_MAP
    },
  })
  assert.equal(text, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n')
})
