import { test } from 'node:test'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { lastFirst } from './flotilla-process.ts'
import { migrateFlow } from './migrate-flow.ts'

test('an upgrade of a hub on a kube-apiserver gives each namespace in use a Project, and check names them', async (context) => {
  const t = lastFirst(context)
  const home = await startControlPlane()
  t.after(() => home.stop())
  await migrateFlow(t, ['--kubeconfig', home.kubeconfigPath])
})
