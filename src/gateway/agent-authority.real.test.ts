/** The same golden file with the hub's objects on a real kube-apiserver. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../client/create-client.ts'
import { createUndiciTransport } from '../client/undici-transport.ts'
import { Secret } from '../core/secret.ts'
import { installKinds } from '../hub/home/kube-home.ts'
import { authorityTable, goldenAuthority } from '../testing/agents/agent-authority.ts'
import { startControlPlane } from '../testing/control-plane/control-plane.ts'
import { passingClock } from '../testing/control-plane/real-time-clock.ts'
import { startTestHub } from '../testing/hub/test-hub.ts'

test('what an agent may do is what the golden file says, with the home on a kube-apiserver', async () => {
  await using plane = await startControlPlane()
  const connection = { server: plane.url, ca: plane.ca, cert: plane.adminCert, key: new Secret(plane.adminKey) }
  const { transport, close } = createUndiciTransport(connection)
  const client = createClient({ transport, clock: passingClock })
  await installKinds(client, passingClock, new AbortController().signal)
  const hub = await startTestHub('hub', { home: { clock: passingClock, as: () => transport, close } })
  try {
    assert.equal(await authorityTable(hub), goldenAuthority())
  } finally {
    await hub.close()
  }
})
