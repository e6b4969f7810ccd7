/** What an Application says about its sources reaches the cluster, on the real controllers in virtual time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from '../../../testing/fixtures/builders.ts'
import { startArgoHome } from '../../../testing/hub/argo-home.ts'
import { Application } from '../kinds.ts'

const REPO = 'https://git.example.com/apps.git'
const CONFIG = 'https://git.example.com/config.git'
const cm = (name: string, value = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {v: "${value}"}\n`
const FILES = {
  [REPO]: {
    'web/kustomization.yaml': 'resources: [../base]\n',
    'base/kustomization.yaml': 'resources: [cm.yaml]\n',
    'base/cm.yaml': cm('web', '1'),
    'plain/a.yaml': cm('a'),
    'plain/b.yaml': cm('b'),
    'plain/deep/c.yaml': cm('c'),
    'chart/Chart.yaml': 'apiVersion: v2\nname: chart\nversion: 1.0.0\n',
    'chart/crds/crd.yaml': cm('from-crds'),
    'chart/motd.txt': 'hello',
    'chart/values.schema.json': '{"properties": {"zone": {"type": "integer"}}}',
    'chart/templates/cm.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}"}\ndata: {v: "{{ .Values.motd }} {{ .Values.zone }} {{ .Values.commit }} {{ .Capabilities.KubeVersion }} {{ .Release.Namespace }}"}\n',
  },
  [CONFIG]: { 'site/1.yaml': 'zone: a\n', 'site/2.yaml': 'zone: b\n' },
}

const app = (name: string, spec: object) =>
  build(Application, `argocd/${name}`, {
    spec: {
      project: 'default',
      destination: { name: 'c1', namespace: 'shop' },
      syncPolicy: { automated: { prune: true } },
      ...spec,
    },
  })

test('overrides of a kustomization, and a changed base below another path', async (t) => {
  const { hub, settle, delivered, push, status } = await startArgoHome(t, FILES)
  const kustomize = { namePrefix: 'a-', namespace: 'tills', commonLabels: { app: 'x' } }
  await hub.create(app('web', { source: { repoURL: REPO, path: 'web', kustomize } }), Application)
  await settle()
  assert.deepEqual(await delivered(), { c1: ['web: tills/a-web 1'] })
  await push('c2', REPO, { 'base/cm.yaml': cm('web', '2') })
  assert.deepEqual(await delivered(), { c1: ['web: tills/a-web 2'] })
  await push('c3', REPO, { 'web/kustomization.yaml': 'resources: [../base]\ncommonLabels: {app: own}\n' })
  assert.deepEqual(await delivered(), { c1: ['web: tills/a-web 2'] }, 'what runs stays')
  const [condition] = (await status('web'))?.conditions ?? []
  assert.equal(condition?.type, 'ComparisonError')
  assert.match(
    condition.message,
    /at main@sha1:c3: label app already in kustomization file\. Clusters keep what they run\./,
  )
})

test('patterns of a directory', async (t) => {
  const { hub, settle, delivered } = await startArgoHome(t, FILES)
  const directory = { recurse: true, exclude: '{a.yaml,*/none}' }
  await hub.create(app('plain', { source: { repoURL: REPO, path: 'plain', directory } }), Application)
  await settle()
  assert.deepEqual(await delivered(), { c1: ['plain: shop/b', 'plain: shop/c'] })
})

test('options of charts: patterns of another source, files as values, the commit, no CRDs, no schema', async (t) => {
  const { hub, settle, delivered, push } = await startArgoHome(t, FILES)
  const helm = {
    valueFiles: ['$config/site/*.yaml'],
    fileParameters: [{ name: 'motd', path: 'motd.txt' }],
    parameters: [{ name: 'commit', value: '$ARGOCD_APP_REVISION_SHORT' }],
    skipCrds: true,
    skipSchemaValidation: true,
    kubeVersion: '1.29.3',
    namespace: 'seen',
  }
  const sources = [
    { repoURL: REPO, path: 'chart', helm },
    { repoURL: CONFIG, ref: 'config' },
  ]
  await hub.create(app('web', { sources }), Application)
  await settle()
  assert.deepEqual(await delivered(), { c1: ['web: shop/web hello b c1 v1.29.3 seen'] })
  await push('c2', REPO, { 'chart/motd.txt': 'bye' })
  await push('c9', CONFIG, { 'site/3.yaml': 'zone: c\n' })
  assert.deepEqual(await delivered(), { c1: ['web: shop/web bye c c2 v1.29.3 seen'] })
})
