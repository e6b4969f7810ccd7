/** Applications of Applications, on the real controllers in virtual time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Cluster } from '../../../../kinds/native/cluster.ts'
import { build } from '../../../../testing/fixtures/builders.ts'
import { startArgoHome } from '../../../../testing/hub/argo-home.ts'
import type { ArgoHome } from '../../../../testing/hub/argo-home.ts'
import { Application, ApplicationSet, AppProject } from '../../kinds.ts'

const REPO = 'https://git.example.com/apps.git'
const LOCAL = 'https://kubernetes.default.svc'
const RESOURCES = 'resources-finalizer.argocd.argoproj.io'
const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {v: "1"}\n`

const child = (name: string, metadata = '', kind = 'Application') => `apiVersion: argoproj.io/v1alpha1
kind: ${kind}
metadata: {name: ${name}, namespace: argocd${metadata}}
spec:
  project: default
  source: {repoURL: '${REPO}', path: content/${name}, targetRevision: main}
  destination: {name: c1, namespace: shop}
  syncPolicy: {automated: {prune: true, selfHeal: true}}
`
const CONTENT = { 'content/web/cm.yaml': map('web'), 'content/till/cm.yaml': map('till') }
const TREE = { [REPO]: { ...CONTENT, 'apps/web.yaml': child('web'), 'apps/till.yaml': child('till') } }

const root = (syncPolicy: object = {}, finalizers: string[] = []) => {
  const app = build(Application, 'argocd/root', {
    spec: {
      project: 'default',
      source: { repoURL: REPO, path: 'apps', targetRevision: 'main' },
      destination: { server: LOCAL, namespace: 'argocd' },
      syncPolicy,
    },
  })
  return { ...app, metadata: { ...app.metadata, finalizers } }
}
const AUTOMATED = { automated: { prune: true, selfHeal: true } }

const namesIn = async ({ hub }: ArgoHome) =>
  (await hub.client.list(Application)).items.map(({ metadata }) => metadata.name).sort()

async function shownAs({ status }: ArgoHome): Promise<unknown[]> {
  const { sync, health, operationState, conditions = [], resources = [] } = (await status('root')) ?? {}
  const rows = resources.map(({ kind, name, status: state, requiresPruning }) =>
    [kind, name, state, ...(requiresPruning ? ['prune'] : [])].join(' '),
  )
  return [sync?.status, health?.status, operationState?.phase, rows.sort(), conditions.map(({ type }) => type).sort()]
}

const ask = (home: ArgoHome, sync: object = {}) => home.edit('root', (app) => ({ ...app, operation: { sync } }))

async function localHome(t: TestContext, tree: Record<string, Record<string, string>>): Promise<ArgoHome> {
  const home = await startArgoHome(t, tree)
  const body = { spec: { aliases: [{ dialect: 'argo', name: 'local' }] } }
  await home.hub.client.patch(Cluster, { name: 'c2' }, { type: 'merge', body })
  return home
}

test('an automated one follows its content: children are made, healed and removed, and need no local cluster', async (t) => {
  const home = await startArgoHome(t, TREE)
  const { hub, settle, delivered, push, edit } = home
  await hub.create(root(AUTOMATED), Application)
  await settle()
  assert.deepEqual(await namesIn(home), ['root', 'till', 'web'])
  assert.deepEqual(await delivered(), { c1: ['till: shop/till 1', 'web: shop/web 1'] })
  const rows = ['Application till Synced', 'Application web Synced']
  assert.deepEqual(await shownAs(home), ['Synced', 'Healthy', 'Succeeded', rows, []])

  hub.writes.length = 0
  await hub.clock.advance(600_000)
  const written = hub.writes.filter((write) => write.includes('argoproj.io'))
  assert.deepEqual(written, [], 'nothing is written while nothing changes')

  await edit('web', (app) => ({ ...app, spec: { ...app.spec, destination: { name: 'c2', namespace: 'shop' } } }))
  await settle()
  assert.equal((await hub.find(Application, 'argocd/web'))?.spec.destination?.name, 'c1', 'self-heal')

  await push('c2', REPO, { 'apps/till.yaml': undefined, 'apps/web.yaml': child('web', ', labels: {team: pos}') })
  assert.deepEqual(await namesIn(home), ['root', 'web'])
  assert.equal((await hub.find(Application, 'argocd/web'))?.metadata.labels?.['team'], 'pos')
  await settle()
  assert.deepEqual(await delivered(), { c1: ['web: shop/web 1'] })

  await push('c3', REPO, { 'apps/web.yaml': undefined, 'apps/README.md': 'nothing is left' })
  assert.deepEqual(await namesIn(home), ['root', 'web'], 'an empty content removes nothing')
})

test('without automated a sync is asked for, and removes only with prune', async (t) => {
  const home = await localHome(t, { [REPO]: { ...TREE[REPO], 'apps/cm.yaml': map('here') } })
  const { hub, settle, delivered, push } = home
  await hub.create(root(), Application)
  await settle()
  assert.deepEqual(await namesIn(home), ['root'])
  const missing = ['Application till OutOfSync', 'Application web OutOfSync', 'ConfigMap here OutOfSync']
  assert.deepEqual(await shownAs(home), ['OutOfSync', 'Missing', undefined, missing, []])

  await ask(home)
  await settle()
  await settle()
  assert.deepEqual(await namesIn(home), ['root', 'till', 'web'])
  const all = { c1: ['till: shop/till 1', 'web: shop/web 1'], c2: ['root: argocd/here 1'] }
  assert.deepEqual(await delivered(), all, 'the local cluster gets what is not for the hub')
  const synced = missing.map((row) => row.replace('OutOfSync', 'Synced'))
  assert.deepEqual(await shownAs(home), ['Synced', 'Healthy', 'Succeeded', synced, []])

  await push('c2', REPO, { 'apps/till.yaml': undefined })
  await ask(home)
  await settle()
  assert.deepEqual(await namesIn(home), ['root', 'till', 'web'])
  const left = ['Application till OutOfSync prune', 'Application web Synced', 'ConfigMap here Synced']
  assert.deepEqual(await shownAs(home), ['OutOfSync', 'Healthy', 'Succeeded', left, []])
  await ask(home, { prune: true })
  await settle()
  assert.deepEqual(await namesIn(home), ['root', 'web'])
})

test('deleting follows the finalizer', async (t) => {
  for (const [finalizers, left] of [
    [[RESOURCES], []],
    [[], ['till', 'web']],
  ] as const) {
    const home = await startArgoHome(t, TREE)
    await home.hub.create(root(AUTOMATED, [...finalizers]), Application)
    await home.settle()
    assert.deepEqual(await namesIn(home), ['root', 'till', 'web'])
    await home.hub.client.delete(Application, { name: 'root', namespace: 'argocd' })
    await home.settle()
    await home.settle()
    assert.deepEqual(await namesIn(home), left)
  }
})

test('what the content may not bring is left out and said', async (t) => {
  const home = await startArgoHome(t, {
    [REPO]: {
      ...TREE[REPO],
      'apps/web.yaml': child(
        'web',
        `, annotations: {flotilla.dev/secrets: Allow, team: pos}, finalizers: [${RESOURCES}, example.com/stay]`,
      ),
      'apps/other.yaml': child('other').replace('namespace: argocd', 'namespace: default'),
      'apps/root.yaml': child('root'),
      'apps/project.yaml': child('everything', '', 'AppProject'),
      'apps/set.yaml': `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: made, namespace: argocd}
spec: {generators: [{list: {elements: []}}], template: {metadata: {name: x}, spec: {project: default}}}
`,
    },
  })
  const { hub, settle, status } = home
  await hub.create(root(AUTOMATED), Application)
  await settle()
  assert.deepEqual(await namesIn(home), ['root', 'till', 'web'])
  assert.notEqual(await hub.find(ApplicationSet, 'argocd/made'), undefined)
  assert.equal(await hub.find(AppProject, 'argocd/everything'), undefined)
  const { annotations, finalizers } = (await hub.find(Application, 'argocd/web'))!.metadata
  assert.deepEqual(finalizers, [RESOURCES, 'flotilla.dev/removal'])
  assert.deepEqual([annotations?.['team'], annotations?.['flotilla.dev/secrets']], ['pos', undefined])
  const [said] = (await status('root'))?.conditions ?? []
  assert.equal(said?.type, 'FieldWarning')
  for (const sentence of [
    'flotilla.dev/secrets of Application web of the content has no effect; annotate the object on the hub instead',
    'Application other of the content is left out: it is for namespace default, and objects of the content stay in namespace argocd',
    'Application root of the content is left out: it is the Application itself, which is changed on the hub',
    'AppProject everything of the content is left out: it limits users who may write Applications; apply it to the hub',
  ])
    assert.ok(said?.message.includes(sentence), sentence)
})

test('an Application of a person is not taken over until it is handed over', async (t) => {
  const home = await startArgoHome(t, TREE)
  const { hub, settle, status, edit } = home
  const spec = { project: 'default', source: { repoURL: REPO, path: 'content/web' }, destination: { name: 'c2' } }
  await hub.create(build(Application, 'argocd/web', { spec }), Application)
  await hub.create(root(AUTOMATED), Application)
  await settle()
  assert.equal((await hub.find(Application, 'argocd/web'))?.spec.destination?.name, 'c2')
  const shown = await status('root')
  assert.deepEqual([shown?.sync?.status, shown?.health?.status], ['Unknown', 'Degraded'])
  assert.deepEqual(
    shown?.conditions?.map(({ type, message }) => `${type}: ${message}`),
    [
      'SyncError: Application web exists in namespace argocd and was not made from this content; hand it over with: kubectl annotate applications.argoproj.io web -n argocd flotilla.dev/nested-in=root --overwrite',
    ],
  )
  const annotations = { 'flotilla.dev/nested-in': 'root' }
  await edit('web', (app) => ({ ...app, metadata: { ...app.metadata, annotations } }))
  await settle()
  assert.equal((await hub.find(Application, 'argocd/web'))?.spec.destination?.name, 'c1')
  assert.equal((await status('root'))?.sync?.status, 'Synced')
})

test('the AppProject decides about them, and content for a cluster needs one', async (t) => {
  const home = await startArgoHome(t, TREE)
  const { hub, settle, push } = home
  const project = build(AppProject, 'argocd/default', {
    spec: {
      sourceRepos: ['*'],
      destinations: [{ server: '*', namespace: '*' }],
      namespaceResourceBlacklist: [{ group: 'argoproj.io', kind: 'Application' }],
    },
  })
  const made = await hub.create(project, AppProject)
  await hub.create(root(AUTOMATED), Application)
  await settle()
  assert.deepEqual(await namesIn(home), ['root'])
  assert.deepEqual((await shownAs(home))[4], ['InvalidSpecError'])
  const { namespaceResourceBlacklist: _list, ...open } = made.spec
  await hub.client.update(AppProject, { ...made, spec: open })
  await settle()
  assert.deepEqual(await namesIn(home), ['root', 'till', 'web'])

  await push('c2', REPO, { 'apps/cm.yaml': map('here') })
  const [condition] = (await home.status('root'))?.conditions ?? []
  assert.match(
    condition?.message ?? '',
    /^destination https:\/\/kubernetes.default.svc means the Cluster with the alias local of dialect argo, and there is none; set one: /,
  )
  assert.deepEqual(await namesIn(home), ['root', 'till', 'web'], 'nothing is lost')
})
