/** What the content of an Application cannot do to the hub, on the real controllers in virtual time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Source } from '../../../../kinds/native/source.ts'
import { build } from '../../../../testing/fixtures/builders.ts'
import { startArgoHome } from '../../../../testing/hub/argo-home.ts'
import type { ArgoHome } from '../../../../testing/hub/argo-home.ts'
import { Application, ApplicationSet, AppProject } from '../../kinds.ts'

const REPO = 'https://git.example.com/apps.git'
const LOCAL = 'https://kubernetes.default.svc'
const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {v: "1"}\n`

const child = (name: string, project = 'default') => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: ${name}, namespace: argocd}
spec:
  project: ${project}
  source: {repoURL: '${REPO}', path: content, targetRevision: main}
  destination: {name: c1, namespace: shop}
`
const root = (spec: object = {}) =>
  build(Application, 'argocd/root', {
    spec: {
      project: 'default',
      source: { repoURL: REPO, path: 'apps', targetRevision: 'main' },
      destination: { server: LOCAL, namespace: 'argocd' },
      syncPolicy: { automated: { prune: true, selfHeal: true } },
      ...spec,
    },
  })
const nestedSet = (generator: object, metadata: object, project = 'default') =>
  JSON.stringify({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'ApplicationSet',
    metadata: { name: 'made', namespace: 'argocd' },
    spec: {
      generators: [generator],
      template: {
        metadata,
        spec: { project, source: { repoURL: REPO, path: 'content' }, destination: { name: 'c2', namespace: 'shop' } },
      },
    },
  })
const list = (...names: string[]) => ({ list: { elements: names.map((name) => ({ name })) } })

const namesIn = async ({ hub }: ArgoHome) =>
  (await hub.client.list(Application)).items.map(({ metadata }) => metadata.name).sort()
const conditionsOf = async (home: ArgoHome, name = 'root') =>
  ((await home.status(name))?.conditions ?? []).map(({ type, message }) => `${type}: ${message}`)
const errorOf = async ({ hub }: ArgoHome) =>
  (await hub.find(ApplicationSet, 'argocd/made'))?.status?.conditions?.find(
    ({ type, status }) => type === 'ErrorOccurred' && status === 'True',
  )?.message

/** AppProject `default` with a limit; a fresh one has none. */
const limited = () =>
  build(AppProject, 'argocd/default', {
    spec: { sourceRepos: ['https://git.example.com/*'], destinations: [{ server: '*', name: '*', namespace: '*' }] },
  })

async function start(t: Parameters<typeof startArgoHome>[0], apps: Record<string, string>, spec: object = {}) {
  const files = Object.fromEntries(Object.entries(apps).map(([name, text]) => [`apps/${name}`, text]))
  const home = await startArgoHome(t, { [REPO]: { 'content/cm.yaml': map('web'), ...files } })
  await home.hub.create(limited(), AppProject)
  await home.hub.create(root(spec), Application)
  await home.settle()
  return home
}

test('too many objects are an error that writes and removes nothing, also when a sync prunes', async (t) => {
  const home = await start(t, { 'web.yaml': child('web'), 'till.yaml': child('till') }, { syncPolicy: {} })
  await home.edit('root', (app) => ({ ...app, operation: { sync: {} } }))
  await home.settle()
  await home.settle()
  assert.deepEqual(await namesIn(home), ['root', 'till', 'web'])
  const many = Array.from({ length: 501 }, (_one, at) => child(`app-${at}`)).join('---\n')
  await home.push('c2', REPO, { 'apps/web.yaml': many, 'apps/till.yaml': undefined })
  await home.edit('root', (app) => ({ ...app, operation: { sync: { prune: true } } }))
  await home.settle()
  await home.settle()
  assert.deepEqual(await namesIn(home), ['root', 'till', 'web'])
  const sentence =
    'the content has 501 objects of Argo CD, and at most 500 are supported; none of them is written or removed: split the content into several Applications'
  assert.deepEqual(await conditionsOf(home), [`ComparisonError: ${sentence}`])
  const { phase, message } = (await home.status('root'))?.operationState ?? {}
  assert.deepEqual([phase, message], ['Error', sentence])
})

test('an object that is left out is not removed while the content names it', async (t) => {
  const home = await start(t, { 'web.yaml': child('web'), 'till.yaml': child('till'), 'z.yaml': child('z') })
  assert.deepEqual(await namesIn(home), ['root', 'till', 'web', 'z'])
  const other = child('web').replace('v1alpha1', 'v1')
  await home.push('c2', REPO, { 'apps/web.yaml': other, 'apps/till.yaml': undefined })
  await home.settle()
  assert.deepEqual(await namesIn(home), ['root', 'web', 'z'], 'what the content does not name is removed')
  const rows = (await home.status('root'))?.resources?.map(({ name, status, requiresPruning }) => [
    name,
    status,
    requiresPruning,
  ])
  assert.deepEqual(rows, [
    ['z', 'Synced', undefined],
    ['web', 'OutOfSync', undefined],
  ])
  assert.deepEqual(await conditionsOf(home), [
    'FieldWarning: Application web of the content is left out: version argoproj.io/v1 is not served',
  ])
})

test('a sync ends when all objects of the content are left out', async (t) => {
  const home = await start(t, { 'root.yaml': child('root') }, { syncPolicy: {} })
  await home.edit('root', (app) => ({ ...app, operation: { sync: {} } }))
  await home.settle()
  await home.settle()
  assert.equal((await home.status('root'))?.operationState?.phase, 'Succeeded')
  assert.deepEqual(await conditionsOf(home), [
    'FieldWarning: Application root of the content is left out: it is the Application itself, which is changed on the hub',
  ])
})

test('Applications of Applications end at three levels', async (t) => {
  const level = (name: string, next: string) => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: ${name}, namespace: argocd}
spec:
  project: default
  source: {repoURL: '${REPO}', path: ${next}, targetRevision: main}
  destination: {server: '${LOCAL}', namespace: argocd}
  syncPolicy: {automated: {prune: true}}
`
  const set = nestedSet(list('two'), { name: '{{name}}' }).replace(
    /"spec":\{"project".*?"destination":\{.*?\}\}/,
    `"spec":${JSON.stringify({
      project: 'default',
      source: { repoURL: REPO, path: 'b' },
      destination: { server: LOCAL, namespace: 'argocd' },
      syncPolicy: { automated: {} },
    })}`,
  )
  const home = await startArgoHome(t, {
    [REPO]: {
      'apps/one.yaml': level('one', 'a'),
      'a/set.yaml': set,
      'b/three.yaml': level('three', 'c'),
      'c/four.yaml': level('four', 'd'),
      'd/cm.yaml': map('deep'),
    },
  })
  await home.hub.create(root(), Application)
  for (let round = 0; round < 4; round++) await home.settle()
  assert.deepEqual(await namesIn(home), ['one', 'root', 'three', 'two'])
  assert.deepEqual(await conditionsOf(home, 'three'), [
    'ComparisonError: the content has Application four, and Application three is already 3 levels below an Application of a user; at most 3 are supported, and nothing of the content is written or removed',
  ])
})

test('what the content names stays in the AppProject of its Application', async (t) => {
  const home = await start(t, { 'web.yaml': child('web', 'admin'), 'till.yaml': child('till') })
  assert.deepEqual(await namesIn(home), ['root', 'till'])
  const sentence =
    'Application web of the content is refused: it names AppProject admin, and the content of Application root stays in AppProject default'
  assert.deepEqual(await conditionsOf(home), [`SyncError: ${sentence}`])
  assert.equal((await home.status('root'))?.health?.status, 'Degraded')

  await home.push('c2', REPO, { 'apps/web.yaml': child('web') })
  assert.deepEqual(await namesIn(home), ['root', 'till', 'web'])
  assert.deepEqual(await conditionsOf(home), [])
  await home.push('c3', REPO, { 'apps/web.yaml': child('web', 'admin') })
  assert.deepEqual(await namesIn(home), ['root', 'till', 'web'], 'a refused object is not removed')
  assert.equal((await home.hub.find(Application, 'argocd/web'))?.spec.project, 'default')
})

test('the content of an Application whose AppProject limits nothing names any AppProject, in sets, too', async (t) => {
  const home = await startArgoHome(t, {
    [REPO]: {
      'content/cm.yaml': map('web'),
      'apps/web.yaml': child('web', 'team'),
      'apps/set.yaml': nestedSet(list('own'), { name: '{{name}}' }, 'team'),
    },
  })
  const spec = { sourceRepos: [REPO], destinations: [{ server: '*', name: '*', namespace: 'shop' }] }
  await home.hub.create(build(AppProject, 'argocd/team', { spec }), AppProject)
  await home.hub.create(root(), Application)
  await home.settle()
  assert.deepEqual(await namesIn(home), ['own', 'root', 'web'])
  assert.deepEqual(await conditionsOf(home), [])
  // The AppProject gets a limit: what is there stays as it is, and the next change is refused.
  await home.hub.create(limited(), AppProject)
  await home.push('c2', REPO, { 'apps/web.yaml': `${child('web', 'team')}  revisionHistoryLimit: 3\n` })
  assert.deepEqual(await namesIn(home), ['own', 'root', 'web'])
  assert.match(
    (await conditionsOf(home)).join(),
    /SyncError: Application web of the content is refused: it names AppProject team/,
  )
})

test('a set of the content takes no Application over, not even its own outer one', async (t) => {
  const home = await start(t, { 'cm.yaml': child('till') })
  const spec = { project: 'default', source: { repoURL: REPO, path: 'content' }, destination: { name: 'c1' } }
  await home.hub.create(build(Application, 'argocd/mine', { spec }), Application)
  await home.push('c2', REPO, { 'apps/set.yaml': nestedSet(list('root', 'mine', 'own'), { name: '{{name}}' }) })
  await home.settle()
  assert.deepEqual(await namesIn(home), ['mine', 'own', 'root', 'till'])
  for (const name of ['mine', 'root'])
    assert.equal((await home.hub.find(Application, `argocd/${name}`))?.metadata.ownerReferences, undefined, name)
  assert.equal((await home.hub.find(Application, 'argocd/mine'))?.spec.destination?.name, 'c1')
  assert.match(
    (await errorOf(home)) ?? '',
    /^Application mine was not made by ApplicationSet made, which is from the content of Application root; change metadata\.name in the template, or delete the Application; Application root was not made/,
  )
})

test('a set of the content neither sets annotations of the hub nor names another AppProject', async (t) => {
  for (const [key, value] of [
    ['flotilla.dev/secrets', 'Allow'],
    ['flotilla.dev/nested-in', 'other'],
  ] as const) {
    const home = await start(t, {
      'set.yaml': nestedSet(list('own'), { name: '{{name}}', annotations: { [key]: value } }),
    })
    assert.deepEqual(await namesIn(home), ['root'])
    assert.equal(
      await errorOf(home),
      `annotation ${key} of Application own is refused, because ApplicationSet made is from the content of Application root; annotate the Application on the hub instead`,
    )
  }
  const git = { git: { repoURL: 'https://git.example.com/admin.git', revision: 'main', directories: [{ path: '*' }] } }
  for (const [generator, project] of [
    [list('own'), 'admin'],
    [{ list: { elements: [{ name: 'own' }], template: { metadata: {}, spec: { project: 'admin' } } } }, 'default'],
    [git, 'admin'],
  ] as const) {
    const home = await startArgoHome(t, {
      [REPO]: { 'apps/set.yaml': nestedSet(generator, { name: 'own' }, project), 'content/cm.yaml': map('web') },
      'https://git.example.com/admin.git': { 'own/cm.yaml': map('web') },
    })
    const open = { sourceRepos: ['*'], destinations: [{ server: '*', namespace: '*' }] }
    await home.hub.create(build(AppProject, 'argocd/admin', { spec: open }), AppProject)
    await home.hub.create(limited(), AppProject)
    await home.hub.create(root(), Application)
    await home.settle()
    assert.deepEqual(await namesIn(home), ['root'])
    assert.equal(
      await errorOf(home),
      'Application own is refused: it names AppProject admin, and the content of Application root stays in AppProject default',
    )
  }
})

test('a set of the content sends no token to a service that it names', async (t) => {
  const tokenRef = { secretName: 'token', key: 'token' }
  const api = 'https://hostile.example.com'
  for (const [generator, refused] of [
    [{ scmProvider: { github: { organization: 'x', api, tokenRef } } }, 'scmProvider with tokenRef'],
    [{ pullRequest: { gitlab: { project: 'x', api, tokenRef } } }, 'pullRequest with tokenRef'],
    [{ plugin: { configMapRef: { name: 'plugin' } } }, 'plugin'],
    [{ matrix: { generators: [list('a'), { plugin: { configMapRef: { name: 'plugin' } } }] } }, 'plugin'],
  ] as const) {
    const home = await start(t, { 'set.yaml': nestedSet(generator, { name: 'own' }) })
    assert.match(
      (await errorOf(home)) ?? '',
      new RegExp(
        `generator ${refused} is refused, because ApplicationSet made is from the content of Application root`,
      ),
    )
    assert.equal((await home.hub.client.list(Source)).items.length, 1)
  }
})
