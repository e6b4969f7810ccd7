/** The gateway's door takes any bytes, from strangers and from an agent with a certificate, and goes on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { generateKeyPair } from '../core/bytes.ts'
import type { Caller } from '../core/http.ts'
import { silentLogger } from '../core/log.ts'
import { systemClock } from '../core/time/system-clock.ts'
import { createApplicant } from '../testing/agents/hostile-agent.ts'
import { connectTo, HOSTILE_TARGETS, pester, rawGet, sendRaw, statusesIn } from '../testing/hub/hostile-requests.ts'
import { configMap, startTestHub } from '../testing/hub/test-hub.ts'
import { ROUTES } from '../wire/link/frames.ts'
import { createTransportCa, issueAgentCertificate, issueGatewayCertificate } from '../wire/trust/hub-keys.ts'
import { listenForAgents } from './https-listener.ts'

const serial = new Uint8Array(16).fill(7)

test('hostile requests end neither the gateway nor what it does for others', async (t) => {
  // All requests are admitted: the queue at the door is not what is tested here.
  const hub = await startTestHub('hostile', { loadLimits: { perSecond: 1e6, burst: 1e6, atWork: 1e6 } })
  t.after(() => hub.close())
  const who = createApplicant(hub, 'a')
  const { clusterId } = await who.join(await hub.token('one', { clusterName: 'store-1' }))
  const document = await hub.assign('store-1', { 'default/a': { generation: 1, objects: [configMap('a')] } })
  await hub.clock.advance(1000)

  // The listener lives in real time, the gateway in its own; so the one has a CA of its own, too.
  const now = systemClock.now()
  const ca = createTransportCa({ newKeyPair: generateKeyPair, now, serial })
  const [served, own] = [generateKeyPair('p256'), generateKeyPair('p256')]
  const failures: unknown[] = []
  const listener = await listenForAgents({
    host: '127.0.0.1',
    port: 0,
    certificate: issueGatewayCertificate(ca, { publicKey: served.publicKey, sans: ['127.0.0.1'], serial, now }),
    privateKey: served.privateKey,
    cas: [ca.certificate],
    clock: systemClock,
    log: { ...silentLogger, error: (fields) => void failures.push(fields) },
    handle: (request, caller: Caller, signal) => hub.gateway.handle(request, caller, signal),
  })
  t.after(() => listener.close())
  const { certificate } = issueAgentCertificate(ca, { clusterId, publicKey: own.publicKey, serial, now })
  const credentials = { cert: certificate, key: own.privateKey }
  const open = (more = {}) => connect({ port: listener.port, host: '127.0.0.1', ca: ca.certificate, ...more })
  const host = `127.0.0.1:${listener.port}`
  const checkAlive = async (): Promise<void> => {
    const answer = await sendRaw(open(credentials), rawGet(ROUTES.document, host))
    assert.deepEqual(statusesIn(answer), [200], answer)
  }
  await checkAlive()
  const targets = [
    ...Object.values(ROUTES),
    `${ROUTES.blob}${document}`,
    `${ROUTES.set}sha256:x?base=${document}&held=`,
    `${ROUTES.trust}?after=NaN`,
    `${ROUTES.follow}?wait=0&document=`,
  ]
  for (const more of [{}, credentials]) {
    await pester({ open: () => open(more), host, targets, checkAlive })
  }
  for (const target of HOSTILE_TARGETS) await sendRaw(connectTo(listener.port), rawGet(target, host), 50)
  await checkAlive()
  assert.deepEqual(failures, [])
})
