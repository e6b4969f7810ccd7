import { test } from 'node:test'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { checkAgentFlow } from './check-agent.ts'

test('an agent of a real cluster is looked at where it runs', async (t) => {
  const plane = await startControlPlane()
  t.after(() => plane.stop())
  await checkAgentFlow(t, plane.kubeconfigPath, plane.writeKubeconfig('stranger'))
})
