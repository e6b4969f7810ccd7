import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Snapshot } from '../release/release-kind.ts'
import type { ReadyState } from './kustomization-status.ts'
import { releaseConditions, releaseHistory } from './release-status.ts'

const READY: ReadyState = { status: 'True', reason: 'ReconciliationSucceeded', message: 'Applied' }
const BUSY: ReadyState = { status: 'Unknown', reason: 'Progressing', message: '1 ready of 2 clusters' }
const BROKEN: ReadyState = { status: 'False', reason: 'BuildFailed', message: 'no' }
const FAILED: ReadyState = { status: 'False', reason: 'HealthCheckFailed', message: '1 failed' }
const release = { name: 'web', namespace: 'shop' }

const history = (
  before: readonly Snapshot[],
  digest: string | undefined,
  state: ReadyState,
  [now, most]: readonly [string, number] = ['1', 5],
) =>
  releaseHistory({
    history: before,
    digest,
    state,
    most,
    now,
    release,
    chart: { name: 'web', version: digest ?? '', appVersion: '' },
    configDigest: undefined,
  })
const brief = (all: readonly Snapshot[]) => all.map(({ version, status }) => `${version} ${status}`).join(', ')

test('each content is a version, and what was deployed stays so until it is replaced', () => {
  const steps: readonly (readonly [string | undefined, ReadyState, string])[] = [
    [undefined, BUSY, ''],
    ['a', BUSY, '1 pending-install'],
    ['a', READY, '1 deployed'],
    ['a', BUSY, '1 deployed'],
    ['a', BROKEN, '1 deployed'],
    ['b', BUSY, '2 pending-upgrade, 1 deployed'],
    ['b', FAILED, '2 failed, 1 deployed'],
    ['c', READY, '3 deployed, 2 failed, 1 superseded'],
    ['a', READY, '4 deployed, 3 superseded, 2 failed, 1 superseded'],
  ]
  let all: Snapshot[] = []
  for (const [at, [digest, state, expected]] of steps.entries()) {
    all = history(all, digest, state, [String(at), 5])
    assert.equal(brief(all), expected, `step ${at}`)
  }
  assert.deepEqual([all[0]?.firstDeployed, all[0]?.lastDeployed, all.at(-1)?.lastDeployed], ['1', '8', '2'])
  assert.equal(brief(history(all, 'd', READY, ['9', 2])), '5 deployed, 4 superseded')
})

const conditions = (state: ReadyState, all: readonly Snapshot[], isTested = false) =>
  releaseConditions({
    state,
    newest: all[0],
    previous: all[1],
    release,
    chart: 'web@2',
    timeout: '5m',
    isTested,
    clusters: 1,
  })

test('the first version is an install, and a failure of other content is an upgrade', () => {
  const deployed = history([], 'a', READY)
  assert.equal(conditions(BUSY, []).Ready.message, "Running 'install' action with timeout of 5m. 1 ready of 2 clusters")
  assert.equal(conditions(BROKEN, []).Ready.reason, 'InstallFailed')
  assert.deepEqual(conditions(READY, deployed), {
    Ready: {
      status: 'True',
      reason: 'InstallSucceeded',
      message: 'Helm install succeeded for release shop/web.v1 with chart web@2',
    },
    Released: {
      status: 'True',
      reason: 'InstallSucceeded',
      message: 'Helm install succeeded for release shop/web.v1 with chart web@2',
    },
  })
  assert.equal(conditions(BROKEN, deployed).Released?.reason, 'UpgradeFailed')
  assert.equal(conditions(FAILED, history([], 'a', FAILED)).Ready.reason, 'InstallFailed')
  assert.equal(conditions(READY, history(deployed, 'b', READY)).Ready.reason, 'UpgradeSucceeded')
  assert.equal(conditions(READY, deployed, true).TestSuccess?.reason, 'TestSucceeded')
  const held: ReadyState = { status: 'False', reason: 'ReconciliationFailed', message: 'held' }
  assert.deepEqual(conditions(held, deployed), { Ready: held })
})

test('a remediation is told in the words of the cluster', () => {
  const all = history(history([], 'a', READY), 'b', FAILED)
  const remedy = (message: string) => conditions({ ...FAILED, message }, all)
  const back = remedy('c1 failed: rolled back to the previous set: x')
  assert.deepEqual(
    [back.Ready.status, back.Remediated?.status, back.Remediated?.reason],
    ['False', 'True', 'RollbackSucceeded'],
  )
  assert.match(back.Remediated?.message ?? '', /previous release shop\/web\.v1 with chart web@a succeeded/)
  assert.equal(remedy('uninstalled after a failure: x').Remediated?.reason, 'UninstallSucceeded')
  const not = remedy('x; not rolled back: the previous set is not on this disk any more').Remediated
  assert.deepEqual([not?.status, not?.reason], ['False', 'RollbackFailed'])
  assert.equal(remedy('Deployment web is not healthy').Remediated, undefined)
})
