/** bundle import argo: files of users in, objects that validate, render and the hub take out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import { createImportWorkspace } from '../../../testing/hub/import-workspace.ts'
import { importArgo } from './import-argo.ts'
import type { ImportArgoFlags } from './import-argo.ts'
import { render } from '../preview/render.ts'

const REPOSITORY = {
  'apps/till/Chart.yaml': 'apiVersion: v2\nname: till\nversion: 1.0.0\n',
  'apps/till/templates/cm.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}"}\ndata: {host: "{{ .Values.host }}", color: "{{ .Values.color }}"}\n',
  'apps/till/deep/values.yaml': 'color: red\n',
  'common/prod.yaml': 'color: blue\n',
  'apps/shelf/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shelf}\n',
  'apps/shelf/old/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\n',
}

const SET = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: stores, namespace: argocd}
spec:
  goTemplate: true
  generators: [{clusters: {selector: {matchLabels: {env: prod}}}}]
  template:
    metadata: {name: 'till-{{.name}}'}
    spec:
      project: default
      source:
        repoURL: https://git.example.com/apps.git
        targetRevision: main
        path: apps/till
        helm: {releaseName: till, valueFiles: [deep/values.yaml, /common/prod.yaml], valuesObject: {host: '{{.name}}.{{.metadata.labels.region}}'}}
      destination: {name: '{{.name}}', namespace: shop}
      syncPolicy: {automated: {prune: true}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shelf, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec:
  project: default
  source: {repoURL: 'https://git.example.com/apps.git', targetRevision: main, path: apps/shelf}
  destination: {server: 'https://kubernetes.default.svc'}
`

function scene(t: TestContext) {
  const made = createImportWorkspace(t, REPOSITORY, { 'argo.yaml': SET, 'cm.yaml': REPOSITORY['apps/shelf/cm.yaml'] })
  const importing = (from: string, flags: ImportArgoFlags) =>
    importArgo(from, { ...made.run, stdin: made.stdinOf(SET), flags: { root: [made.root], ...flags } })
  return { ...made, importing }
}

test('sets and Applications become objects that validate, render and the hub take', async (t) => {
  const { importing, file, root, run, stdinOf, taken, acceptedByHub, client } = scene(t)
  const cluster = ['https://kubernetes.default.svc=store-1']
  await importing(file('argo.yaml'), { cluster })
  const { out, err } = taken()
  assert.equal(err, 'commit the output to git, or write it to the hub with --apply\n')
  const names = await acceptedByHub(out)
  assert.deepEqual(names, [
    'source.flotilla.dev/apps',
    'placement.flotilla.dev/stores',
    'placement.flotilla.dev/store-1',
    'rolloutplan.flotilla.dev/shelf',
    'bundle.flotilla.dev/till',
    'bundle.flotilla.dev/shelf',
  ])
  const rendered = async (bundle: string) => {
    const flags = { filename: [file('printed.yaml')], root, bundle, cluster: 'store-7', label: ['region=eu'] }
    await render({ ...run, stdin: stdinOf(''), flags })
    return taken().out
  }
  assert.match(
    await rendered('till'),
    /color: blue\n {2}host: store-7\.eu\n.*\nmetadata:\n {2}name: till\n {2}namespace: shop\n/,
  )
  assert.doesNotMatch(await rendered('shelf'), /old/)
  await importing('-', { cluster, apply: true, namespace: 'kube-public' })
  assert.match(taken().err, /► flotilla get bundle till -n kube-public\n/)
  assert.equal((await client.list(Bundle, { namespace: 'kube-public' })).items.length, 2)
})

test('what is not said is asked for, and nothing is written', async (t) => {
  const { importing, file, taken, client } = scene(t)
  const unknown = await expectErrorReport(importing(file('argo.yaml'), {}))
  assert.deepEqual([unknown.exitCode, unknown.what, unknown.where], [1, '1 part cannot be imported', file('argo.yaml')])
  assert.match(unknown.why ?? '', /say --cluster https:\/\/kubernetes\.default\.svc=NAME/)
  assert.match(taken().out, /^# - not imported: Application shelf: destination/m)
  assert.equal((await expectErrorReport(importing(file('argo.yaml'), { apply: true }))).exitCode, 1)
  assert.equal((await client.list(Bundle)).items.length, 0)
  await importing(file('argo.yaml'), { selector: 'env=prod' })
  const cases: readonly (readonly [string, ImportArgoFlags, string])[] = [
    [file('cm.yaml'), {}, 'no Application or ApplicationSet of Argo CD found'],
    [file('argo.yaml'), { cluster: ['store-1'] }, 'invalid --cluster "store-1": must be DESTINATION=NAME'],
    [file('argo.yaml'), { selector: 'a', allClusters: true }, '-l and --all-clusters exclude each other'],
  ]
  for (const [from, flags, what] of cases) {
    const report = await expectErrorReport(importing(from, flags))
    assert.deepEqual([report.exitCode, report.what], [2, what])
  }
})
