/** Evidence on a whole embedded hub: the gateway writes it with its own role, the API exports it. */
import { join } from 'node:path'
import { test } from 'node:test'
import { proveEvidence } from './evidence-flow.ts'
import { temporaryFolder } from './flotilla-process.ts'
import { startHub } from './secret-values.ts'

test(
  'the reports of a cluster are exported and verified, after a restart of the hub',
  { timeout: 300_000 },
  async (t) => {
    const folder = temporaryFolder(t)
    // An embedded hub is a Kubernetes API: it stands in for a cluster.
    const site = await startHub(t, join(folder, 'site'))
    await proveEvidence(t, { folder, home: [], site: site.kubeconfig })
  },
)
