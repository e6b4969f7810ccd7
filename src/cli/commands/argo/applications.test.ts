/** argo list, get, history, sync and wait, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../core/time/system-clock.ts'
import { Application } from '../../../dialects/argo/kinds.ts'
import { startArgoCli, STATUS } from '../../../testing/hub/argo-cli.ts'
import { explainError } from '../../errors/explain-error.ts'
import { argoGet, argoHistory, argoList } from './applications.ts'
import { argoSync, argoWait } from './sync.ts'

test('list has the columns of argocd, and selects by project', async (t) => {
  const { input, said } = await startArgoCli(t)
  await argoList(input())
  const [head, row] = said.out.trimEnd().split('\n')
  assert.deepEqual(head!.split(/ {2,}/), [
    'NAME',
    'CLUSTER',
    'NAMESPACE',
    'PROJECT',
    'STATUS',
    'HEALTH',
    'SYNCPOLICY',
    'CONDITIONS',
    'REPO',
    'PATH',
    'TARGET',
  ])
  assert.deepEqual(row!.split(/ {2,}/), [
    'argocd/web',
    'store-1',
    'shop',
    'default',
    'Synced',
    'Healthy',
    'Manual',
    '<none>',
    'https://git.example.com/apps',
    'web',
    'main',
  ])
  said.out = ''
  await argoList(input({ project: ['other'], output: 'name' }))
  assert.equal(said.out, '')
})

test('get shows the Application and its objects; history its deployments', async (t) => {
  const { input, said } = await startArgoCli(t)
  await argoGet('argocd/web', input())
  for (const line of [
    /^Name: {15}argocd\/web$/m,
    /^- Repo: {13}https:\/\/git\.example\.com\/apps$/m,
    /^Sync Policy: {8}Manual$/m,
    /^Sync Status: {8}Synced to main \(abcdef0\)$/m,
    /^Phase: {14}Succeeded$/m,
    /ConfigMap +shop +web +Synced +Healthy$/m,
  ])
    assert.match(said.out, line)
  said.out = ''
  await argoHistory('web', input())
  assert.equal(said.out, 'ID   DATE                   REVISION\n0    2026-01-01T00:00:00Z   main (abcdef0)\n')
  await assert.rejects(argoGet('nothing', input()), (caught) => {
    assert.equal(explainError(caught).exitCode, 3)
    return true
  })
})

test('sync asks once, waits for the end of its own operation, and fails with it', async (t) => {
  const { client, input, said, show } = await startArgoCli(t)
  const syncing = argoSync(['web'], input())
  const asked = async () => (await client.get(Application, { namespace: 'argocd', name: 'web' })).operation
  while ((await asked()) === undefined) await systemClock.sleep(10)
  assert.deepEqual((await asked())?.sync, {})
  await assert.rejects(argoSync(['web'], input()), /is being synced/)
  await client.patch(Application, { namespace: 'argocd', name: 'web' }, { type: 'merge', body: { operation: null } })
  const failed = {
    phase: 'Failed' as const,
    message: 'no image',
    startedAt: '2026-01-02T00:00:00Z',
    finishedAt: '2026-01-02T00:00:01Z',
  }
  await show({ ...STATUS, operationState: { operation: { sync: {} }, ...failed } })
  assert.equal(await syncing, 1)
  assert.match(said.out, /Message: +no image/)
})

test('wait ends at once for what is there, and says what is missing after the timeout', async (t) => {
  const { input, show } = await startArgoCli(t)
  assert.equal(await argoWait(['web'], input()), 0)
  await show({ ...STATUS, sync: { status: 'OutOfSync' } })
  assert.equal(await argoWait(['web'], input({ health: true })), 0)
  await assert.rejects(argoWait(['web'], input({ timeout: '1' })), /did not get there within 1 s/)
  await assert.rejects(argoWait(['web'], input({ timeout: 'x' })), /is not a number of seconds/)
})
