import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { ocmFlow } from './ocm-flow.ts'

const execute = promisify(execFile)

test('the same on a hub whose home is a real kube-apiserver', async (t) => {
  const plane = await startControlPlane()
  t.after(() => plane.stop())
  const kubectl = async (...args: string[]): Promise<string> =>
    (await execute(needBinary('kubectl'), ['--kubeconfig', plane.kubeconfigPath, ...args], { timeout: 60_000 })).stdout
  await ocmFlow(t, ['--kubeconfig', plane.kubeconfigPath], { kubeconfig: plane.kubeconfigPath, kubectl })
})
