/** Two clusters get a password of the hub. It is in no data directory, backup, log, audit record or API response. */
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from './flotilla-process.ts'
import { provePasswordIsSealed, startHub } from './secret-values.ts'

test('a password is in the clusters, and nowhere else to be read', { timeout: 300_000 }, async (t) => {
  const folder = temporaryFolder(t)
  // An embedded hub is a Kubernetes API: it stands in for a cluster.
  const one = await startHub(t, join(folder, 'one'))
  const two = await startHub(t, join(folder, 'two'))
  await provePasswordIsSealed(t, { one: one.kubeconfig, two: two.kubeconfig })
})
