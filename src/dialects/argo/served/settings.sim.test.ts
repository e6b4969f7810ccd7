/** ConfigMap `argocd-cm` as users of Argo CD have it, on the real controllers in virtual time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigMap } from '../../../kinds/builtin/core.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Release } from '../../../kinds/native/release.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { startArgoHome } from '../../../testing/hub/argo-home.ts'
import type { ArgoHome } from '../../../testing/hub/argo-home.ts'
import { parseObjectSet } from '../../../wire/document/signed-document.ts'
import { Application } from '../kinds.ts'

const REPO = 'https://git.example.com/apps.git'
const FILES = {
  [REPO]: {
    'web/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "1"}\n',
    'both/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: both}\ndata: {v: "1"}\n',
    'both/widget.yaml': 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n',
    'widgets/widget.yaml': 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 1}\n',
  },
}
const CHECK = 'return {status = obj.status and "Healthy" or "Progressing", message = "m"}'

const app = (path: string) =>
  build(Application, `argocd/${path}`, {
    spec: {
      project: 'default',
      source: { repoURL: REPO, path, targetRevision: 'main' },
      destination: { name: 'c1', namespace: 'shop' },
      syncPolicy: { automated: {} },
    },
  })

function settings(
  data: Record<string, string>,
  labels: Record<string, string> = { 'app.kubernetes.io/part-of': 'argocd' },
) {
  const made = build(ConfigMap, 'argocd/argocd-cm', { data })
  return { ...made, metadata: { ...made.metadata, labels } }
}

async function setOptions({ hub }: ArgoHome, name: string) {
  const set = (await hub.find(Bundle, `argocd/${name}`))?.status?.revision?.set
  assert.ok(set)
  return parseObjectSet((await hub.blobs.get(set))!).options
}

const warnings = async ({ status }: ArgoHome, name: string): Promise<string | undefined> =>
  (await status(name))?.conditions?.find(({ type }) => type === 'FieldWarning')?.message

test('a health check is in the sets that have its kind, and its change concerns no other Application', async (t) => {
  const home = await startArgoHome(t, FILES)
  const { hub, settle } = home
  await hub.create(settings({ 'resource.customizations.health.example.com_Widget': CHECK }), ConfigMap)
  await hub.create(app('web'), Application)
  await hub.create(app('widgets'), Application)
  await settle()
  const health = [{ group: 'example.com', kind: 'Widget', lua: CHECK }]
  assert.deepEqual((await setOptions(home, 'widgets'))?.health, health)
  assert.deepEqual((await setOptions(home, 'web'))?.health, undefined)
  for (const name of ['web', 'widgets']) assert.equal((await setOptions(home, name))?.healthProfile, 'Argo')
  assert.equal(await warnings(home, 'widgets'), undefined)
  assert.ok((await hub.documentOf('c1')).requires.includes('health/v2'))

  const releases = async () => {
    const names = (await hub.client.list(Release)).items.map(({ metadata }) => metadata.name)
    return ['web', 'widgets'].map((name) => names.filter((one) => one.startsWith(`${name}-`)).length)
  }
  assert.deepEqual(await releases(), [1, 1])
  const found = (await hub.find(ConfigMap, 'argocd/argocd-cm'))!
  const data = { 'resource.customizations.health.example.com_Widget': 'return os.time()' }
  await hub.client.update(ConfigMap, { ...found, data })
  await settle()
  assert.deepEqual(await releases(), [1, 2])
  assert.deepEqual((await setOptions(home, 'widgets'))?.health, undefined)
  assert.equal(
    await warnings(home, 'widgets'),
    'ConfigMap argocd-cm: the health check of example.com/Widget is not used: line 1: os is not available',
  )
  assert.equal(await warnings(home, 'web'), undefined)
})

test('ignored differences of a kind join those of an Application', async (t) => {
  const home = await startArgoHome(t, FILES)
  const key = 'resource.customizations.ignoreDifferences'
  const data = {
    [`${key}.example.com_Widget`]: 'jsonPointers: [/spec/size]',
    [`${key}.apps_Deployment`]: 'jsonPointers: [/spec/replicas]',
  }
  await home.hub.create(settings(data), ConfigMap)
  const own = { kind: 'Widget', jsonPointers: ['/spec/color'] }
  const widgets = app('widgets')
  await home.hub.create({ ...widgets, spec: { ...widgets.spec, ignoreDifferences: [own] } }, Application)
  await home.settle()
  assert.deepEqual((await setOptions(home, 'widgets'))?.ignore, [
    { kind: 'Widget', pointers: ['/spec/color'] },
    { group: 'example.com', kind: 'Widget', pointers: ['/spec/size'] },
  ])
})

test('a ConfigMap without the label of Argo CD has no effect', async (t) => {
  const home = await startArgoHome(t, FILES)
  await home.hub.create(settings({ 'resource.customizations.health.example.com_Widget': CHECK }, {}), ConfigMap)
  await home.hub.create(app('widgets'), Application)
  await home.settle()
  assert.equal((await setOptions(home, 'widgets'))?.health, undefined)
})

test('excluded kinds are not delivered, and what was delivered before stays', async (t) => {
  const home = await startArgoHome(t, FILES)
  const { hub, settle, delivered } = home
  await hub.create(app('both'), Application)
  await settle()
  assert.deepEqual(await delivered(), { c1: ['both: shop/both 1', 'both: shop/w'] })
  const exclusion = (kind: string, cluster: string) =>
    `- {apiGroups: ["example.*"], kinds: [${kind}], clusters: ["${cluster}"]}\n`
  const exclusions = exclusion('Widget', 'https://c1.*') + exclusion('Other', 'https://c2.*')
  await hub.create(settings({ 'resource.exclusions': exclusions }), ConfigMap)
  await settle()
  assert.deepEqual(await delivered(), { c1: ['both: shop/both 1'] })
  const found = await hub.find(Bundle, 'argocd/both')
  const selectors = [{ group: 'example.*', kind: 'Widget' }]
  assert.deepEqual([found?.spec.exclude, found?.spec.delete?.orphan], [selectors, selectors])
  const condition = (await home.status('both'))?.conditions?.find(({ type }) => type === 'ExcludedResourceWarning')
  assert.match(condition?.message ?? '', /^Widget shop\/w: excluded by resource\.exclusions of ConfigMap argocd-cm\.$/)

  await hub.create(app('widgets'), Application)
  await settle()
  const rendered = (await hub.find(Bundle, 'argocd/widgets'))?.status?.conditions?.find(
    ({ type }) => type === 'Rendered',
  )
  assert.match(rendered?.message ?? '', /it holds no objects besides those of spec\.exclude/)
})
