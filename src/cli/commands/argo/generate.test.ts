/** argo generate: files and clones in, a List of Applications or one error out. */
import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { createImportWorkspace } from '../../../testing/hub/import-workspace.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { generate } from './generate.ts'
import type { GenerateFlags } from './generate.ts'

const REPOSITORY = { 'apps/web/a.yaml': 'x: 1\n', 'apps/api/b.yaml': 'x: 1\n' }
const SET = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: stores, namespace: argocd}
spec:
  goTemplate: true
  generators:
  - matrix:
      generators:
      - git: {repoURL: 'git@git.example.com:apps.git', revision: main, directories: [{path: apps/*}]}
      - clusters: {selector: {matchLabels: {env: prod}}}
  template:
    metadata: {name: '{{.path.basename}}-{{.name}}'}
    spec:
      project: default
      source: {repoURL: 'git@git.example.com:apps.git', targetRevision: main, path: '{{.path.path}}'}
      destination: {server: '{{.server}}'}
`
const CLUSTERS = `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Secret
  metadata: {name: c, namespace: argocd, labels: {argocd.argoproj.io/secret-type: cluster, env: prod}}
  stringData: {name: store-1, server: 'https://1'}
- apiVersion: argoproj.io/v1alpha1
  kind: AppProject
  metadata: {name: default, namespace: argocd}
`

function scene(t: TestContext) {
  const files = { 'set.yaml': SET, 'clusters.yaml': CLUSTERS, 'slip.yaml': SET.replace('clusters:', 'cluster:') }
  const made = createImportWorkspace(t, REPOSITORY, { ...files, 'bad.yaml': 'a: [', 'pod.yaml': 'kind: Pod\n' })
  const run = async (names: readonly string[], flags: GenerateFlags = {}): Promise<string> => {
    const root = [`git@git.example.com:apps.git@main=${made.root}`]
    await generate({ terminal: made.run.terminal, flags: { filename: names.map(made.file), root, ...flags } })
    return made.taken().out
  }
  return { ...made, generating: run }
}

async function failure(run: Promise<unknown>): Promise<CliError> {
  const caught = await run.then(
    () => assert.fail('no error'),
    (error: unknown) => error,
  )
  assert.ok(caught instanceof CliError, String(caught))
  return caught
}

test('a List of Applications, sorted by name, as JSON and YAML', async (t) => {
  const { generating } = scene(t)
  const json = JSON.parse(await generating(['set.yaml', 'clusters.yaml'], { output: 'json' })) as {
    readonly kind: string
    readonly items: readonly { readonly metadata: { readonly name: string } }[]
  }
  assert.equal(json.kind, 'List')
  assert.deepEqual(
    json.items.map(({ metadata }) => metadata.name),
    ['api-store-1', 'web-store-1'],
  )
  const yaml = await generating(['set.yaml', 'clusters.yaml'])
  assert.deepEqual(readFirstYaml(yaml).value, json)
})

test('errors of sets, files and flags', async (t) => {
  const { generating, root } = scene(t)
  const missing = await failure(generating(['set.yaml']))
  assert.equal(missing.exitCode, EXIT.failed)
  assert.match(missing.report.what, /error getting project default/)
  assert.match((await failure(generating(['slip.yaml', 'clusters.yaml']))).report.what, /did you mean "clusters"\?/)
  assert.equal((await failure(generating(['bad.yaml']))).exitCode, EXIT.failed)
  assert.match((await failure(generating(['pod.yaml']))).report.what, /no ApplicationSet found/)
  const wrong = await failure(generating(['set.yaml'], { root: ['https://git.example.com/x=.'] }))
  assert.deepEqual([wrong.exitCode, wrong.report.what.includes('URL@REVISION=DIR')], [EXIT.usage, true])
  const none = await failure(generating(['set.yaml'], { root: [`https://x@main=${root}/none`] }))
  assert.equal(none.exitCode, EXIT.usage)
})

test('a link out of the clone is refused', async (t) => {
  const { generating, root } = scene(t)
  symlinkSync('/etc/hostname', join(root, 'apps/web/out.yaml'))
  assert.match((await failure(generating(['set.yaml', 'clusters.yaml']))).report.what, /refuse the repository/)
})
