import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkObjects, renderRaw } from './raw.ts'
import { toBlobs, describeProblems } from './render-result.ts'
import { builtInScope, namespaceForBuiltIns } from './builtin-scope.ts'

const configMap = (name: string, extra = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "${name}"\n${extra}`

function names(text: string): string[] {
  const result = renderRaw(text)
  assert.ok(result.ok, result.ok ? '' : describeProblems(result.problems))
  return result.objects.map((object) => object.metadata.name)
}

function problem(text: string): string {
  const result = renderRaw(text)
  assert.ok(!result.ok, 'expected a problem')
  return describeProblems(result.problems)
}

test('documents become objects; empty ones are skipped', () => {
  assert.deepEqual(names(`---\n${configMap('a')}---\n# only a comment\n---\n${configMap('b')}---\n`), ['a', 'b'])
  assert.deepEqual(names(''), [])
  assert.deepEqual(names('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"json"}}'), ['json'])
})

test('lists are flattened, typed ones and nested ones too', () => {
  const item = (name: string) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}}`
  assert.deepEqual(names(`apiVersion: v1\nkind: List\nitems:\n- ${item('a')}\n- ${item('b')}\n`), ['a', 'b'])
  assert.deepEqual(names(`apiVersion: v1\nkind: ConfigMapList\nitems: [${item('a')}]\n`), ['a'])
  assert.deepEqual(
    names(`apiVersion: v1\nkind: List\nitems: [{kind: List, apiVersion: v1, items: [${item('a')}]}]\n`),
    ['a'],
  )
  assert.deepEqual(names('apiVersion: v1\nkind: List\n'), [])
  // A custom kind whose name ends in List is an object.
  assert.deepEqual(names('apiVersion: example.org/v1\nkind: AllowList\nmetadata: {name: x}\n'), ['x'])
})

test('problems say document, line and column, and what to do', () => {
  const cases: [string, string, RegExp][] = [
    [
      'no kind',
      `${configMap('a')}---\napiVersion: v1\nmetadata: {name: b}\n`,
      /^document 2, line 6, column 1: the object has no kind$/,
    ],
    [
      'no apiVersion',
      'kind: ConfigMap\nmetadata: {name: b}\n',
      /document 1, line 1, column 1: the object has no apiVersion/,
    ],
    [
      'no name',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n',
      /document 1, line 3, .*ConfigMap has no metadata.name$/,
    ],
    ['generateName', 'apiVersion: v1\nkind: Job\nmetadata: {generateName: x-}\n', /generateName cannot be used/],
    ['no metadata', 'apiVersion: v1\nkind: ConfigMap\n', /the ConfigMap has no metadata$/],
    [
      'number as name',
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 5\n',
      /line 4, column \d+: metadata.name of the ConfigMap must be a string, found a number; quote it/,
    ],
    ['scalar document', 'hello\n', /expected a Kubernetes object, found a string/],
    ['list document', '- a\n- b\n', /expected a Kubernetes object, found a list/],
    ['bad item', 'apiVersion: v1\nkind: List\nitems:\n- 7\n', /document 1, line 4, .*found a number/],
    ['items no list', 'apiVersion: v1\nkind: List\nitems: {}\n', /items of a List must be a list/],
    ['not YAML', 'a: [\n', /^line \d+, column \d+: /],
    ['duplicate key', 'apiVersion: v1\nkind: A\nkind: B\nmetadata: {name: x}\n', /line 3/],
    [
      'namespace number',
      'apiVersion: v1\nkind: A\nmetadata: {name: x, namespace: 1}\n',
      /metadata.namespace of the A x must be a string/,
    ],
  ]
  for (const [name, text, expected] of cases) assert.match(problem(text), expected, name)
})

test('all problems are reported, and long lists are cut', () => {
  const text = Array.from({ length: 8 }, () => 'kind: X\n').join('---\n')
  const result = renderRaw(text)
  assert.equal(result.ok ? 0 : result.problems.length, 8)
  assert.match(problem(text), /; and 3 more$/)
})

test('an object that is there twice is refused, also in another version of its group', () => {
  assert.match(
    problem(`${configMap('a')}---\n${configMap('a')}`),
    /document 2, line 6: v1 ConfigMap a is defined more than once, first in document 1 at line 1; remove the duplicate/,
  )
  const deployment = (version: string) => `apiVersion: apps/${version}\nkind: Deployment\nmetadata: {name: a}\n`
  assert.match(problem(`${deployment('v1')}---\n${deployment('v1beta1')}`), /is defined more than once/)
  assert.deepEqual(names(`${configMap('a', '  namespace: one\n')}---\n${configMap('a', '  namespace: two\n')}`), [
    'a',
    'a',
  ])
})

test('the namespace rule fills in built-in namespaced kinds only', () => {
  const text = `${configMap('a')}---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n---\napiVersion: example.org/v1\nkind: Thing\nmetadata: {name: t}\n---\n${configMap('b', '  namespace: own\n')}`
  const result = renderRaw(text, { namespaceFor: namespaceForBuiltIns('default') })
  assert.ok(result.ok)
  assert.deepEqual(
    result.objects.map((object) => object.metadata.namespace),
    ['default', undefined, undefined, 'own'],
  )
  // Filled in before duplicates are looked for: the same object, once with and once without its namespace.
  const twice = renderRaw(`${configMap('a')}---\n${configMap('a', '  namespace: default\n')}`, {
    namespaceFor: namespaceForBuiltIns('default'),
  })
  assert.equal(twice.ok, false)
  assert.equal(builtInScope('rbac.authorization.k8s.io/v1', 'ClusterRole'), 'Cluster')
  assert.equal(builtInScope('apps/v1', 'Deployment'), 'Namespaced')
  assert.equal(builtInScope('snapshot.storage.k8s.io/v1', 'VolumeSnapshotClass'), undefined)
})

test('a text with too many objects is refused', () => {
  const result = renderRaw([configMap('a'), configMap('b')].join('---\n'), { maxObjects: 1 })
  assert.equal(result.ok ? '' : describeProblems(result.problems), 'the bundle has 2 objects; at most 1 are allowed')
})

test('property: order of documents does not change the blobs', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 6 }),
      fc.nat(),
      (list, turn) => {
        const rotated = [...list.slice(turn % list.length), ...list.slice(0, turn % list.length)]
        const digests = (of: string[]) => {
          const result = renderRaw(of.map((name) => configMap(name)).join('---\n'))
          assert.ok(result.ok)
          return toBlobs(result.objects).map(({ name, digest }) => `${name} ${digest}`)
        }
        assert.deepEqual(digests(rotated), digests(list))
      },
    ),
    { numRuns: 50 },
  )
})

test('a hook without a name is named by its content', () => {
  const hook = (image: string) =>
    `apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: migrate-\n  annotations: {argocd.argoproj.io/hook: PreSync}\nspec: {image: ${image}}\n`
  const nameOf = (text: string) => {
    const result = renderRaw(text)
    assert.ok(result.ok)
    assert.equal(result.objects[0]!.metadata['generateName' as never], undefined)
    return result.objects[0]!.metadata.name
  }
  assert.match(nameOf(hook('a')), /^migrate-[0-9a-f]{8}$/)
  assert.equal(nameOf(hook('a')), nameOf(hook('a')))
  assert.notEqual(nameOf(hook('a')), nameOf(hook('b')))
})

test('changed objects are checked again: names and duplicates, without document and line', () => {
  const object = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
  const problems = (...objects: Parameters<typeof checkObjects>[0]) => {
    const result = checkObjects(objects)
    return result.ok ? '' : describeProblems(result.problems)
  }
  assert.equal(problems(object('a'), object('b')), '')
  assert.equal(problems(object('a'), object('a')), 'v1 ConfigMap a is defined more than once; remove the duplicate')
  assert.equal(problems(object('a'), object('')), 'the ConfigMap has no metadata.name')
})
