/**
 * Compliance with a hub, an agent and a cluster as processes: an enforced policy is repaired while the hub is away, a
 * violation is told once, results of other engines arrive, and a restart of the hub loses no history.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { engineKind, ENGINE_KINDS, kyvernoReport } from '../../src/testing/agents/engine-kinds.ts'
import { configMapPolicy } from '../../src/testing/agents/policies-contract.ts'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { freePort } from '../../src/hub/http/free-port.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { eventually, lastFirst, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const execute = promisify(execFile)
const READY = /^flotilla hub ready/
const GROUP = 'policy.open-cluster-management.io'

interface Row {
  readonly policy: string
  readonly state: string
  readonly since?: string
  readonly message?: string
  readonly duty?: { readonly state: string; readonly compliedAt?: string }
}

test('compliance of a real cluster, with the hub, without it, and after its restart', async (context) => {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  const plane = await startControlPlane()
  t.after(() => plane.stop())
  const admin = join(folder, 'hub', 'admin.kubeconfig')
  // The agent finds the hub again where it was.
  const ports: string[] = []
  for (const flag of ['--listen', '--gateway-listen', '--console-listen'])
    ports.push(flag, `127.0.0.1:${await freePort('127.0.0.1')}`)
  const startHub = async () => {
    const hub = startFlotilla(t, ['hub', 'run', '--data', join(folder, 'hub'), ...ports])
    await hub.says(READY)
    return hub
  }
  const onHub = async (...args: string[]) => {
    const ended = await runFlotilla(t, [...args, '--kubeconfig', admin])
    assert.equal(ended.code, 0, ended.stderr)
    return ended.stdout
  }
  const kubectl = async (kubeconfig: string, args: readonly string[], input?: unknown) => {
    const running = execute(needBinary('kubectl'), ['--kubeconfig', kubeconfig, ...args], { timeout: 60_000 })
    running.child.stdin?.end(input === undefined ? '' : JSON.stringify(input))
    return (await running).stdout
  }
  const onCluster = (args: readonly string[], input?: unknown) => kubectl(plane.kubeconfigPath, args, input)
  const rows = async (...flags: string[]) =>
    (JSON.parse(await onHub('compliance', '--cluster', 'store-1', ...flags, '-o', 'json')) as { rows: readonly Row[] })
      .rows
  const rowOf = async (policy: string, ...flags: string[]) =>
    (await rows(...flags)).find((row) => row.policy === policy)
  const reaches = (policy: string, state: string) =>
    eventually(`${policy} is ${state}`, async () => {
      const row = await rowOf(policy)
      return row?.state === state ? row : undefined
    })
  const levelOf = async () =>
    onCluster(['get', 'configmap', 'kept', '-n', 'default', '-o', 'jsonpath={.data.level}']).catch(() => '')

  const first = await startHub()
  const { code } = JSON.parse(await onHub('cluster', 'add', 'store-1', '-o', 'json')) as { code: string }
  const agent = ['agent', 'run', '--join', code, '--kubeconfig', plane.kubeconfigPath, '--data', join(folder, 'agent')]
  startFlotilla(t, agent)

  const policy = (name: string, template: object) => ({
    apiVersion: `${GROUP}/v1`,
    kind: 'Policy',
    metadata: { name, namespace: 'default' },
    spec: { disabled: false, 'policy-templates': [{ objectDefinition: template }] },
  })
  const subjects = ['kept', 'told'].map((name) => ({ apiGroup: GROUP, kind: 'Policy', name }))
  const all = { apiGroup: 'cluster.open-cluster-management.io', kind: 'Placement', name: 'all' }
  const objects = [
    policy('kept', configMapPolicy('kept', { level: 'high' }, { remediationAction: 'enforce' })),
    policy('told', configMapPolicy('told', { level: 'high' })),
    { apiVersion: 'cluster.open-cluster-management.io/v1beta2', kind: 'ManagedClusterSetBinding', metadata: { name: 'global', namespace: 'default' }, spec: { clusterSet: 'global' } }, // prettier-ignore
    { apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'Placement', metadata: { name: 'all', namespace: 'default' }, spec: {} }, // prettier-ignore
    { apiVersion: `${GROUP}/v1`, kind: 'PlacementBinding', metadata: { name: 'all', namespace: 'default', annotations: { 'flotilla.dev/comply-within': '24h' } }, placementRef: all, subjects }, // prettier-ignore
  ]
  await kubectl(admin, ['apply', '-f', '-'], { apiVersion: 'v1', kind: 'List', items: objects })

  const kept = await reaches('kept', 'Compliant')
  const told = await reaches('told', 'NonCompliant')
  assert.equal(await levelOf(), 'high')
  assert.match(told.message ?? '', /configmaps \[told\] not found/)
  assert.equal((await rowOf('kept', '--duty', 'any'))?.duty?.state, 'Met')

  // What another engine writes is there within seconds, once its kinds are known.
  await onCluster(['create', '-f', '-'], engineKind('PolicyReport'))
  const pod = { namespace: 'default', name: 'till', uid: '5d0f2a51-0000-4000-8000-000000000001' }
  const report = kyvernoReport(ENGINE_KINDS.PolicyReport, pod, [
    { policy: 'no-latest', result: 'fail', severity: 'high' },
  ])
  await eventually('the kind is served', () => onCluster(['create', '-f', '-'], report).catch(() => undefined))
  await reaches('no-latest', 'NonCompliant')
  const second = kyvernoReport(ENGINE_KINDS.PolicyReport, { ...pod, name: 'web', uid: `${pod.uid}2` }, [{ policy: 'no-latest', result: 'fail', severity: 'high' }]) // prettier-ignore
  await onCluster(['create', '-f', '-'], second)
  const sums = () => onHub('compliance', '--results', '--by', 'severity', '-o', 'csv')
  await eventually('both are counted', async () => (/^high,2,/m.test(await sums()) ? true : undefined), 15_000)

  // Without the hub, an edit by hand is repaired all the same.
  const stopped = await first.stop()
  assert.equal(stopped.code, 0, stopped.stderr)
  await onCluster(['patch', 'configmap', 'kept', '-n', 'default', '--type=merge', '-p', '{"data":{"level":"low"}}'])
  await eventually('the edit is repaired', async () => ((await levelOf()) === 'high' ? true : undefined), 15_000)

  // After its restart, the hub has the states of before with their times, and the same violation is told as it was.
  await startHub()
  await eventually('the history is there', async () => (await rowOf('kept', '--as-of', '0.1s')) && true)
  assert.equal((await rowOf('kept', '--as-of', '0.1s'))?.since, kept.since)
  assert.equal((await rowOf('told', '--as-of', '0.1s'))?.since, told.since)
  assert.equal((await rowOf('no-latest', '--as-of', '0.1s'))?.state, 'NonCompliant')
  await reaches('told', 'NonCompliant')
  assert.deepEqual(await rowOf('told'), told)
  assert.equal((await rowOf('kept', '--duty', 'any'))?.duty?.state, 'Met')
})
