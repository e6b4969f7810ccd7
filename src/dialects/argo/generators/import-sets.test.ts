/** Generators: which Applications a set stands for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imported, set } from '../../../testing/fixtures/argo-applications.ts'

const OPEN = `{metadata: {name: '{{name}}-web'}, spec: {source: {repoURL: 'https://charts.example.com', chart: web}, destination: {server: '{{server}}'}, syncPolicy: {automated: {}}}}`
const PLAIN = `{metadata: {name: '{{app}}'}, spec: {source: {repoURL: 'https://git.example.com/apps.git', path: '{{dir}}', directory: {}}, destination: {name: '{{to}}'}}}`

test('lists, directories and matrices: a Bundle for each', () => {
  const rows = '[{list: {elements: [{app: a, dir: x, to: s1}, {app: b, dir: w, to: s2}, {app: b, dir: z, to: s1}]}}]'
  const list = imported(set(rows, PLAIN))
  assert.deepEqual(list.problems, [])
  assert.deepEqual(
    Object.entries(list.bundles).map(([name, { source, placement }]) => [name, source?.path, placement]),
    [
      ['a', 'x', 's1'],
      ['b', 'w', 's2'],
      ['b-2', 'z', 's1'],
    ],
  )
  const git = (directories: string) =>
    `[{git: {repoURL: 'https://git.example.com/apps.git', directories: ${directories}, values: {first: '{{path[0]}}'}}}]`
  const template = PLAIN.replace('{{app}}', '{{values.first}}-{{path.basenameNormalized}}')
    .replace('{{dir}}', '{{path}}')
    .replace('{{to}}', 's1')
  const paths = ['app1/x.yaml', 'app_3/x.yaml', 'p1/app2/x.yaml', 'p1/p2/app3/x.yaml', '.git/x/y', 'top.yaml']
  const found = (directories: string) => Object.keys(imported(set(git(directories), template), { paths }).bundles)
  assert.deepEqual(found("[{path: '*'}]"), ['app1-app1', 'app_3-app-3', 'p1-p1'])
  assert.deepEqual(found("[{path: 'p1/*'}, {path: 'p1/*/*'}, {path: 'p1/p2', exclude: true}]"), ['p1-app2', 'p1-app3'])
  assert.match(
    imported(set(git("[{path: '*'}]"), template)).problems[0]!,
    /is not known here; give its clone with --root/,
  )
  const matrix = `[{matrix: {generators: [{list: {elements: [{a: '1'}, {a: '2'}]}}, {list: {elements: [{app: 'w{{a}}', dir: x, to: s1}, {app: 'v{{a}}', dir: w, to: s1}]}}]}}]`
  assert.deepEqual(Object.keys(imported(set(matrix, PLAIN)).bundles), ['w1', 'v1', 'w2', 'v2'])
  assert.match(
    imported(set('[{matrix: {generators: [{list: {}}]}}]', PLAIN)).problems[0]!,
    /found less than two generators, Matrix support only two/,
  )
  assert.match(imported(set('[]', PLAIN)).problems[0]!, /nothing to take over/)
})

test('elements as YAML, what a selector leaves, and a generator’s own template', () => {
  const yaml = `[{list: {elements: [{app: a, dir: x, to: s1}], elementsYaml: '[{app: b, dir: v, to: s1}, {app: c, dir: z, to: s2}]'}, selector: {matchLabels: {to: s1}}}]`
  assert.deepEqual(Object.keys(imported(set(yaml, PLAIN)).bundles), ['a', 'b'])
  const odd = yaml.replace('[{app: b, dir: v, to: s1}, {app: c, dir: z, to: s2}]', '[x]')
  assert.match(imported(set(odd, PLAIN)).problems[0]!, /ElementsYaml: .* it must be a list of maps/)
  const own = `[{list: {elements: [{app: a, dir: x, to: s1}], template: {metadata: {}, spec: {source: {path: other, repoURL: '', directory: {}}, destination: {}}}}}, {list: {elements: [{app: b, dir: v, to: s1}]}}]`
  assert.deepEqual(
    Object.values(imported(set(own, PLAIN)).bundles).map(({ source }) => source?.path),
    ['other', 'v'],
  )
  const open = (selector: string) => imported(set(`[{clusters: {}, selector: {matchLabels: {${selector}}}}]`, OPEN))
  assert.deepEqual(open('metadata.labels.env: prod').placements, {
    shop: { clusterSelector: { matchExpressions: [{ key: 'env', operator: 'In', values: ['prod'] }] } },
  })
  assert.match(
    open('name: s1').problems[0]!,
    /selector: name depends on the cluster, of which only labels can be asked/,
  )
})

test('files of a repository: a Bundle for each map, with its place', () => {
  const files = {
    'clusters/eu/s1/config.json': '{"app": {"name": "till"}, "dir": "a", "to": "s1"}',
    'clusters/us/s2/config.yaml': '- {app: {name: web}, dir: b, to: s2}\n- {app: {name: api}, dir: c, to: s2}\n',
    'clusters/old/config.json': '{"app": {"name": "old"}}',
    'other.json': '{}',
  }
  const git = (more = '') =>
    `[{git: {repoURL: 'https://git.example.com/apps', files: [{path: 'clusters/**/config.*'}, {path: 'clusters/old/*', exclude: true}]${more}}}]`
  const plain = PLAIN.replace('{{app}}', '{{app.name}}-{{path.basename}}-{{path[1]}}-{{path.filenameNormalized}}')
  const made = imported(set(git(), plain), { files })
  assert.deepEqual(made.problems, [])
  assert.deepEqual(Object.keys(made.bundles), [
    'till-s1-eu-config.json',
    'web-s2-us-config.yaml',
    'api-s2-us-config.yaml',
  ])
  const go = `{metadata: {name: '{{.app.name}}-{{index .site.path.segments 1}}-{{normalize "A_b"}}'}, spec: {source: {repoURL: 'https://git.example.com/apps.git', path: '{{.dir}}', directory: {}}, destination: {name: '{{.to}}'}}}`
  assert.deepEqual(
    Object.keys(imported(set(git(', pathParamPrefix: site'), go, 'goTemplate: true'), { files }).bundles),
    ['till-eu-a-b', 'web-us-a-b', 'api-us-a-b'],
  )
  const bad = { ...files, 'clusters/us/s2/config.yaml': 'a: [\n' }
  assert.match(imported(set(git(), plain), { files: bad }).problems[0]!, /clusters\/us\/s2\/config\.yaml/)
  assert.match(imported(set(git(), plain), { files: {} }).problems[0]!, /its generators give nothing/)
})

test('a merge says of some what others have by default', () => {
  const merge = (more: string) =>
    `[{merge: {mergeKeys: [app], generators: [{list: {elements: [{app: a, dir: x, to: s1}, {app: b, dir: v, to: s1}]}}, {list: {elements: [{app: b, dir: z}, {app: none, dir: q}]}}${more}]}}]`
  assert.deepEqual(
    Object.entries(imported(set(merge(''), PLAIN)).bundles).map(([name, { source }]) => [name, source?.path]),
    [
      ['a', 'x'],
      ['b', 'z'],
    ],
  )
  const twice = merge(', {list: {elements: [{app: b}, {app: b}]}}')
  assert.match(
    imported(set(twice, PLAIN)).problems[0]!,
    /not unique by the given mergeKeys.* Duplicate key was \{"app":"b"\}/,
  )
  assert.match(
    imported(set(merge(', {clusters: {}}'), PLAIN)).problems[0]!,
    /merge: a generator of clusters cannot be merged/,
  )
  assert.match(imported(set('[{merge: {generators: [{list: {}}]}}]', PLAIN)).problems[0]!, /Merge requires two or more/)
  const inside = merge('').replace(
    '{list: {elements: [{app: b, dir: z}',
    '{list: {template: {metadata: {name: x}}, elements: [{app: b, dir: z}',
  )
  assert.match(
    imported(set(inside, PLAIN)).notes.join(),
    /a template of a generator inside of matrix or merge has no effect/,
  )
})

test('a patch is written for each set of parameters', () => {
  const patch = `templatePatch: |
    spec:
      {{- if .prune }}
      syncPolicy: {automated: {prune: true}}
      {{- end }}
      source: {path: '{{ .dir }}/patched', helm: {valueFiles: ["{{ .app }}.yaml"]}, directory: null}
  goTemplate: true`
  const list = '[{list: {elements: [{app: a, dir: x, to: s1, prune: true}, {app: b, dir: v, to: s1, prune: false}]}}]'
  const go = PLAIN.replaceAll('{{', '{{.')
  const { bundles, problems } = imported(set(list, go, patch))
  assert.deepEqual(problems, [])
  assert.deepEqual(
    Object.values(bundles).map(({ source, helm, prune }) => [source?.path, helm?.valuesFiles, prune?.mode]),
    [
      ['x/patched', ['a.yaml'], 'Always'],
      ['v/patched', ['b.yaml'], 'Confirm'],
    ],
  )
  const plain = set(
    '[{list: {elements: [{app: a, dir: x, to: s1}]}}]',
    PLAIN,
    "templatePatch: 'spec: {source: {path: p-{{dir}}}}'",
  )
  assert.deepEqual([imported(plain).problems, imported(plain).bundles['a']?.source?.path], [[], 'p-x'])
  assert.match(
    imported(set(list, go, 'templatePatch: "[x]"\n  goTemplate: true')).problems[0]!,
    /invalid templatePatch/,
  )
})
