/** ApplicationSets by hand: what each generator gives, what slips say, and what hostile ones cost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../core/json.ts'
import { ApplicationSetError } from './applicationset-error.ts'
import { sortArgoObjects } from './argo-objects.ts'
import { generateApplications } from './generate.ts'
import type { GenerateInputs, RevisionFiles } from './generate-inputs.ts'
import { filesByRevision } from './git-revision.ts'
import { GENERATE_LIMITS, SERVED_LIMITS } from './limits.ts'
import { readYamlJson } from './read-yaml-text.ts'

function secret(name: string, labels: Record<string, string>): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'argocd', labels: { ...labels, 'argocd.argoproj.io/secret-type': 'cluster' } },
    data: { name: btoa(name), server: btoa(`https://${name}`), config: 'not base64!' },
  }
}

const FILES: Readonly<Record<string, string>> = {
  'apps/web/a.yaml': 'x: 1\n',
  'apps/api/b.yaml': 'x: 1\n',
  'apps/.hidden/c.yaml': 'x: 1\n',
  'clusters/store-1/values.yaml': 'replicas: 3\nteam: {name: retail}\n',
  'list.json': '[{"n": "one"}, {"n": "two"}]',
}

function revision(files: Readonly<Record<string, string>>): RevisionFiles {
  return { paths: Object.keys(files), read: (path) => files[path]! }
}

const INPUTS: GenerateInputs = {
  namespace: 'argocd',
  ...sortArgoObjects(
    [
      secret('store-1', { env: 'production' }),
      secret('store-2', { env: 'production' }),
      secret('hub', { env: 'hub' }),
      { apiVersion: 'argoproj.io/v1alpha1', kind: 'AppProject', metadata: { name: 'default', namespace: 'argocd' } },
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'placement', namespace: 'argocd' },
        data: {
          apiVersion: 'cluster.open-cluster-management.io/v1beta1',
          kind: 'placementdecisions',
          statusListKey: 'decisions',
          matchKey: 'clusterName',
        },
      },
      {
        apiVersion: 'cluster.open-cluster-management.io/v1beta1',
        kind: 'PlacementDecision',
        metadata: { name: 'd', namespace: 'argocd' },
        status: { decisions: [{ clusterName: 'store-2', score: 1000000 }, { clusterName: 'gone' }] },
      },
    ],
    'argocd',
  ),
  filesAt: filesByRevision(
    new Map([
      [
        'https://git/apps',
        new Map([
          ['v1.0.0', revision({ 'old/x': '' })],
          ['v1.2.0', revision(FILES)],
        ]),
      ],
    ]),
  ),
  entropy: { randomBytes: (length) => new Uint8Array(length), now: () => 0, generateKey: () => '' },
}

function set(generators: string, template = "{name: '{{.name}}'}", more = 'goTemplate: true'): JsonObject {
  const text = `
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: x, namespace: argocd}
spec:
  ${more}
  generators: ${generators}
  template:
    metadata: ${template}
    spec: {project: default, source: {repoURL: https://git/apps, path: a}, destination: {server: s}}
`
  return readYamlJson(text) as JsonObject
}

function names(generators: string, template?: string, more?: string, inputs = INPUTS): string[] {
  return generateApplications(set(generators, template, more), inputs).applications.map(
    ({ metadata }) => (metadata as { name: string }).name,
  )
}

function failure(run: () => unknown): string {
  try {
    run()
  } catch (caught) {
    assert.ok(caught instanceof ApplicationSetError, String(caught))
    return caught.message
  }
  return assert.fail('no error')
}

test('list and clusters, in both template modes', () => {
  assert.deepEqual(names('[{list: {elements: [{name: b}, {name: a}]}}]'), ['a', 'b'])
  assert.deepEqual(names('[{list: {elements: [{name: b}]}}]', "{name: '{{name}}-{{nope}}'}", 'goTemplate: false'), [
    'b-{{nope}}',
  ])
  assert.deepEqual(names('[{clusters: {selector: {matchLabels: {env: production}}}}]'), ['store-1', 'store-2'])
  assert.deepEqual(names('[{clusters: {}}]'), ['hub', 'in-cluster', 'store-1', 'store-2'])
  assert.deepEqual(names('[{clusters: {flatList: true}}]', "{name: 'n{{ len .clusters }}'}"), ['n4'])
})

test('git directories and files at the highest version of a range', () => {
  const git = (what: string): string => `[{git: {repoURL: https://git/apps, revision: 'v1.*', ${what}}}]`
  const base = "{name: '{{ .path.basename }}'}"
  assert.deepEqual(names(git("directories: [{path: 'apps/*'}, {path: apps/api, exclude: true}]"), base), ['web'])
  assert.deepEqual(
    names(git("files: [{path: '*values.yaml'}]"), "{name: '{{.team.name}}-{{.replicas}}-{{.path.basename}}'}"),
    ['retail-3-store-1'],
  )
  assert.deepEqual(names(git('files: [{path: list.json}]'), "{name: '{{ .n }}'}"), ['one', 'two'])
  assert.match(
    failure(() => names(git("files: [{path: '../x'}]"))),
    /outside repository/,
  )
})

test('matrix fills the second generator, merge joins by key, a selector filters', () => {
  const matrix = `[{matrix: {generators: [
    {clusters: {selector: {matchLabels: {env: production}}}},
    {git: {repoURL: https://git/apps, revision: v1.2.0, files: [{path: 'clusters/{{.name}}/values.yaml'}]}}]}}]`
  assert.deepEqual(names(matrix, "{name: '{{.name}}-{{.replicas}}'}"), ['store-1-3'])
  const merge = `[{merge: {mergeKeys: [name], generators: [
    {list: {elements: [{name: a, v: '1'}, {name: b, v: '1'}]}}, {list: {elements: [{name: b, v: '2'}, {name: c, v: '3'}]}}]}}]`
  assert.deepEqual(names(merge, "{name: '{{.name}}{{.v}}'}"), ['a1', 'b2'])
  assert.deepEqual(
    names('[{list: {elements: [{name: a, m: {k: x}}, {name: b}]}, selector: {matchLabels: {m.k: x}}}]'),
    ['a'],
  )
})

test('decisions name clusters, and whole numbers stay whole', () => {
  const decision = '[{clusterDecisionResource: {configMapRef: placement, name: d}}]'
  assert.deepEqual(names(decision, "{name: '{{.name}}-{{.score}}'}"), ['store-2-1000000'])
  assert.match(
    failure(() => names('[{clusterDecisionResource: {configMapRef: placement, name: other}}]')),
    /no clusterDecisionResources found/,
  )
})

test('pull requests and repositories of a service, with filters', () => {
  const inputs: GenerateInputs = {
    ...INPUTS,
    services: {
      pullRequests: () => [
        {
          number: 7,
          title: 't',
          branch: 'feat/Ä_b',
          targetBranch: 'main',
          headSHA: '0123456789',
          labels: ['x'],
          author: 'a',
        },
        { number: 8, title: 't', branch: 'other', targetBranch: 'main', headSHA: 'f', labels: [], author: 'a' },
      ],
      scmRepositories: () => ({ failure: 'boom', isNotFound: false }),
    },
  }
  const pulls = '[{pullRequest: {github: {owner: o, repo: r}, filters: [{branchMatch: ^feat}]}}]'
  assert.deepEqual(names(pulls, "{name: '{{.number}}-{{.branch_slug}}-{{.head_short_sha}}'}", undefined, inputs), [
    '7-feat-a-b-01234567',
  ])
  assert.match(
    failure(() => names('[{scmProvider: {}}]', undefined, undefined, inputs)),
    /error listing repos: boom/,
  )
  assert.match(
    failure(() => names('[{pullRequest: {}}]')),
    /asks a service/,
  )
  assert.match(
    failure(() => names('[{plugin: {}}]')),
    /plugin/,
  )
})

test('a plugin, in both template modes', () => {
  const services = {
    plugin: () => [
      { name: 'a', at: { city: 'Brno' }, n: 1000000 },
      { name: 'b', at: {}, n: true },
    ],
  }
  const inputs: GenerateInputs = { ...INPUTS, services }
  const own = 'configMapRef: {name: p}, input: {parameters: {team: pos}}'
  const go = "{name: '{{.name}}-{{.n}}-{{.generator.input.parameters.team}}-{{.values.twice}}'}"
  const twice = "values: {twice: '{{.name}}{{.name}}'}"
  assert.deepEqual(names(`[{plugin: {${own}, ${twice}}}]`, go, undefined, inputs), ['a-1e+06-pos-aa', 'b-true-pos-bb'])
  const plain = "{name: '{{name}}-{{at.city}}-{{values.twice}}'}"
  const flat = `[{plugin: {${own}, values: {twice: '{{name}}{{name}}'}}}]`
  assert.deepEqual(names(flat, plain, 'goTemplate: false', inputs), ['a-Brno-aa', 'b-{{at.city}}-bb'])
  assert.match(
    failure(() => names(flat)),
    /plugin: a generator that asks a service is not run here; write its sets as a list/,
  )
  const broken = { ...INPUTS, services: { plugin: () => ({ failure: 'it is down', isNotFound: false }) } }
  assert.match(
    failure(() => names(flat, plain, 'goTemplate: false', broken)),
    /error listing params: it is down/,
  )
})

test('templatePatch changes what it may, and not the project', () => {
  const patched = generateApplications(
    set(
      '[{list: {elements: [{name: a}]}}]',
      undefined,
      `goTemplate: true
  templatePatch: |
    spec: {project: evil, syncPolicy: {automated: {prune: true}}, unknown: 1}
    metadata: {finalizers: [f]}`,
    ),
    INPUTS,
  ).applications[0] as { metadata: JsonObject; spec: JsonObject }
  assert.equal(patched.spec['project'], 'default')
  assert.deepEqual(patched.spec['syncPolicy'], { automated: { prune: true } })
  assert.deepEqual(patched.metadata['finalizers'], ['f', 'resources-finalizer.argocd.argoproj.io'])
  assert.equal(patched.spec['unknown'], undefined)
})

test('a slip says what was meant', () => {
  const { applications, warnings } = generateApplications(set('[{cluster: {}}]'), INPUTS)
  assert.deepEqual(applications, [])
  assert.deepEqual(warnings, ['unknown generator "cluster": did you mean "clusters"?'])
  const inner = '[{matrix: {generators: [{list: {elements: [{a: b}]}}, {cluster: {}}]}}]'
  assert.match(
    failure(() => names(inner)),
    /^unknown generator "cluster": did you mean "clusters"\?/,
  )
  const option = (): unknown =>
    names('[{clusters: {}}]', undefined, 'goTemplate: true\n  goTemplateOptions: [missingkeys=error]')
  assert.match(failure(option), /unrecognized option "missingkeys=error"; write "missingkey=error"/)
  assert.match(
    failure(() => names('{}')),
    /cannot unmarshal object into spec.generators/,
  )
})

test('a missing key is an error when it is asked to be', () => {
  const strict = 'goTemplate: true\n  goTemplateOptions: ["missingkey=error"]'
  assert.match(
    failure(() => names('[{clusters: {}}]', "{name: '{{.nope}}'}", strict)),
    /map has no entry for key "nope"/,
  )
  assert.deepEqual(names('[{list: {elements: [{a: b}]}}]', "{name: 'x{{.nope}}'}"), ['x<no value>'])
})

test('a set of each set and its generators counts once', () => {
  const ten = `{list: {elements: [${Array.from({ length: 10 }, (_, at) => `{k${at}: x}`).join(', ')}]}}`
  const matrix = `[{matrix: {generators: [${ten}, ${ten}]}}]`
  const within = (maxSets: number): GenerateInputs => ({ ...INPUTS, limits: { ...GENERATE_LIMITS, maxSets } })
  assert.equal(names(matrix, '{name: x}', undefined, within(210)).length, 100)
  assert.match(
    failure(() => names(matrix, '{name: x}', undefined, within(209))),
    /more than 209 parameter sets/,
  )
})

test('a patch that is nested too deeply is an error', () => {
  const deep = `{"spec": {"source": {"helm": {"valuesObject": {"a": ${'['.repeat(20_000)}${']'.repeat(20_000)}}}}}}`
  const patch = `goTemplate: true\n  templatePatch: '${deep}'`
  assert.match(
    failure(() => names('[{list: {elements: [{name: a}]}}]', undefined, patch)),
    /nested too deeply/,
  )
})

test('limits hold before the work is done', () => {
  const small = {
    ...INPUTS,
    limits: { ...GENERATE_LIMITS, maxSets: 100, maxSteps: 10_000, maxOutput: 10_000, maxTemplate: 500 },
  }
  const many = `{list: {elements: [${Array.from({ length: 40 }, (_, at) => `{k${at}: x}`).join(', ')}]}}`
  assert.match(
    failure(() => names(`[{matrix: {generators: [${many}, ${many}]}}]`, undefined, undefined, small)),
    /more than 100 parameter sets/,
  )
  const one = '[{list: {elements: [{name: a}]}}]'
  const run = (name: string): string => failure(() => names(one, `{name: '${name}'}`, undefined, small))
  assert.match(run('{{ range until 20000 }}{{ end }}'), /more than 10000 steps/)
  assert.match(run('{{ range until 300 }}{{ repeat 100 "x" }}{{ end }}'), /write more than 10000/)
  assert.match(run(`{{ "${'x'.repeat(600)}" }}`), /more than 500 characters/)
  assert.match(run('{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}'), /steps|depth/)
})

test('parameters with dotted names have limits: their names, their levels and their sum', () => {
  const ofFile = (text: string, limits = SERVED_LIMITS): string =>
    failure(() =>
      names(
        '[{git: {repoURL: "https://g/r", revision: main, files: [{path: a.json}]}}]',
        '{name: x}',
        'goTemplate: false',
        {
          ...INPUTS,
          projects: new Set(['default']),
          filesAt: () => revision({ 'a.json': text }),
          limits,
        },
      ),
    )
  const ofPlugin = (answer: readonly JsonObject[], limits = SERVED_LIMITS): string =>
    failure(() =>
      names('[{plugin: {configMapRef: {name: p}}}]', '{name: x}', 'goTemplate: false', {
        ...INPUTS,
        services: { plugin: () => answer },
        limits,
      }),
    )
  const key = 'x'.repeat(900)
  const long = { [key]: { [key]: { [key]: { [key]: { [key]: [0, 0] } } } } }
  const deep = (levels: number): JsonObject =>
    JSON.parse(`${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}`) as JsonObject
  const wide = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, 0]))
  const small = { ...SERVED_LIMITS, maxNames: 1000 }
  assert.match(
    ofFile(JSON.stringify(long)),
    /unable to process file 'a\.json' from repository '.*': parameter "x{60}" has a name of more than 4096 characters; use shorter keys/,
  )
  assert.match(ofPlugin([long]), /error listing params: parameter "x{60}" has a name of more than 4096 characters/)
  assert.match(ofPlugin([deep(101)]), /parameter "a\.a.*" is nested more than 100 levels deep; use fewer levels/)
  assert.match(ofFile(JSON.stringify(wide), small), /a\.json.*more than 1000 characters in sum; .*: split it/)
  assert.match(ofPlugin([wide], small), /more than 1000 characters in sum; .*: split it/)
})

test('the sets of a file or an answer are counted before they are made', () => {
  const limits = { ...SERVED_LIMITS, maxSets: 10 }
  let read = 0
  const item = (): JsonObject => Object.defineProperty({}, 'a', { enumerable: true, get: () => ++read })
  const inputs: GenerateInputs = {
    ...INPUTS,
    limits,
    services: { plugin: () => Array.from({ length: 11 }, item) },
    filesAt: () => revision({ 'a.json': '[{},{},{},{},{},{}]', 'b.json': '[{},{},{},{},{},{}]' }),
  }
  const plugin = '[{plugin: {configMapRef: {name: p}}}]'
  assert.match(
    failure(() => names(plugin, '{name: x}', 'goTemplate: false', inputs)),
    /more than 10 parameter sets/,
  )
  assert.equal(read, 0)
  const files = '[{git: {repoURL: "https://g/r", revision: main, files: [{path: "*.json"}]}}]'
  assert.match(
    failure(() => names(files, '{name: x}', 'goTemplate: false', inputs)),
    /unable to process file 'b\.json'.*more than 10 parameter sets/,
  )
})
