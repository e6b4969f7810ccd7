/** The hub of wire.bench.ts: the embedded API in memory, one gateway, N accepted clusters. */
import { createApiServer } from '../src/apiserver/api-server.ts'
import { createMemoryBlobs } from '../src/blobs/memory-blobs.ts'
import { createClient } from '../src/client/create-client.ts'
import { generateKeyPair, utf8 } from '../src/core/bytes.ts'
import type { Digest } from '../src/core/digest.ts'
import { canonicalJson } from '../src/core/json.ts'
import { silentLogger } from '../src/core/log.ts'
import { systemClock } from '../src/core/system-clock.ts'
import { systemIds } from '../src/core/system-ids.ts'
import { formatTime } from '../src/core/time.ts'
import type { CertificateAndKey } from '../src/core/x509.ts'
import { createGateway } from '../src/gateway/create-gateway.ts'
import { listenForAgents } from '../src/gateway/https-listener.ts'
import type { Listener } from '../src/gateway/https-listener.ts'
import { Assignment } from '../src/kinds/assignment.ts'
import { BUILTIN_KINDS } from '../src/kinds/builtin.ts'
import { Cluster } from '../src/kinds/cluster.ts'
import { NATIVE_KINDS } from '../src/kinds/native.ts'
import { createMemoryStore } from '../src/store/memory-store.ts'
import { createTrust, issueAgentCertificate, issueGatewayCertificate, loadTrust } from '../src/wire/hub-trust.ts'
import { objectSetBytes, signDocument } from '../src/wire/signed-document.ts'

/** What the agents' side asks. */
export interface HubCall {
  readonly id: number
  readonly do: 'start' | 'usage' | 'change' | 'issue' | 'restart'
  readonly agents?: number
  readonly megabytes?: number
  readonly line?: number
}

/** What the hub answers. */
export interface HubSays {
  readonly id: number
  readonly port?: number
  readonly ca?: CertificateAndKey
  readonly set?: string
  readonly usage?: { readonly rss: number; readonly cpuMs: number }
}

const clock = systemClock
const ids = systemIds
const files = createTrust({
  newKeyPair: generateKeyPair,
  now: clock.now(),
  serial: ids.bytes(16),
  endpoints: ['https://127.0.0.1:1'],
  minAgentVersion: '0.1.0',
})
const trust = loadTrust((name) => files[name])
const blobs = createMemoryBlobs()
const api = createApiServer({
  store: createMemoryStore(),
  clock,
  ids,
  log: silentLogger,
  kinds: [...BUILTIN_KINDS, ...NATIVE_KINDS],
})
const client = createClient({
  transport: (request, signal) => api.handle(request, { user: 'admin', groups: ['system:masters'] }, signal),
  clock,
})
const gateway = createGateway({
  name: '0',
  client,
  blobs,
  clock,
  ids,
  log: silentLogger,
  trust: () => trust,
  issueCertificate: async ({ clusterId, publicKey }) =>
    issueAgentCertificate(trust.transportCa, { clusterId, publicKey, serial: ids.bytes(16), now: clock.now() }),
})
const served = generateKeyPair('p256')
const sans = ['127.0.0.1']
const certificate = issueGatewayCertificate(trust.transportCa, {
  publicKey: served.publicKey,
  sans,
  serial: ids.bytes(16),
  now: clock.now(),
})
const listen = (port: number): Promise<Listener> =>
  listenForAgents({
    host: '127.0.0.1',
    port,
    certificate,
    privateKey: served.privateKey,
    cas: trust.newest.bundle.transportCas,
    ticketKeys: new Uint8Array(48).fill(1),
    handle: gateway.handle,
    clock,
    log: silentLogger,
  })
let listener = await listen(0)
let agents = 0
let set: Digest | undefined
let generation = 0

async function start(count: number): Promise<void> {
  agents = count
  for (let index = 0; index < count; index++) {
    await client.create(Cluster, {
      apiVersion: 'flotilla.dev/v1alpha1',
      kind: 'Cluster',
      metadata: { name: `n-${index}` },
      spec: {
        id: `c-${index}`,
        accepted: true,
        identityKey: 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=',
        sealingKey: 'MCowBQYDK2VuAyEA3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08=',
        checkInSeconds: 30,
        offlineAfterSeconds: 120,
      },
    })
  }
  await gateway.whenReady(new AbortController().signal)
}

/** A bundle of ConfigMaps of 20 KB; one of them has another line. */
async function change(megabytes: number, line: number): Promise<Digest> {
  const objects = []
  for (let index = 0; index < megabytes * 50; index++) {
    const words = Array.from(
      { length: 400 },
      (_, word) => `key-${index}-${word}: ${(index * 7919 + word * 104_729) % 1_000_003}-value-of-some-length`,
    )
    if (index === 3 && line > 0) words[200] = 'changed: here'
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `m${megabytes}-${index}`, namespace: 'default' },
      data: { text: words.join('\n') },
    }
    const digest = await blobs.put(utf8(canonicalJson(object)))
    objects.push({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: object.metadata.name, digest })
  }
  generation += 1
  set = await blobs.put(objectSetBytes({ format: 'flotilla.dev/set/v1', objects }))
  return set
}

async function issue(): Promise<void> {
  const entry = { bundle: 'default/bench', generation, set: set!, rollout: 'default/bench' }
  for (let index = 0; index < agents; index++) {
    const name = `n-${index}`
    const current = generation === 1 ? undefined : await client.get(Assignment, { name })
    const previous = current?.spec.document
    const common = { clusterId: `c-${index}`, epoch: 1, revision: generation, ...(previous ? { previous } : {}) }
    const envelope = signDocument(trust.signer, {
      format: 'flotilla.dev/document/v1',
      ...common,
      issuedAt: formatTime(clock.now()),
      requires: ['sets/v1'],
      rules: { trustVersion: 1 },
      content: { entries: [entry], tombstones: [] },
    })
    const spec = { ...common, document: await blobs.put(envelope), entries: [entry] }
    if (current) await client.update(Assignment, { ...current, spec })
    else
      await client.create(Assignment, {
        apiVersion: 'flotilla.dev/v1alpha1',
        kind: 'Assignment',
        metadata: { name },
        spec,
      })
  }
}

async function answer(call: HubCall): Promise<Omit<HubSays, 'id'>> {
  switch (call.do) {
    case 'start':
      await start(call.agents ?? 0)
      return { port: listener.port, ca: trust.transportCa }
    case 'usage': {
      globalThis.gc?.()
      const { user, system } = process.cpuUsage()
      return { usage: { rss: process.memoryUsage.rss(), cpuMs: (user + system) / 1000 } }
    }
    case 'change':
      return { set: await change(call.megabytes ?? 1, call.line ?? 0) }
    case 'issue':
      await issue()
      return {}
    case 'restart': {
      const { port } = listener
      await listener.close()
      listener = await listen(port)
      return {}
    }
  }
}

process.on('message', (call: HubCall) => {
  void answer(call).then((said) => process.send?.({ ...said, id: call.id }))
})
// Nobody asks any more.
process.on('disconnect', () => process.exit(0))
