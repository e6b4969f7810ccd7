/** Evidence with the home on a real kube-apiserver: heads are Leases there, and the export is an aggregated API. */
import { join } from 'node:path'
import { test } from 'node:test'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { proveEvidence } from './evidence-flow.ts'
import { temporaryFolder } from './flotilla-process.ts'
import { startHub } from './secret-values.ts'

test('the reports of a cluster are exported through a kube-apiserver', { timeout: 300_000 }, async (t) => {
  const folder = temporaryFolder(t)
  await using home = await startControlPlane()
  const site = await startHub(t, join(folder, 'site'))
  await proveEvidence(t, { folder, home: ['--kubeconfig', home.kubeconfigPath], site: site.kubeconfig })
})
