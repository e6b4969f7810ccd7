import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { eventually } from './flotilla-process.ts'
import { fleetFlow } from './fleet-flow.ts'

const execute = promisify(execFile)

test('a GitRepo on a hub whose home is a real kube-apiserver, and a real control plane as the cluster', async (t) => {
  const plane = await startControlPlane()
  t.after(() => plane.stop())
  const kubectl = async (...args: string[]): Promise<string> =>
    (await execute(needBinary('kubectl'), ['--kubeconfig', plane.kubeconfigPath, ...args], { timeout: 60_000 })).stdout
  await fleetFlow(t, ['--kubeconfig', plane.kubeconfigPath], { kubeconfig: plane.kubeconfigPath, kubectl })
  // Fleet's own group has CRDs here; the computed kind is beside it.
  const rows = await eventually('the group of views being available', () =>
    kubectl('get', 'bundledeployments.view.flotilla.dev', '-A').catch(() => undefined),
  )
  assert.match(rows, /fleet-default +sample-apps-greeting\.shop-1 +shop-1 +True +True +Ready/)
  await assert.rejects(
    kubectl('delete', 'bundledeployments.view.flotilla.dev', '-n', 'fleet-default', 'sample-apps-greeting.shop-1'),
    /computed from GitRepo\.fleet\.cattle\.io "sample" in namespace "fleet-default"; change that object instead/,
  )
})
