/** An Application whose destination changes, on the real controllers in virtual time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClusterSet } from '../../../kinds/native/cluster-set.ts'
import { Project } from '../../../kinds/native/project.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { startArgoHome } from '../../../testing/hub/argo-home.ts'
import type { ArgoHome } from '../../../testing/hub/argo-home.ts'
import { Application, AppProject } from '../kinds.ts'

const REPO = 'https://git.example.com/apps.git'
const FILES = { [REPO]: { 'web/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "1"}\n' } }
const AUTOMATED = { syncPolicy: { automated: { prune: true, selfHeal: true } } }
const ON_BOTH = { c1: ['web: shop/web 1'], c2: ['web: shop/web 1'] }

const web = (spec: object = {}) =>
  build(Application, 'argocd/web', {
    spec: {
      project: 'default',
      source: { repoURL: REPO, path: 'web', targetRevision: 'main' },
      destination: { name: 'c1', namespace: 'shop' },
      ...spec,
    },
  })

async function move({ edit, settle }: ArgoHome, name = 'c2'): Promise<void> {
  await edit('web', (app) => ({ ...app, spec: { ...app.spec, destination: { name, namespace: 'shop' } } }))
  await settle()
}

async function sync({ edit, settle }: ArgoHome): Promise<void> {
  await edit('web', (app) => ({ ...app, operation: { sync: {} } }))
  await settle()
}

async function words({ status }: ArgoHome): Promise<(string | undefined)[]> {
  const shown = await status('web')
  return [shown?.sync?.status, shown?.health?.status, shown?.operationState?.phase]
}

const said = async ({ status }: ArgoHome) =>
  ((await status('web'))?.conditions ?? []).map(({ type, message }) => `${type}: ${message}`)

test('an automated Application is delivered to its new destination, and the former one keeps its objects', async (t) => {
  const home = await startArgoHome(t, FILES)
  await home.hub.create(web(AUTOMATED), Application)
  await home.settle()
  await move(home)
  assert.deepEqual(await home.delivered(), ON_BOTH)
  assert.deepEqual(await words(home), ['Synced', 'Healthy', 'Succeeded'])
  const [warning, ...more] = await said(home)
  assert.deepEqual(more, [])
  assert.match(
    warning!,
    /^OrphanedResourceWarning: The objects of the former destination stay on c1\. To give them up: flotilla rollout start web-removal-\S+ -n argocd$/,
  )
  home.hub.writes.length = 0
  await home.hub.clock.advance(600_000)
  assert.deepEqual(
    home.hub.writes.filter((write) => write.includes('argoproj.io') || write.includes('rollouts')),
    [],
    'nothing is written while nothing changes',
  )
})

test('with the resources finalizer the command for the former destination removes the objects', async (t) => {
  const home = await startArgoHome(t, FILES)
  const finalizers = ['resources-finalizer.argocd.argoproj.io']
  await home.hub.create({ ...web(AUTOMATED), metadata: { name: 'web', namespace: 'argocd', finalizers } }, Application)
  await home.settle()
  await move(home)
  assert.deepEqual(await home.delivered(), ON_BOTH)
  assert.match((await said(home)).join(), /stay on c1\. To remove them: flotilla rollout start/)
})

test('without automated the new destination gets nothing until a sync is asked for', async (t) => {
  const home = await startArgoHome(t, FILES)
  await home.hub.create(web(), Application)
  await home.settle()
  await sync(home)
  assert.deepEqual(await home.delivered(), { c1: ['web: shop/web 1'] })
  await move(home)
  assert.deepEqual(await home.delivered(), { c1: ['web: shop/web 1'] })
  assert.deepEqual(await words(home), ['OutOfSync', 'Missing', 'Succeeded'])
  await sync(home)
  assert.deepEqual(await home.delivered(), ON_BOTH)
  assert.deepEqual(await words(home), ['Synced', 'Healthy', 'Succeeded'])
})

test('a closed sync window blocks the new destination', async (t) => {
  const home = await startArgoHome(t, FILES)
  const syncWindows = [{ kind: 'deny', schedule: '* * * * *', duration: '1h', clusters: ['c2'] }]
  const spec = { sourceRepos: ['*'], destinations: [{ name: '*', namespace: '*' }], syncWindows }
  await home.hub.create(build(AppProject, 'argocd/shop', { spec }), AppProject)
  await home.hub.create(web({ ...AUTOMATED, project: 'shop' }), Application)
  await home.settle()
  assert.deepEqual(await home.delivered(), { c1: ['web: shop/web 1'] })
  await move(home)
  assert.deepEqual(await home.delivered(), { c1: ['web: shop/web 1'] })
  assert.ok((await said(home)).some((one) => one.startsWith('SyncBlocked: ')))
})

test('a rollout that a person paused stays paused', async (t) => {
  const home = await startArgoHome(t, FILES)
  const { hub } = home
  await hub.create(web(AUTOMATED), Application)
  await home.settle()
  const [rollout] = (await hub.client.list(Rollout)).items
  await hub.client.update(Rollout, { ...rollout!, spec: { ...rollout!.spec, paused: true } })
  await home.settle()
  await move(home)
  assert.deepEqual(await home.delivered(), { c1: ['web: shop/web 1'] })
  assert.equal((await words(home))[0], 'OutOfSync')
})

test('a destination that the Project of the namespace does not allow is said, and a running sync says it', async (t) => {
  const home = await startArgoHome(t, FILES)
  const { hub } = home
  const [project] = (await hub.client.list(Project)).items.filter(({ spec }) => spec.namespaces?.includes('argocd'))
  const selector = { matchLabels: { env: 'prod' } }
  await hub.create(build(ClusterSet, 'prod', { spec: { access: 'Open', clusterSelector: selector } }), ClusterSet)
  await hub.client.update(Project, { ...project!, spec: { ...project!.spec, clusterSets: ['prod'] } })
  await hub.create(web(AUTOMATED), Application)
  await home.settle()
  await move(home)
  assert.deepEqual(await home.delivered(), { c1: ['web: shop/web 1'] })
  assert.match(
    (await said(home))[0]!,
    /^SyncError: Cluster c2 is not selected: .*no ClusterSet that this namespace may/,
  )
  await sync(home)
  assert.equal((await words(home))[2], 'Running')
  assert.match((await home.status('web'))!.operationState!.message!, /^No cluster is selected: /)
})
