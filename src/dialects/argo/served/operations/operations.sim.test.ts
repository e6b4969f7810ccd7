/** Syncs to other revisions, rollbacks, options of a sync and terminated operations, in virtual time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../../core/json.ts'
import { Bundle } from '../../../../kinds/native/bundle.ts'
import { Rollout } from '../../../../kinds/native/rollout.ts'
import { Source } from '../../../../kinds/native/source.ts'
import { build } from '../../../../testing/fixtures/builders.ts'
import { startArgoHome } from '../../../../testing/hub/argo-home.ts'
import type { ArgoHome } from '../../../../testing/hub/argo-home.ts'
import { Application, AppProject } from '../../kinds.ts'
import type { Operation } from '../../kinds.ts'

const REPO = 'https://git.example.com/apps.git'
const cm = (value: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "${value}"}\n`
const FILES = { [REPO]: { 'web/cm.yaml': cm('1'), 'web/old.yaml': cm('x').replace('web', 'old') } }
const [FIRST, SECOND] = ['1'.repeat(40), '2'.repeat(40)]

const web = (spec: object = {}) =>
  build(Application, 'argocd/web', {
    spec: {
      project: 'default',
      source: { repoURL: REPO, path: 'web', targetRevision: 'main' },
      destination: { name: 'c1', namespace: 'shop' },
      ...spec,
    },
  })

/** A home whose repository has two commits, of which the Application has the second. */
async function synced(t: TestContext) {
  const home = await startArgoHome(t, FILES)
  const ask = async (operation: Operation) => {
    await home.edit('web', (app) => ({ ...app, operation: { ...operation, initiatedBy: { username: 'anna' } } }))
    await home.settle()
    return (await home.status('web'))!
  }
  await home.hub.create(web(), Application)
  await home.push(FIRST, REPO, { 'web/cm.yaml': cm('1') })
  await ask({ sync: {} })
  await home.push(SECOND, REPO, { 'web/cm.yaml': cm('2'), 'web/old.yaml': undefined })
  const status = await ask({ sync: {} })
  assert.equal(status.operationState?.phase, 'Succeeded')
  return { ...home, ask }
}

const content = async ({ delivered }: ArgoHome) => (await delivered())['c1']
const bundleSpec = async ({ hub }: ArgoHome) => (await hub.find(Bundle, 'argocd/web'))!.spec

test('a rollback delivers the revision of the history, stays there, and the next sync goes on', async (t) => {
  const home = await synced(t)
  assert.deepEqual(await content(home), ['web: shop/web 2'])
  const history = (await home.status('web'))!.history!
  assert.deepEqual(
    history.map(({ id, revision }) => [id, revision]),
    [
      [0, FIRST],
      [1, SECOND],
    ],
  )
  const { revision, source } = history[0]!
  const rolledBack = await home.ask({ sync: { revision: revision!, source: source!, syncStrategy: { apply: {} } } })
  assert.deepEqual(await content(home), ['web: shop/old x', 'web: shop/web 1'])
  const { sync, operationState, history: after } = rolledBack
  assert.deepEqual([sync?.status, sync?.revision, operationState?.phase], ['OutOfSync', SECOND, 'Succeeded'])
  assert.deepEqual([after?.length, after?.at(-1)?.revision, after?.at(-1)?.source], [3, FIRST, source])
  assert.equal((await bundleSpec(home)).hooks, 'Skip')
  // A newer commit changes nothing, as without a sync.
  await home.push('3'.repeat(40), REPO, { 'web/cm.yaml': cm('3') })
  assert.deepEqual(await content(home), ['web: shop/old x', 'web: shop/web 1'])
  const next = await home.ask({ sync: {} })
  assert.deepEqual(await content(home), ['web: shop/web 3'])
  assert.deepEqual([next.sync?.status, next.operationState?.phase], ['Synced', 'Succeeded'])
  assert.equal((await bundleSpec(home)).hooks, undefined)
  const sources = await home.hub.client.list(Source)
  assert.equal(sources.items.length, 1, 'the pinned Source is gone')
})

test('a sync to a revision that is not there fails and changes nothing', async (t) => {
  const home = await synced(t)
  const writes = home.hub.writes.length
  const status = await home.ask({ sync: { source: { repoURL: 'https://git.example.com/other.git', path: 'x' } } })
  assert.deepEqual([status.operationState?.phase, status.sync?.status], ['Failed', 'Synced'])
  assert.match(status.operationState!.message!, /is neither the source of the Application nor one of its history/)
  assert.deepEqual(await content(home), ['web: shop/web 2'])
  assert.ok(home.hub.writes.length > writes)
})

test('a project that no longer permits a source of the history stops the rollback', async (t) => {
  const NEW = 'https://git.example.com/new.git'
  const other = await startArgoHome(t, { ...FILES, [NEW]: FILES[REPO] })
  const project = (sourceRepos: string[]) =>
    build(AppProject, 'argocd/shop', { spec: { sourceRepos, destinations: [{ server: '*', namespace: '*' }] } })
  await other.hub.create(project([REPO]), AppProject)
  await other.hub.create(web({ project: 'shop' }), Application)
  await other.push(FIRST, REPO, {})
  const status = async () => (await other.status('web'))!
  await other.edit('web', (app) => ({ ...app, operation: { sync: {} } }))
  await other.settle()
  assert.equal((await status()).history?.length, 1)
  const moved = { repoURL: NEW, path: 'web', targetRevision: 'main' }
  await other.edit('web', (app) => ({ ...app, spec: { ...app.spec, source: moved } }))
  const found = (await other.hub.find(AppProject, 'argocd/shop'))!
  await other.hub.client.update(AppProject, { ...found, spec: { ...found.spec, sourceRepos: [moved.repoURL] } })
  await other.settle()
  const [entry] = (await status()).history!
  await other.edit('web', (app) => ({ ...app, operation: { sync: { source: entry!.source!, revision: FIRST } } }))
  await other.settle()
  const { operationState, conditions } = await status()
  assert.equal(operationState?.phase, 'Failed')
  assert.match(operationState?.message ?? '', /apps\.git/)
  assert.ok(conditions?.some(({ type }) => type === 'InvalidSpecError'))
})

test('options of a sync count for it, and for an automated Application no longer than it', async (t) => {
  const home = await synced(t)
  const before = await bundleSpec(home)
  assert.deepEqual([before.prune?.mode, before.apply?.immutable], ['Confirm', undefined])
  await home.ask({ sync: { prune: true, syncStrategy: { hook: { force: true } } }, retry: { limit: 3 } })
  const asked = await bundleSpec(home)
  assert.deepEqual(
    [asked.prune?.mode, asked.apply?.immutable, asked.remediation, asked.hooks],
    ['Always', 'Recreate', { retries: 3 }, undefined],
  )
  await home.ask({ sync: {} })
  assert.equal((await bundleSpec(home)).prune?.mode, 'Confirm')
  await home.edit('web', (app) => ({ ...app, spec: { ...app.spec, syncPolicy: { automated: {} } } }))
  await home.settle()
  const status = await home.ask({ sync: { prune: true } })
  assert.deepEqual([status.operationState?.phase, (await bundleSpec(home)).prune?.mode], ['Succeeded', 'Never'])
  const refused = await home.ask({ sync: { revision: FIRST } })
  assert.match(refused.operationState?.message ?? '', /auto-sync currently set to main/)
  assert.deepEqual(await content(home), ['web: shop/web 2'])
})

test('a terminated operation fails, and what has not begun stays', async (t) => {
  const home = await startArgoHome(t, FILES)
  const { hub, edit, status } = home
  // No agent reports: the operation stays in progress.
  await hub.create({ ...web(), operation: { sync: {} } }, Application)
  await hub.clock.advance(30_000)
  const running = (await status('web'))!.operationState!
  assert.equal(running.phase, 'Running')
  const annotate = async (value: string) => {
    await edit('web', (app) => ({
      ...app,
      metadata: { ...app.metadata, annotations: { 'flotilla.dev/terminate-operation': value } },
    }))
    await hub.clock.advance(10_000)
  }
  await annotate('2020-01-01T00:00:00Z')
  assert.equal((await status('web'))?.operationState?.phase, 'Running', 'another operation was meant')
  assert.equal(
    (await hub.find(Application, 'argocd/web'))?.metadata.annotations?.['flotilla.dev/terminate-operation'],
    undefined,
  )
  await annotate(running.startedAt)
  const ended = (await status('web'))!.operationState!
  assert.deepEqual([ended.phase, typeof ended.finishedAt], ['Failed', 'string'])
  assert.match(ended.message!, /^Operation terminated/)
  assert.equal(
    (await hub.find(Application, 'argocd/web'))?.metadata.annotations?.['flotilla.dev/terminate-operation'],
    undefined,
  )
  const [rollout] = (await hub.client.list(Rollout)).items
  assert.equal(rollout?.spec.paused, true)
  await edit('web', (app) => ({ ...app, operation: { sync: {} } }))
  await home.settle()
  assert.equal((await status('web'))?.operationState?.phase, 'Succeeded')
})

test('fields that jq expressions name are left alone', async (t) => {
  const rule = (expression: string): JsonObject => ({
    group: 'apps',
    kind: 'Deployment',
    jqPathExpressions: [expression],
  })
  const home = await startArgoHome(t, FILES)
  const ignoreDifferences = [rule('.spec.template.spec.containers[] | select(.name == "side") | .image')]
  await home.hub.create(web({ ignoreDifferences, syncPolicy: { automated: {} } }), Application)
  await home.settle()
  assert.deepEqual((await bundleSpec(home)).ignore?.[0]?.paths, [
    '.spec.template.spec.containers[?(@.name=="side")].image',
  ])
  await home.edit('web', (app) => ({ ...app, spec: { ...app.spec, ignoreDifferences: [rule('.a | keys')] as never } }))
  await home.settle()
  const [condition] = (await home.status('web'))?.conditions ?? []
  assert.match(condition?.message ?? '', /ignoreDifferences: \.a \| keys computes something/)
})
