/** argo diff, rollback, terminate-op and delete, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../core/time/system-clock.ts'
import { Application } from '../../../dialects/argo/kinds.ts'
import type { ApplicationStatus } from '../../../dialects/argo/kinds.ts'
import { startArgoCli, STATUS } from '../../../testing/hub/argo-cli.ts'
import { argoDelete, argoDiff, argoRollback, argoTerminate } from './operate.ts'
import { argoSync } from './sync.ts'

const KEY = { namespace: 'argocd', name: 'web' }
const yes = () => Promise.resolve(true)
const resource = (name: string, status: string, more: object = {}) => ({
  kind: 'ConfigMap',
  name,
  namespace: 'shop',
  status,
  ...more,
})

test('diff names what a sync would change, and is 1 if there is something', async (t) => {
  const { input, said, show } = await startArgoCli(t)
  assert.equal(await argoDiff('web', input()), 0)
  assert.equal(said.out, '')
  await show({
    ...STATUS,
    sync: { status: 'OutOfSync' },
    resources: [
      resource('same', 'Synced'),
      resource('other', 'OutOfSync', { group: 'apps', health: { status: 'Healthy', message: 'drifted: .spec' } }),
      resource('new', 'OutOfSync', { health: { status: 'Missing' } }),
      resource('old', 'OutOfSync', { requiresPruning: true }),
      resource('hook', 'OutOfSync', { hook: true }),
    ],
  })
  assert.equal(await argoDiff('web', input()), 1)
  assert.equal(
    said.out,
    `
===== apps/ConfigMap shop/other ======
~ differs from the content: drifted: .spec

===== /ConfigMap shop/new ======
+ is not in the cluster

===== /ConfigMap shop/old ======
- is no longer part of the content
`,
  )
  await show({ ...STATUS, sync: { status: 'OutOfSync' } })
  assert.equal(await argoDiff('web', input()), 1)
  await show({ ...STATUS, sync: { status: 'Unknown' }, conditions: [{ type: 'ComparisonError', message: 'no path' }] })
  await assert.rejects(argoDiff('web', input()), /the differences of Application "web" are not known/)
})

const HISTORY: ApplicationStatus['history'] = [
  { id: 3, revision: 'a', deployedAt: '2026-01-01T00:00:00Z', source: { path: 'old' } },
  { id: 4, revision: 'b', deployedAt: '2026-01-02T00:00:00Z', source: { path: 'new' } },
]

test('rollback asks for a deployment of the history', async (t) => {
  const { client, input, show } = await startArgoCli(t)
  await assert.rejects(argoRollback(['web'], input()), /has no earlier deployment/)
  await show({ ...STATUS, history: HISTORY })
  await assert.rejects(argoRollback(['web', '9'], input()), /has no deployment with the ID 9/)
  const rolling = argoRollback(['web'], input({ prune: true }))
  const asked = async () => (await client.get(Application, KEY)).operation
  while ((await asked()) === undefined) await systemClock.sleep(10)
  assert.deepEqual((await asked())?.sync, {
    revision: 'a',
    source: { path: 'old' },
    prune: true,
    syncStrategy: { apply: {} },
  })
  await client.patch(Application, KEY, { type: 'merge', body: { operation: null } })
  const state = { operation: {}, phase: 'Succeeded' as const, startedAt: '2026-02-01T00:00:00Z' }
  await show({ ...STATUS, history: HISTORY, operationState: state })
  assert.equal(await rolling, 0)
  const body = { spec: { syncPolicy: { automated: {} } } }
  await client.patch(Application, KEY, { type: 'merge', body })
  await assert.rejects(argoRollback(['web', '3'], input()), /rollback cannot be initiated when auto-sync is enabled/)
})

test('terminate-op names the operation that it ends', async (t) => {
  const { client, input, show } = await startArgoCli(t)
  await assert.rejects(argoTerminate('web', input()), /no operation of Application "web" is in progress/)
  await client.patch(Application, KEY, { type: 'merge', body: { operation: { sync: {} } } })
  await argoTerminate('web', input())
  assert.equal((await client.get(Application, KEY)).operation, undefined, 'a request that has not begun is gone')
  const state = { operation: {}, phase: 'Running' as const, startedAt: '2026-02-01T00:00:00Z' }
  await show({ ...STATUS, operationState: state })
  await argoTerminate('web', input())
  const { annotations } = (await client.get(Application, KEY)).metadata
  assert.equal(annotations?.['flotilla.dev/terminate-operation'], state.startedAt)
})

test('delete takes the objects with it unless it may not', async (t) => {
  const { client, input } = await startArgoCli(t)
  const own = 'flotilla.dev/removal'
  const deleted = async (flags: object) => {
    const body = { metadata: { finalizers: [own, 'resources-finalizer.argocd.argoproj.io'] } }
    await client.patch(Application, KEY, { type: 'merge', body })
    await argoDelete(['web'], { ...input({ yes: true, ...flags }), confirm: yes })
    const { metadata } = await client.get(Application, KEY)
    assert.ok(metadata.deletionTimestamp)
    return metadata.finalizers
  }
  await assert.rejects(argoDelete(['web'], { ...input(), confirm: yes }), /stdin is not a terminal|This deletes/)
  await assert.rejects(
    argoDelete(['web'], { ...input({ cascade: 'x', yes: true }), confirm: yes }),
    /--cascade is true or false/,
  )
  assert.deepEqual(await deleted({ cascade: 'false' }), [own])
})

test('sync passes the flags of argocd on', async (t) => {
  const { client, input } = await startArgoCli(t)
  const asked = async (flags: object) => {
    await argoSync(['web'], input({ async: true, ...flags }))
    const { operation } = await client.get(Application, KEY)
    await client.patch(Application, KEY, { type: 'merge', body: { operation: null } })
    return [operation?.sync, operation?.retry]
  }
  assert.deepEqual(await asked({}), [{}, undefined])
  assert.deepEqual(await asked({ prune: true, force: true, syncOption: ['Replace=true'], retryLimit: '2' }), [
    { prune: true, syncOptions: ['Replace=true'], syncStrategy: { hook: { force: true } } },
    { limit: 2 },
  ])
  assert.deepEqual(await asked({ strategy: 'apply', revision: 'v1' }), [
    { revision: 'v1', syncStrategy: { apply: {} } },
    undefined,
  ])
  await assert.rejects(argoSync(['web'], input({ strategy: 'x' })), /--strategy is apply or hook/)
  await assert.rejects(argoSync(['web'], input({ retryLimit: 'x' })), /is not a number of retries/)
})
