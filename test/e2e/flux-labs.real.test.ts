import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { fluxLabs } from './flux-labs-flow.ts'

const execute = promisify(execFile)

test('the labs about Flux on a hub whose home is a real kube-apiserver, and a real control plane as the cluster', async (t) => {
  const plane = await startControlPlane()
  t.after(() => plane.stop())
  const kubectl = async (...args: string[]): Promise<string> =>
    (await execute(needBinary('kubectl'), ['--kubeconfig', plane.kubeconfigPath, ...args], { timeout: 60_000 })).stdout
  const { kubeconfigPath: kubeconfig } = plane
  // No controller adds roles up here, so the user has the parts of `edit`.
  const parts = ['aggregate-to-view', 'aggregate-to-edit', 'flux-view', 'flux-edit']
  const roles = parts.map((part) => `flotilla:${part}`)
  await fluxLabs(t, { hub: ['--kubeconfig', kubeconfig], site: { kubeconfig, kubectl }, roles })
})
