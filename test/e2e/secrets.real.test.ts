/** The same on a real kube-apiserver: it has the password, the hub's and the agent's disks do not. */
import { test } from 'node:test'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { provePasswordIsSealed } from './secret-values.ts'

test('a password is in a real cluster, and nowhere else to be read', { timeout: 300_000 }, async (t) => {
  await using spoke = await startControlPlane()
  await provePasswordIsSealed(t, { real: spoke.kubeconfigPath })
})
