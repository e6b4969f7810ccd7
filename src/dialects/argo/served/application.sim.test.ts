/** Applications as users write them, on the real controllers in virtual time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { Project } from '../../../kinds/native/project.ts'
import { Source } from '../../../kinds/native/source.ts'
import type { FetchOutcome } from '../../../source/fetch-request.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startArgoHome } from '../../../testing/hub/argo-home.ts'
import { Application, AppProject } from '../kinds.ts'
import type { ApplicationStatus } from '../kinds.ts'

const REPO = 'https://git.example.com/apps.git'
const FILES = {
  [REPO]: {
    'web/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "1"}\n',
    'web/below/other.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: below}\n',
    'chart/Chart.yaml': 'apiVersion: v2\nname: chart\nversion: 1.0.0\n',
    'chart/values.yaml': 'v: chart\n',
    'chart/templates/cm.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}"}\ndata: {v: "{{ .Values.v }}"}\n',
  },
  'https://git.example.com/values.git': { 'sites/c1.yaml': 'v: site\n' },
}

const web = (spec: object = {}) =>
  build(Application, 'argocd/web', {
    spec: {
      project: 'default',
      source: { repoURL: REPO, path: 'web', targetRevision: 'main' },
      destination: { name: 'c1', namespace: 'shop' },
      ...spec,
    },
  })

const AUTOMATED = { syncPolicy: { automated: { prune: true, selfHeal: true } } }

test('an automated Application is delivered, and its status says so', async (t) => {
  const { hub, settle, delivered, status } = await startArgoHome(t, FILES)
  await hub.create(web(AUTOMATED), Application)
  await settle()
  assert.deepEqual(await delivered(), { c1: ['web: shop/web 1'] })
  const shown = await status('web')
  assert.deepEqual([shown?.sync?.status, shown?.sync?.revision, shown?.health?.status], ['Synced', 'c1', 'Healthy'])
  assert.deepEqual(shown?.conditions, undefined)
  assert.deepEqual(shown?.resources, [
    {
      version: 'v1',
      kind: 'ConfigMap',
      namespace: 'shop',
      name: 'web',
      status: 'Synced',
      health: { status: 'Healthy' },
    },
  ])
  assert.deepEqual(
    shown?.history?.map(({ id, revision, initiatedBy }) => [id, revision, initiatedBy]),
    [[0, 'c1', { automated: true }]],
  )
  assert.equal(shown?.operationState?.phase, 'Succeeded')
  hub.writes.length = 0
  await hub.clock.advance(600_000)
  assert.deepEqual(
    hub.writes.filter((write) => write.includes('argoproj.io') || write.includes('bundles')),
    [],
    'nothing is written while nothing changes',
  )
})

test('without automated nothing is applied until a sync is asked for, and a new commit waits again', async (t) => {
  const { hub, settle, delivered, status, push, edit } = await startArgoHome(t, FILES)
  await hub.create(web(), Application)
  await settle()
  assert.deepEqual(await delivered(), {})
  const shownAs = async () => {
    const shown = await status('web')
    return [shown?.sync?.status, shown?.health?.status, shown?.operationState?.phase]
  }
  assert.deepEqual(await shownAs(), ['OutOfSync', 'Missing', undefined])
  await edit('web', (app) => ({ ...app, operation: { sync: {}, initiatedBy: { username: 'anna' } } }))
  await settle()
  assert.deepEqual(await shownAs(), ['Synced', 'Healthy', 'Succeeded'])
  assert.equal((await hub.find(Application, 'argocd/web'))?.operation, undefined)
  assert.deepEqual((await status('web'))?.history?.[0]?.initiatedBy, { username: 'anna' })
  assert.deepEqual(await delivered(), { c1: ['web: shop/web 1'] })

  await push('c2', REPO, { 'web/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "2"}\n' })
  assert.deepEqual(await shownAs(), ['OutOfSync', 'Healthy', 'Succeeded'])
  assert.deepEqual(await delivered(), { c1: ['web: shop/web 1'] })
  await edit('web', (app) => ({
    ...app,
    metadata: { ...app.metadata, annotations: { ...app.metadata.annotations, 'argocd.argoproj.io/sync': 'now' } },
  }))
  await settle()
  assert.deepEqual(await delivered(), { c1: ['web: shop/web 2'] })
  assert.deepEqual(
    (await status('web'))?.history?.map(({ id, revision }) => [id, revision]),
    [
      [0, 'c1'],
      [1, 'c2'],
    ],
  )
})

test('an operation asks for one fetch, however often the Application is looked at while the repository is fetched', async (t) => {
  const { hub, settle, status, edit } = await startArgoHome(t, FILES)
  hub.serveSources(() => new Promise(() => {}))
  await hub.create({ ...web(), operation: { sync: {} } }, Application)
  for (let pass = 0; pass < 5; pass++) {
    await hub.clock.advance(1000)
    await edit('web', (app) => ({ ...app, metadata: { ...app.metadata, labels: { pass: `${pass}` } } }))
  }
  await settle()
  const polls = hub.writes.filter((write) => write.startsWith('PATCH') && write.includes('/sources/'))
  assert.ok(polls.length <= 2, `the Source is applied, and annotated at most once: ${polls.join()}`)
  assert.equal((await status('web'))?.operationState?.phase, 'Running')
  assert.equal((await hub.find(Application, 'argocd/web'))?.operation, undefined)
})

const words = ({ sync, operationState, history }: ApplicationStatus) => [
  sync?.status,
  sync?.revision,
  operationState?.phase,
  history?.map(({ revision }) => revision),
]

test('a commit that is refused or cannot be rendered is not Synced, and ends no sync', async (t) => {
  const { hub, settle, status, push, edit } = await startArgoHome(t, FILES)
  const [project] = (await hub.client.list(Project)).items.filter(({ spec }) => spec.namespaces?.includes('argocd'))
  await hub.client.update(Project, { ...project!, spec: { ...project!.spec, kinds: ['ConfigMap'] } })
  await hub.create(web(AUTOMATED), Application)
  await settle()
  assert.deepEqual(words((await status('web'))!), ['Synced', 'c1', 'Succeeded', ['c1']])
  const account = 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n'
  await push('c2', REPO, { 'web/account.yaml': account })
  assert.deepEqual(words((await status('web'))!), ['OutOfSync', 'c2', 'Succeeded', ['c1']])
  const said = async () => (await status('web'))?.conditions?.map(({ type, message }) => `${type}: ${message}`)
  assert.match((await said())!.join(), /^InvalidSpecError: .*spec\.kinds does not list ServiceAccount/)
  await edit('web', (app) => ({ ...app, operation: { sync: {} } }))
  await settle()
  assert.deepEqual(words((await status('web'))!), ['OutOfSync', 'c2', 'Running', ['c1']])
  assert.match((await status('web'))!.operationState!.message!, /spec\.kinds does not list ServiceAccount/)
  await push('c3', REPO, { 'web/account.yaml': 'kind: [' })
  assert.deepEqual(words((await status('web'))!), ['Unknown', 'c3', 'Failed', ['c1']])
  await push('c4', REPO, { 'web/account.yaml': undefined })
  assert.deepEqual(words((await status('web'))!), ['Synced', 'c4', 'Succeeded', ['c1', 'c4']])
})

test('a sync waits for the fetch that it asked for, and fails when that fails', async (t) => {
  const { hub, settle, status, edit } = await startArgoHome(t, FILES)
  await hub.create(web(AUTOMATED), Application)
  await settle()
  let answer: (outcome: FetchOutcome) => void = () => {}
  hub.serveSources(() => new Promise((resolve) => (answer = resolve)))
  await edit('web', (app) => ({ ...app, operation: { sync: {}, initiatedBy: { username: 'anna' } } }))
  await settle()
  assert.deepEqual(words((await status('web'))!), ['Synced', 'c1', 'Running', ['c1']])
  assert.equal((await status('web'))?.operationState?.message, 'The repository is being fetched.')
  answer({ kind: 'Failed', reason: 'AuthFailed', message: 'the password is wrong.', retry: false })
  await settle()
  assert.equal((await status('web'))?.operationState?.phase, 'Failed')
  assert.match((await status('web'))!.operationState!.message!, /^Failed to load target state: the password is wrong\./)
})

test('a rollout that a person pauses stays paused', async (t) => {
  const { hub, settle, delivered, push } = await startArgoHome(t, FILES)
  await hub.create(web(AUTOMATED), Application)
  await settle()
  await hub.report('c1', 'Offline')
  await push('c2', REPO, { 'web/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "2"}\n' })
  assert.deepEqual(await delivered(), { c1: ['web: shop/web 2'] })
  const [rollout] = (await hub.client.list(Rollout)).items
  await hub.client.update(Rollout, { ...rollout!, spec: { ...rollout!.spec, paused: true } })
  await settle()
  assert.equal((await hub.find(Rollout, `argocd/${rollout!.metadata.name}`))?.spec.paused, true)
})

test('several sources: a chart with values of another repository', async (t) => {
  const { hub, settle, delivered, status } = await startArgoHome(t, FILES)
  const { source: _, ...rest } = web(AUTOMATED).spec
  const sources = [
    { repoURL: REPO, path: 'chart', helm: { valueFiles: ['values.yaml', '$values/sites/c1.yaml'] } },
    { repoURL: 'https://git.example.com/values.git', ref: 'values' },
  ]
  await hub.create({ ...web(), spec: { ...rest, sources } }, Application)
  await settle()
  assert.deepEqual(await delivered(), { c1: ['web: shop/web site'] })
  assert.deepEqual((await status('web'))?.sync?.revisions, ['c1', 'c1'])
})

test('destinations: server, alias, in-cluster; what is unknown is said', async (t) => {
  const { hub, settle, delivered, status } = await startArgoHome(t, FILES)
  const at = (name: string, destination: object) =>
    hub.create(
      {
        ...web(AUTOMATED),
        metadata: { name, namespace: 'argocd' },
        spec: { ...web(AUTOMATED).spec, destination: { ...destination, namespace: name } },
      },
      Application,
    )
  await at('a', { server: 'https://c2.clusters.flotilla.invalid' })
  await at('b', { server: 'https://kubernetes.default.svc' })
  await at('c', { name: 'nowhere' })
  const pending = buildCluster('c3')
  await hub.create({ ...pending, spec: { ...pending.spec, accepted: false } }, Cluster)
  await at('d', { name: 'c3' })
  await settle()
  assert.deepEqual(await delivered(), { c2: ['a: a/web 1'] })
  const said = async (name: string) =>
    (await status(name))?.conditions?.map(({ type, message }) => `${type}: ${message}`)
  assert.match(
    (await said('b'))![0]!,
    /^InvalidSpecError: destination https:\/\/kubernetes\.default\.svc means the Cluster with the alias local .* kubectl patch clusters/,
  )
  assert.match(
    (await said('c'))![0]!,
    /^InvalidSpecError: there is no accepted Cluster for destination nowhere; "flotilla cluster add"/,
  )
  assert.match((await said('d'))![0]!, /there is no accepted Cluster for destination c3;/)
  assert.equal((await status('c'))?.sync?.status, 'Unknown')
  await hub.client.update(Cluster, { ...(await hub.find(Cluster, 'c3'))!, spec: { ...pending.spec, accepted: true } })
  await settle()
  assert.deepEqual(Object.keys(await delivered()).sort(), ['c2', 'c3'])
})

test('an AppProject limits repositories, destinations and kinds; both it and the Project must allow', async (t) => {
  const { hub, settle, delivered, status, edit } = await startArgoHome(t, FILES)
  const project = (spec: object) =>
    build(AppProject, 'argocd/shop', {
      spec: { sourceRepos: [REPO], destinations: [{ name: 'c1', namespace: 'shop' }], ...spec },
    })
  await hub.create(web({ ...AUTOMATED, project: 'shop' }), Application)
  await settle()
  const said = async () => (await status('web'))?.conditions?.map(({ message }) => message)
  assert.deepEqual(await said(), ['application references project shop which does not exist'])
  await hub.create(project({ namespaceResourceBlacklist: [{ group: '', kind: 'ConfigMap' }] }), AppProject)
  await settle()
  assert.deepEqual(await said(), ['resource ConfigMap shop/web is not permitted in project shop'])
  assert.deepEqual(await delivered(), {})
  const found = await hub.find(AppProject, 'argocd/shop')
  await hub.client.update(AppProject, { ...found!, spec: project({}).spec })
  await settle()
  assert.deepEqual(await said(), undefined)
  assert.deepEqual(await delivered(), { c1: ['web: shop/web 1'] })
  await edit('web', (app) => ({ ...app, spec: { ...app.spec, destination: { name: 'c2', namespace: 'shop' } } }))
  await settle()
  assert.deepEqual(await said(), [
    "application destination server 'https://c2.clusters.flotilla.invalid' and namespace 'shop' do not match any of the allowed destinations in project 'shop'",
  ])
  assert.deepEqual(await delivered(), { c1: ['web: shop/web 1'] }, 'a refused change takes nothing away')
})

test('a sync window that is closed blocks an automated sync until it opens', async (t) => {
  const { hub, settle, delivered, status } = await startArgoHome(t, FILES)
  const syncWindows = [{ kind: 'deny', schedule: '* * * * *', duration: '1h', applications: ['*'] }]
  const spec = { sourceRepos: ['*'], destinations: [{ name: '*', namespace: '*' }], syncWindows }
  await hub.create(build(AppProject, 'argocd/shop', { spec }), AppProject)
  await hub.create(web({ ...AUTOMATED, project: 'shop' }), Application)
  await settle()
  assert.deepEqual(await delivered(), {})
  assert.deepEqual(
    (await status('web'))?.conditions?.map(({ type }) => type),
    ['SyncBlocked'],
  )
  const found = await hub.find(AppProject, 'argocd/shop')
  await hub.client.update(AppProject, { ...found!, spec: { ...spec, syncWindows: [] } })
  await settle()
  assert.deepEqual(await delivered(), { c1: ['web: shop/web 1'] })
})

test('deleting follows the finalizer of Argo CD', async (t) => {
  const { hub, settle, delivered } = await startArgoHome(t, FILES)
  await hub.create(web(AUTOMATED), Application)
  const kept = {
    ...web(AUTOMATED),
    metadata: { name: 'gone', namespace: 'argocd', finalizers: ['resources-finalizer.argocd.argoproj.io'] },
  }
  await hub.create({ ...kept, spec: { ...kept.spec, destination: { name: 'c2', namespace: 'gone' } } }, Application)
  await settle()
  const bundle = await hub.find(Bundle, 'argocd/web')
  assert.equal(bundle?.spec.delete?.bundleDeleted, 'Orphan')
  assert.equal((await hub.find(Bundle, 'argocd/gone'))?.spec.delete?.bundleDeleted, undefined)
  for (const name of ['web', 'gone']) await hub.client.delete(Application, { namespace: 'argocd', name })
  await settle()
  assert.deepEqual(await delivered(), {})
  const tombstones = async (cluster: string) =>
    (await hub.documentOf(cluster)).content.tombstones.map(({ bundle: id, policy }) => [id, policy])
  assert.deepEqual(await tombstones('c1'), [['argocd/web', 'Orphan']])
  assert.deepEqual(await tombstones('c2'), [['argocd/gone', 'Delete']])
  assert.equal(await hub.find(Application, 'argocd/web'), undefined)
  assert.notEqual(await hub.find(Application, 'argocd/gone'), undefined, 'it stays until the agent confirms')
})

test('a broken repository and a broken chart are said, and lose nothing', async (t) => {
  const { hub, settle, delivered, status, push } = await startArgoHome(t, FILES)
  await hub.create(
    web({ ...AUTOMATED, source: { repoURL: 'https://git.example.com/none.git', path: '.' } }),
    Application,
  )
  await settle()
  const said = async () => (await status('web'))?.conditions?.map(({ type, message }) => `${type}: ${message}`)
  assert.deepEqual(await said(), [
    'ComparisonError: Failed to load target state: there is no repository. There is no artifact yet.',
  ])
  const found = await hub.find(Application, 'argocd/web')
  await hub.client.update(Application, { ...found!, spec: web(AUTOMATED).spec })
  await settle()
  assert.deepEqual(await delivered(), { c1: ['web: shop/web 1'] })
  await push('c3', REPO, { 'web/cm.yaml': 'kind: [' })
  assert.match((await said())![0]!, /^ComparisonError: Failed to generate manifests: /)
  assert.deepEqual(await delivered(), { c1: ['web: shop/web 1'] })
  assert.equal((await hub.client.list(Source)).items.length, 1, 'the Source of before is gone')
})
