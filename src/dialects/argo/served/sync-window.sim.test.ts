/** Sync windows while a cluster is cut off, on the real controllers in virtual time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { startArgoHome } from '../../../testing/hub/argo-home.ts'
import type { ArgoHome } from '../../../testing/hub/argo-home.ts'
import { Application, AppProject } from '../kinds.ts'

const REPO = 'https://git.example.com/apps.git'
const manifest = (v: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "${v}"}\n`
const HOUR_MS = 3_600_000

/** The clock begins at midnight: the window is open from two to three, and from six to seven. */
const WINDOW = { kind: 'allow', schedule: '0 2,6 * * *', duration: '1h', applications: ['*'] }

async function startNight(t: TestContext, { syncPolicy = { automated: {} }, window = {} } = {}) {
  const home = await startArgoHome(t, { [REPO]: { 'web/cm.yaml': manifest('1') } })
  const { hub, settle } = home
  const limits = { sourceRepos: ['*'], destinations: [{ name: '*', namespace: '*' }] }
  const spec = { ...limits, syncWindows: [{ ...WINDOW, ...window }] }
  await hub.create(build(AppProject, 'argocd/shop', { spec }), AppProject)
  const source = { repoURL: REPO, path: 'web', targetRevision: 'main' }
  const app = { project: 'shop', source, destination: { name: 'c1', namespace: 'shop' }, syncPolicy }
  await hub.create(build(Application, 'argocd/web', { spec: app }), Application)
  await settle()
  assert.deepEqual(await home.delivered(), {})
  return home
}

/** Lets hours pass; the gateway has last heard of c1 that long ago. */
async function pass({ hub }: ArgoHome, hours: number, isCutOff: boolean): Promise<void> {
  for (let step = 0; step < hours * 4; step++) {
    const uptime = 1000 + Math.round(hub.clock.now() / 1000)
    await hub.summarize('g', uptime, { 'c-c1': isCutOff ? 900 : 0, 'c-c2': 0 })
    await hub.clock.advance(HOUR_MS / 4)
  }
}

const conditions = async (home: ArgoHome) => (await home.status('web'))?.conditions?.map(({ type }) => type)

test('a cluster that was cut off while the window was open waits for the next one', async (t) => {
  const home = await startNight(t)
  await pass(home, 2.5, true)
  assert.deepEqual(await conditions(home), ['ClusterOffline'], 'the window is open')
  await pass(home, 1, true)
  await pass(home, 1, false)
  await home.settle()
  assert.deepEqual(await home.delivered(), {}, 'the window is closed')
  assert.deepEqual(await conditions(home), ['SyncBlocked'])
  await pass(home, 2, false)
  await home.settle()
  assert.deepEqual(await home.delivered(), { c1: ['web: shop/web 1'] })
  assert.equal(await conditions(home), undefined)
})

test('a sync that was asked for waits for the next window, too, unless the window lets a sync by hand pass', async (t) => {
  for (const [window, expected] of [
    [{}, {}],
    [{ manualSync: true }, { c1: ['web: shop/web 1'] }],
  ] as const) {
    const home = await startNight(t, { syncPolicy: {} as { automated: object }, window })
    await pass(home, 2.5, true)
    await home.edit('web', (app) => ({ ...app, operation: { sync: {} } }))
    await pass(home, 1, true)
    await pass(home, 1, false)
    await home.settle()
    assert.deepEqual(await home.delivered(), expected)
  }
})

test('an agent that is cut off after the admission does not begin after the window', async (t) => {
  const home = await startNight(t)
  const { hub } = home
  await pass(home, 2, false)
  await hub.clock.advance(180_000)
  const [entry] = (await hub.documentOf('c1')).content.entries
  const { admittedAt = '', startBy = '' } = entry ?? {}
  assert.match(admittedAt, /T02:0/)
  assert.equal(Date.parse(startBy) - Date.parse(admittedAt), HOUR_MS / 4)
  await pass(home, 1, true)
  const [rollout] = (await hub.client.list(Rollout)).items
  assert.equal(rollout?.spec.paused, true, 'the next window decides again')
})

test('a Rollout that a person pauses, and resumes outside of the window, goes on; a start by the hub does not', async (t) => {
  for (const isByPerson of [true, false]) {
    const home = await startNight(t)
    const { hub } = home
    await pass(home, 2.25, true)
    const isPaused = async () => (await hub.client.list(Rollout)).items[0]?.spec.paused
    const write = async (paused: boolean) => {
      const rollout = (await hub.client.list(Rollout)).items[0]!
      const next = { ...rollout, spec: { ...rollout.spec, paused } }
      await hub.client.update(Rollout, next, { fieldManager: 'flotilla-cli' })
    }
    assert.equal(await isPaused(), false, 'begun in the window')
    if (isByPerson) await write(true)
    await pass(home, 1, true)
    assert.equal(await isPaused(), true)
    if (isByPerson) await write(false)
    await hub.clock.advance(300_000)
    assert.equal(await isPaused(), !isByPerson)
  }
})
