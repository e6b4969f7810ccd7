/** ApplicationSets with RollingSync on the real controllers, in virtual time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Bundle } from '../../../../kinds/native/bundle.ts'
import { build } from '../../../../testing/fixtures/builders.ts'
import { startArgoHome } from '../../../../testing/hub/argo-home.ts'
import { ApplicationSet } from '../../kinds.ts'

const REPO = 'https://git.example.com/apps.git'
const cm = (value: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "${value}"}\n`
const CLUSTERS = { a1: { ring: 'wide' }, b1: { ring: 'canary' }, c1: { ring: 'wide' }, d1: { ring: 'none' } }

const STEPS = [
  { matchExpressions: [{ key: 'ring', operator: 'In', values: ['canary'] }] },
  { matchExpressions: [{ key: 'ring', operator: 'In', values: ['wide'] }], maxUpdate: 1 },
]

const set = (syncPolicy: object = {}, steps: unknown = STEPS) =>
  build(ApplicationSet, 'argocd/web', {
    spec: {
      goTemplate: true,
      strategy: { type: 'RollingSync', rollingSync: { steps } },
      generators: [{ clusters: { selector: { matchExpressions: [{ key: 'ring', operator: 'Exists' }] } } }],
      template: {
        metadata: { name: '{{ .name }}', labels: { ring: '{{ .metadata.labels.ring }}' } },
        spec: {
          project: 'default',
          source: { repoURL: REPO, path: 'web', targetRevision: 'main' },
          destination: { name: '{{ .name }}', namespace: 'shop' },
          syncPolicy,
        },
      },
    },
  })

async function started(t: TestContext, made = set()) {
  const home = await startArgoHome(t, { [REPO]: { 'web/cm.yaml': cm('1') } }, CLUSTERS)
  await home.hub.create(made, ApplicationSet)
  const shown = async () => {
    const found = await home.hub.find(ApplicationSet, 'argocd/web')
    return (found?.status?.applicationStatus ?? []).map(
      ({ application, step, status }) => `${application} ${step} ${status}`,
    )
  }
  const condition = async (type: string) => {
    const found = await home.hub.find(ApplicationSet, 'argocd/web')
    const one = found?.status?.conditions?.find((each) => each.type === type)
    return one && `${one.status} ${one.message}`
  }
  /** Some time, in which these clusters report. */
  const pass = async (...clusters: string[]) => {
    for (let round = 0; round < 4; round++) {
      await home.hub.clock.advance(30_000)
      for (const name of clusters) await home.hub.report(name, 'Ready')
    }
    await home.hub.clock.advance(30_000)
  }
  return { ...home, shown, condition, pass }
}

const names = async (delivered: () => Promise<Record<string, string[]>>) =>
  Object.entries(await delivered())
    .map(([cluster, rows]) => `${cluster} ${rows.map((row) => row.split(' ').at(-1)).join()}`)
    .sort()

test('step by step, also for a new commit, and what matches no step waits for a user', async (t) => {
  const home = await started(t, set({ automated: { selfHeal: true } }))
  await home.pass()
  assert.deepEqual(await names(home.delivered), ['b1 1'], 'the canary alone')
  assert.deepEqual(await home.shown(), ['d1 -1 Waiting', 'b1 1 Progressing', 'a1 2 Waiting', 'c1 2 Waiting'])
  assert.equal(await home.condition('RolloutProgressing'), 'True ApplicationSet is performing rollout of step 1')
  const [blocked] = (await home.status('a1'))?.conditions ?? []
  assert.deepEqual([blocked?.type, blocked?.message], ['SyncBlocked', 'Step 2 waits for Application b1 of step 1.'])
  await home.pass('b1')
  const first = (await names(home.delivered)).filter((row) => row !== 'b1 1')
  assert.equal(first.length, 1, 'one of the second step')
  await home.pass(first[0]!.slice(0, 2))
  await home.pass('a1', 'c1')
  assert.deepEqual(await names(home.delivered), ['a1 1', 'b1 1', 'c1 1'])
  assert.deepEqual(await home.shown(), ['d1 -1 Waiting', 'b1 1 Healthy', 'a1 2 Healthy', 'c1 2 Healthy'])
  assert.equal(await home.condition('RolloutProgressing'), 'False ApplicationSet Rollout has completed')
  assert.equal((await home.hub.find(Bundle, 'argocd/a1'))?.spec.drift?.mode, 'Correct', 'self-heal stays')
  await home.edit('d1', (app) => ({ ...app, operation: { sync: {} } }))
  await home.pass('d1')
  assert.deepEqual(await names(home.delivered), ['a1 1', 'b1 1', 'c1 1', 'd1 1'])

  await home.push('2', REPO, { 'web/cm.yaml': cm('2') })
  await home.settle()
  assert.deepEqual(await names(home.delivered), ['a1 2', 'b1 2', 'c1 2', 'd1 1'], 'all clusters reported')
})

test('a failed canary stops the steps behind it, through a restart of the controllers', async (t) => {
  const home = await started(t, set({ automated: {} }))
  await home.pass('b1')
  await home.pass('a1', 'c1')
  await home.pass('a1', 'c1')
  assert.deepEqual(await names(home.delivered), ['a1 1', 'b1 1', 'c1 1'])
  await home.commit('2', REPO, { 'web/cm.yaml': cm('2') })
  await home.hub.clock.advance(240_000)
  await home.hub.report('b1', 'Failed', 'no image')
  await home.pass()
  await home.hub.restart()
  await home.pass('a1', 'c1')
  assert.deepEqual(await names(home.delivered), ['a1 1', 'b1 2', 'c1 1'])
  assert.deepEqual(await home.shown(), ['d1 -1 Waiting', 'b1 1 Progressing', 'a1 2 Waiting', 'c1 2 Waiting'])
  await home.commit('3', REPO, { 'web/cm.yaml': cm('3') })
  await home.hub.clock.advance(240_000)
  await home.pass('b1')
  await home.pass('a1', 'c1')
  await home.pass('a1', 'c1')
  assert.deepEqual(await names(home.delivered), ['a1 3', 'b1 3', 'c1 3'])
})

test('without automated the steps sync, too; a strategy that cannot be read syncs nothing', async (t) => {
  const home = await started(t)
  await home.pass('b1')
  assert.equal((await names(home.delivered)).length, 2)
  assert.equal((await home.status('b1'))?.history?.length, 1)
  const broken = await started(t, set({ automated: {} }, [{ matchExpressions: [{ key: 'ring', operator: 'Exists' }] }]))
  await broken.pass('a1', 'b1', 'c1')
  assert.deepEqual(await broken.delivered(), {})
  assert.match((await broken.condition('InvalidRolloutConfig')) ?? '', /operator must be In or NotIn/)
})
