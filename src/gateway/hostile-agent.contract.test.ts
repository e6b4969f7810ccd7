/**
 * A hostile agent with a valid certificate of its own: only it is affected, within its quota. What an agent may do is a
 * golden file.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { generateKeyPair, utf8 } from '../core/bytes.ts'
import { readBody } from '../core/http.ts'
import { Assignment } from '../kinds/native/assignment.ts'
import { ClusterReport } from '../kinds/native/cluster-report.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { JoinToken } from '../kinds/native/join-token.ts'
import { authorityTable, goldenAuthority } from '../testing/agents/agent-authority.ts'
import { buildCluster } from '../testing/fixtures/builders.ts'
import { createApplicant } from '../testing/agents/hostile-agent.ts'
import { configMap, objectDigest, startTestHub } from '../testing/hub/test-hub.ts'
import type { TestHub } from '../testing/hub/test-hub.ts'
import { openDocument, signDocument } from '../wire/document/signed-document.ts'
import { keyIdOf } from '../wire/trust/envelope.ts'
import { allSignerKeys } from '../wire/trust/trust-bundle.ts'
import { BASE_HEADER, INSTANCE_HEADER, ROUTES } from '../wire/link/frames.ts'
import type { Report } from '../wire/link/frames.ts'

let hub: TestHub

beforeEach(async () => {
  hub = await startTestHub()
})
afterEach(() => hub.close())

const REPORT: Report = { epoch: 1, revision: 1, agentVersion: '0.1.0', bundles: [] }
const bytes = (value: unknown) => utf8(JSON.stringify(value))
const clusterOf = (name: string) => hub.client.get(Cluster, { name })

async function send(certificate: string, value: unknown, headers: Readonly<Record<string, string>> = {}) {
  return hub.ask('POST', ROUTES.report, { certificate, body: bytes(value), headers })
}

describe('names that look alike (CVE-2026-4740)', () => {
  // Ids are the hub's own and look alike by chance at most; here they do on purpose.
  const IDS = ['prod1', 'prod10', 'prod', 'prod1.x', 'prod1:agent', 'PROD1', 'prod1 ', 'prod1%00', 'prod1/', 'prød1']

  it('get a certificate for the whole id, nothing longer, shorter or beside it', async () => {
    for (const [i, id] of IDS.entries()) {
      await hub.client.create(Cluster, buildCluster(`c${i}`, { spec: { id } }))
    }
    const code = await hub.token('one', { clusterName: 'store-1' })
    const who = createApplicant(hub, 'a')
    const { clusterId } = await who.enrol(code)
    const others = [...IDS, `${clusterId}0`, clusterId.slice(0, -1), clusterId.toUpperCase(), `${clusterId}:x`, '']
    for (const other of others) {
      const byEnrol = await who.enrol(code, { fields: { clusterId, csr: who.csrFor(other) } })
      assert.ok(byEnrol.status === 403 || byEnrol.status === 400, `${JSON.stringify(other)}: ${byEnrol.status}`)
      assert.equal(byEnrol.certificate, '')
      const byRenew = await who.renew(clusterId, who.csrFor(other))
      assert.ok(byRenew.status === 403 || byRenew.status === 400, `${JSON.stringify(other)}: ${byRenew.status}`)
      // A request for the other one, signed by our key.
      assert.notEqual((await who.renew(other)).status, 200, other)
    }
    for (const organizations of [['system:masters'], ['flotilla:agents'], ['flotilla:agents', 'x']]) {
      assert.equal((await who.renew(clusterId, who.csrFor(clusterId, organizations))).status, 403)
    }
    assert.equal((await who.renew(clusterId)).status, 200)
  })

  it('read only their own', async () => {
    const secret = configMap('secret', { of: 'prod10' })
    for (const name of ['prod1', 'prod10', 'prod']) {
      await hub.client.create(Cluster, buildCluster(name, { spec: { id: name } }))
      await hub.assign(name, {
        'default/x': { generation: 1, objects: name === 'prod10' ? [secret] : [configMap(name)] },
      })
    }
    await hub.clock.settle()
    const documents = new Set<string>()
    for (const name of ['prod1', 'prod10', 'prod']) {
      const certificate = hub.certificateFor(name)
      documents.add((await hub.ask('GET', ROUTES.document, { certificate })).text)
      const blob = await hub.ask('GET', `${ROUTES.blob}${objectDigest(secret)}`, { certificate })
      assert.equal(blob.status, name === 'prod10' ? 200 : 404)
    }
    assert.equal(documents.size, 3)
    assert.equal((await hub.ask('GET', ROUTES.document, { certificate: hub.certificateFor('prod100') })).status, 401)
  })
})

describe('stolen and replayed', () => {
  it('tokens let exactly one of fifty in, also when half of them replay one request', async () => {
    const code = await hub.token('one', { clusterName: 'store-1' })
    const owner = createApplicant(hub, 'owner')
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => (i % 2 ? owner : createApplicant(hub, `thief-${i}`)).enrol(code)),
    )
    const ids = new Set(answers.filter(({ status }) => status === 200).map(({ clusterId }) => clusterId))
    assert.equal(ids.size, 1)
    assert.equal((await hub.client.list(Cluster)).items.length, 1)
    assert.equal((await hub.client.get(JoinToken, { name: 'one' })).status?.used, 1)
  })

  it('are no help to agents older than the root allows', async () => {
    const code = await hub.token('one', { clusterName: 'store-1' })
    hub.amend({ minAgentVersion: '0.2.0' })
    const old = await createApplicant(hub, 'old').enrol(code)
    assert.equal(old.status, 403)
    assert.match(old.message, /version 0\.1\.0, the hub asks for 0\.2\.0 or newer; upgrade the agent/)
    const lying = await createApplicant(hub, 'odd').enrol(code, { fields: { agentVersion: 'newest' } })
    assert.equal(lying.status, 403)
    assert.equal((await hub.client.get(JoinToken, { name: 'one' })).status?.used, undefined)
    assert.equal((await createApplicant(hub, 'new').enrol(code, { fields: { agentVersion: '0.2.0' } })).status, 200)
  })

  it('enrol requests of another agent get no certificate: the key is the signer', async () => {
    const code = await hub.token('one', { clusterName: 'store-1' })
    const owner = createApplicant(hub, 'owner')
    const { clusterId } = await owner.enrol(code)
    const thief = createApplicant(hub, 'thief')
    const answer = await owner.enrol(code, {
      fields: { clusterId, csr: thief.csrFor(clusterId) },
      signedBy: thief.identity,
    })
    assert.equal(answer.status, 400)
    assert.equal((await thief.enrol(code, { fields: { clusterId, csr: thief.csrFor(clusterId) } })).status, 409)
  })
})

describe('reports that want more', () => {
  async function joined() {
    const code = await hub.token('one', { clusterName: 'store-1', labels: { tier: 'store' } })
    const { certificate } = await createApplicant(hub, 'a').join(code)
    await hub.clock.settle()
    return certificate
  }

  it('change no label, taint, set or anything else the hub owns', async () => {
    const certificate = await joined()
    const before = await clusterOf('store-1')
    const wishes = {
      labels: { tier: 'bank' },
      metadata: { labels: { tier: 'bank' }, ownerReferences: [], finalizers: ['x'] },
      taints: [],
      spec: { accepted: true, checkInSeconds: 1 },
      status: { conditions: [] },
      clusterName: 'store-2',
      sets: ['secret'],
      __proto__x: {},
    }
    for (const [field, value] of Object.entries(wishes)) {
      assert.equal((await send(certificate, { ...REPORT, [field]: value })).status, 400, field)
    }
    assert.equal(
      (await hub.ask('POST', ROUTES.report, { certificate, body: utf8('{"__proto__":{"labels":{}}}') })).status,
      400,
    )
    const claims = [
      { name: 'labels', value: 'tier=bank' },
      { name: 'metadata.labels.tier', value: 'bank' },
      { name: 'cluster.open-cluster-management.io/clusterset', value: 'secret' },
      { name: 'flotilla.dev/platform', value: '<script>alert(1)</script>' },
    ]
    assert.equal((await send(certificate, { ...REPORT, claims })).status, 200)
    const after = await clusterOf('store-1')
    assert.deepEqual(after.metadata.labels, { tier: 'store' })
    assert.deepEqual(after.spec, before.spec)
    assert.deepEqual(
      { ...after.metadata, resourceVersion: '', managedFields: [] },
      { ...before.metadata, resourceVersion: '', managedFields: [] },
    )
    assert.deepEqual(new Set(Object.keys(after.status ?? {})), new Set(['certificate', 'agentVersion', 'claims']))
  })

  it('are bounded: names, values, numbers of claims', async () => {
    const certificate = await joined()
    const many = (length: number) => Array.from({ length }, (_, i) => ({ name: `n${i}`, value: 'v' }))
    const bad: unknown[] = [
      many(65),
      [{ name: '', value: '' }],
      [{ name: 'x'.repeat(254), value: '' }],
      [{ name: 'a b', value: '' }],
      [{ name: '../a', value: '' }],
      [{ name: 'a', value: 'x'.repeat(1025) }],
      [{ name: 'a', value: 1 }],
      [{ name: 'a', value: 'b', more: true }],
      { a: 'b' },
    ]
    for (const claims of bad) assert.equal((await send(certificate, { ...REPORT, claims })).status, 400)
    assert.equal((await clusterOf('store-1')).status?.claims, undefined)
    assert.equal((await send(certificate, { ...REPORT, claims: many(64) })).status, 200)
    // Twice the same name: the first counts.
    const twice = [
      { name: 'b', value: '1' },
      { name: 'a', value: '2' },
      { name: 'b', value: '3' },
    ]
    assert.equal((await send(certificate, { ...REPORT, claims: twice })).status, 200)
    assert.deepEqual((await clusterOf('store-1')).status?.claims, [
      { name: 'a', value: '2' },
      { name: 'b', value: '1' },
    ])
  })

  it('are refused with two rows of one bundle, and nothing of such a report is stored', async () => {
    const certificate = await joined()
    const set = `sha256:${'a'.repeat(64)}`
    const row = { bundle: 'default/shop', generation: 1, set, state: 'Ready' }
    const twice = { ...REPORT, bundles: [row, { ...row, state: 'Failed' }] }
    assert.equal((await send(certificate, twice)).status, 400)
    assert.ok(!hub.writes.some((write) => write.includes('clusterreports')), hub.writes.join('\n'))
    assert.equal((await send(certificate, { ...REPORT, bundles: [row] })).status, 200)
  })

  it('are written on changes, and a flood of them slows down no other cluster', async () => {
    const certificate = await joined()
    await send(certificate, { ...REPORT, claims: [{ name: 'a', value: '1' }] })
    await hub.clock.settle()
    const { length } = hub.writes
    await send(certificate, { ...REPORT, claims: [{ name: 'a', value: '1' }] })
    assert.equal(hub.writes.length, length)
    const flood = await Promise.all(
      Array.from({ length: 200 }, (_, i) => send(certificate, { ...REPORT, claims: [{ name: 'a', value: `${i}` }] })),
    )
    const slowed = flood.filter(({ status }) => status === 429)
    assert.ok(slowed.length >= 140, String(slowed.length))
    const other = await createApplicant(hub, 'b').join(await hub.token('two', { clusterName: 'store-2' }))
    await hub.clock.settle()
    assert.equal((await send(other.certificate, REPORT)).status, 200)
    await hub.clock.advance(60_000)
    assert.equal((await send(certificate, REPORT)).status, 200)
  })

  it('about another cluster change no cluster', async () => {
    const certificate = await joined()
    const other = await createApplicant(hub, 'b').join(await hub.token('two', { clusterName: 'store-2' }))
    await send(other.certificate, { ...REPORT, revision: 7 })
    for (const path of [`${ROUTES.report}?cluster=store-2`, `${ROUTES.report}?clusterId=${other.clusterId}`]) {
      const headers = { 'x-remote-user': `cluster:${other.clusterId}`, 'x-ssl-client-cert': other.certificate }
      assert.equal((await hub.ask('POST', path, { certificate, body: bytes(REPORT), headers })).status, 200)
    }
    assert.equal((await hub.client.get(ClusterReport, { name: 'store-2' })).spec.revision, 7)
    assert.equal((await hub.client.get(ClusterReport, { name: 'store-1' })).spec.revision, 1)
  })
})

describe('a flood', () => {
  const CHECK_IN = bytes({ report: objectDigest(configMap('x')) })
  const FLOOD = 1000

  async function joined(name: string) {
    const who = createApplicant(hub, name)
    const { certificate, clusterId } = await who.join(await hub.token(name, { clusterName: name }))
    await hub.assign(name, { 'default/x': { generation: 1, objects: [configMap(name)] } })
    await hub.clock.settle()
    return { ...who, certificate, clusterId }
  }
  type Joined = Awaited<ReturnType<typeof joined>>

  /** What an agent does in a minute, and more. */
  async function statusesOf({ certificate, renew, clusterId }: Joined, address: string): Promise<Set<number>> {
    const by = { certificate, address }
    const answers = [
      await hub.ask('POST', ROUTES.checkIn, { ...by, body: CHECK_IN }),
      await hub.ask('GET', ROUTES.document, by),
      await hub.ask('GET', ROUTES.trust, by),
      await hub.ask('POST', ROUTES.report, { ...by, body: bytes(REPORT) }),
      // Without a certificate, as after months offline.
      await renew(clusterId),
    ]
    return new Set(answers.map(({ status }) => status))
  }

  async function flood(
    request: (n: number) => Promise<{ readonly status: number; readonly text: string }>,
    requests = FLOOD,
  ) {
    const refused: number[] = []
    for (let n = 0; n < requests; n++) {
      const { status, text } = await request(n)
      if (status === 429) refused.push(Number(/try again in (\d+) s/.exec(text)?.[1]))
    }
    return { refused: refused.length, longestSeconds: Math.max(0, ...refused) }
  }

  const nonsense = (address: string) => hub.ask('POST', ROUTES.enrol, { body: bytes({}), address })

  it('of strangers slows down only their address', async () => {
    const healthy = await joined('store-1')
    for (let second = 0; second < 8; second++) {
      for (let n = 0; n < 200; n++) await nonsense('192.0.2.66')
      assert.deepEqual(await statusesOf(healthy, '10.0.0.1'), new Set([200]), `second ${second}`)
      // Behind the same NAT as the flood.
      assert.deepEqual(await statusesOf(healthy, '192.0.2.66'), new Set([200]), `second ${second}`)
      await hub.clock.advance(1000)
    }
    const { refused, longestSeconds } = await flood(() => nonsense('192.0.2.66'))
    assert.ok(refused >= FLOOD - 200, String(refused))
    assert.ok(longestSeconds <= 1, 'no stranger makes another wait longer')
    const code = await hub.token('two', { clusterName: 'store-2' })
    assert.equal((await createApplicant(hub, 'b').enrol(code, { address: '10.0.0.2' })).status, 200)
  })

  it('of strangers from many addresses leaves the clusters alone', async () => {
    const healthy = await joined('store-1')
    const { refused } = await flood((n) => nonsense(`192.0.${n >> 8}.${n & 255}`))
    assert.ok(refused >= FLOOD - 800, String(refused))
    const sixes = await flood((n) => nonsense(`2001:db8::${n.toString(16)}`))
    assert.equal(sixes.refused, FLOOD, 'all of them are used up')
    assert.deepEqual(await statusesOf(healthy, '10.0.0.1'), new Set([200]))
  })

  it('of one IPv6 network counts as one address', async () => {
    const { refused } = await flood((n) => nonsense(`2001:db8:0:7:${n.toString(16)}::1`))
    assert.ok(refused >= FLOOD - 200, String(refused))
    const others = ['2001:db8:0:8::1', '2001:db8::7:0:0:1', '::ffff:192.0.2.1', 'fe80::1%eth0', '::1']
    for (const address of others) assert.equal((await nonsense(address)).status, 400, address)
    assert.equal((await nonsense('2001:db8::7:0:0:0:1')).status, 429, 'the same network, written in another way')
  })

  it('of valid signatures by unknown keys asks the hub’s API little', async () => {
    const healthy = await joined('store-1')
    const code = await hub.token('two', { clusterName: 'store-2', accept: 'Manual' })
    await createApplicant(hub, 'owner').enrol(code, { address: '10.0.0.2' })
    const thief = createApplicant(hub, 'thief')
    const answers = []
    for (let n = 0; n < 500; n++) answers.push(await thief.enrol(code, { address: '192.0.2.66' }))
    assert.ok(answers.filter(({ status }) => status === 429).length >= 300)
    assert.deepEqual(await statusesOf(healthy, '10.0.0.1'), new Set([200]))
  })

  it('of reads without a certificate is limited, the agent’s program most', async () => {
    const healthy = await joined('store-1')
    const bundle = `${ROUTES.agentBundle}${objectDigest(configMap('x'))}`
    const programs = await flood(() => hub.ask('GET', bundle, { address: '192.0.2.66' }))
    assert.ok(programs.refused >= FLOOD - 20, String(programs.refused))
    const { refused } = await flood(() => hub.ask('GET', ROUTES.trust, { address: '192.0.2.67' }))
    assert.ok(refused >= FLOOD - 200, String(refused))
    assert.deepEqual(await statusesOf(healthy, '10.0.0.1'), new Set([200]))
    assert.equal((await hub.ask('GET', ROUTES.trust, { address: '10.0.0.2' })).status, 200)
  })

  it('of one agent slows down only itself, whatever it asks for', async () => {
    await hub.close()
    hub = await startTestHub('hub', { loadLimits: { perSecond: 40, burst: 160, atWork: 200 } })
    const healthy = await joined('store-1')
    const { certificate, renew, clusterId } = await joined('store-2')
    const by = { certificate, address: '10.0.0.1' }
    const kinds = [
      () => hub.ask('POST', ROUTES.checkIn, { ...by, body: CHECK_IN }),
      () => hub.ask('GET', ROUTES.document, by),
      () => hub.ask('GET', ROUTES.trust, by),
      () => hub.ask('GET', '/agent/v1/nothing', by),
      () => hub.ask('POST', ROUTES.enrol, { ...by, body: bytes({}) }),
      async () => {
        const { status, message } = await renew(clusterId)
        return { status, text: message }
      },
    ]
    for (const [index, ask] of kinds.entries()) {
      const { refused, longestSeconds } = await flood(ask, 200)
      assert.ok(refused >= 100, `${index}: ${refused}`)
      assert.ok(longestSeconds <= 1, `${index}: ${longestSeconds}`)
      assert.deepEqual(await statusesOf(healthy, '10.0.0.1'), new Set([200]), String(index))
      await hub.clock.advance(60_000)
    }
  })

  it('that does not wait as long as told makes no other cluster wait longer', async () => {
    await hub.close()
    hub = await startTestHub('hub', { loadLimits: { perSecond: 1, burst: 40, atWork: 100 } })
    const names = ['store-1', 'store-2', 'store-3']
    const [healthy, noisy, other] = [await joined(names[0]!), await joined(names[1]!), await joined(names[2]!)]
    const secondsFor = async ({ certificate }: Joined) => {
      const { text } = await hub.ask('GET', ROUTES.document, { certificate })
      return Number(/the gateway is busy; try again in (\d+) s/.exec(text)?.[1] ?? 0)
    }
    await hub.clock.advance(60_000)
    // Documents leave half of the tokens to others.
    for (let n = 0; n < 20; n++) assert.equal(await secondsFor(other), 0)
    const told = await secondsFor(noisy)
    for (let n = 0; n < 20; n++) assert.equal(await secondsFor(noisy), told)
    assert.ok((await secondsFor(healthy)) <= 5)
  })

  it('is none when many clusters have one address', async () => {
    const all = []
    for (let n = 0; n < 20; n++) all.push(await joined(`store-${n}`))
    for (let minute = 0; minute < 3; minute++) {
      for (const one of all) assert.deepEqual(await statusesOf(one, '192.0.2.1'), new Set([200]))
      await hub.clock.advance(60_000)
    }
  })
})

describe('copies of an agent', () => {
  const as = (instance: string) => ({ [INSTANCE_HEADER]: instance.repeat(20) })
  const A = as('a')
  const B = as('b')

  async function joined() {
    const code = await hub.token('one', { clusterName: 'store-1' })
    const { certificate } = await createApplicant(hub, 'a').join(code)
    await hub.clock.settle()
    return async (headers: Readonly<Record<string, string>>, address: string) => {
      const body = bytes({ report: objectDigest(configMap('x')) })
      return (await hub.ask('POST', ROUTES.checkIn, { certificate, body, headers, address })).status
    }
  }

  it('are told apart from restarts; the newer is refused and both addresses are known', async () => {
    const checkIn = await joined()
    assert.equal(await checkIn(A, '10.0.0.1'), 200)
    assert.equal(await checkIn(B, '192.0.2.9'), 200, 'a restart, as far as the gateway knows')
    assert.equal((await clusterOf('store-1')).status?.agent?.rival, undefined)
    assert.equal(await checkIn(A, '10.0.0.1'), 200)
    assert.equal(await checkIn(B, '192.0.2.9'), 409)
    assert.equal(await checkIn(A, '10.0.0.1'), 200)
    const { agent } = (await clusterOf('store-1')).status ?? {}
    assert.deepEqual([agent?.address, agent?.rival?.address, agent?.before], ['10.0.0.1', '192.0.2.9', undefined])
    // The first one is stopped for good: the other one may speak.
    await hub.clock.advance(120_000)
    assert.equal(await checkIn(B, '192.0.2.9'), 200)
  })

  it('are told apart also when each of them has a gateway of its own', async () => {
    const second = await hub.startGateway('1')
    const code = await hub.token('one', { clusterName: 'store-1' })
    const { certificate } = await createApplicant(hub, 'a').join(code)
    await hub.clock.settle()
    const body = bytes({ report: objectDigest(configMap('x')) })
    const checkIn = async (headers: Readonly<Record<string, string>>, gateway = hub.gateway) => {
      const { status } = await hub.ask('POST', ROUTES.checkIn, { certificate, body, headers, gateway })
      await hub.clock.advance(1000)
      return status
    }
    assert.equal(await checkIn(A), 200)
    assert.equal(await checkIn(B, second), 200, 'a restart that reached another gateway')
    assert.equal(await checkIn(A), 200)
    assert.ok((await clusterOf('store-1')).status?.agent?.rival)
    assert.equal(await checkIn(B, second), 409)
    assert.equal(await checkIn(A), 200)
    // The copy tries the other door.
    assert.equal(await checkIn(B), 409)
    // The first one moves to the second gateway, and goes on speaking.
    assert.equal(await checkIn(A, second), 200)
    assert.equal(await checkIn(B, second), 409)
  })

  it('lose their open stream when they are found out', async () => {
    const code = await hub.token('one', { clusterName: 'store-1' })
    const { certificate } = await createApplicant(hub, 'a').join(code)
    await hub.clock.settle()
    const { transport } = hub.connect({ endpoint: 'x', cas: [], certificate, privateKey: '' })
    const signal = new AbortController().signal
    const checkIn = () =>
      hub.ask('POST', ROUTES.checkIn, {
        certificate,
        body: bytes({ report: objectDigest(configMap('x')) }),
        headers: A,
      })
    await checkIn()
    const answer = await transport({ method: 'GET', path: ROUTES.follow, headers: B }, signal)
    const reading = (async () => {
      for await (const chunk of answer.body) void chunk
    })()
    await hub.clock.settle()
    await checkIn()
    await hub.clock.settle()
    await reading
  })

  it('cannot make the hub write with every request', async () => {
    const checkIn = await joined()
    const before = hub.writes.length
    for (let i = 0; i < 100; i++) await checkIn({ [INSTANCE_HEADER]: `instance${i}`.padEnd(20, 'x') }, '192.0.2.9')
    assert.ok(hub.writes.length - before <= 10, String(hub.writes.length - before))
    assert.equal(await checkIn({ [INSTANCE_HEADER]: 'Not an instance!' }, '192.0.2.9'), 400)
  })
})

describe('reports', () => {
  it('F24: have a budget of bytes for each cluster, and other clusters have their own', async () => {
    const send = async (name: string) => {
      const code = await hub.token(name, { clusterName: name })
      const { certificate } = await createApplicant(hub, name).join(code)
      await hub.clock.settle()
      let n = 0
      return async (size: number) => {
        // Each differs, so that each is a write.
        const body = bytes({ padding: `${n++}`.padEnd(size, 'x') })
        return (await hub.ask('POST', ROUTES.report, { certificate, body })).status
      }
    }
    const noisy = await send('store-1')
    const healthy = await send('store-2')
    const answers: number[] = []
    for (let n = 0; n < 12; n++) answers.push(await noisy(2_600_000))
    assert.equal(answers.filter((status) => status === 429).length, 8, answers.join(' '))
    assert.notEqual(await healthy(1000), 429)
    await hub.clock.advance(60_000)
    assert.notEqual(await noisy(1000), 429)
  })
})

describe('differences', () => {
  const text = (of: string) => Array.from({ length: 200 }, (_, i) => `${of} line ${i}`).join('\n')

  async function two() {
    for (const name of ['me', 'other']) await hub.client.create(Cluster, buildCluster(name, { spec: { id: name } }))
    const secret = { generation: 1, objects: [configMap('x', { text: text('theirs') })] }
    const held = await hub.assign('other', { 'default/x': secret })
    const base = (await hub.client.get(Assignment, { name: 'other' })).spec.entries[0]!.set
    const mine = await hub.assign('me', {
      'default/x': { generation: 1, objects: [configMap('x', { text: text('guess') })] },
    })
    const set = (await hub.client.get(Assignment, { name: 'me' })).spec.entries[0]!.set
    await hub.clock.settle()
    const { transport } = hub.connect({ endpoint: 'x', cas: [], certificate: hub.certificateFor('me'), privateKey: '' })
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await transport({ method: 'GET', path, headers }, new AbortController().signal)
      return { ...answer, bytes: await readBody(answer.body, 1_000_000) }
    }
    return { set, base, held, mine, get }
  }

  it("to another cluster's set or document are never made: a difference tells about its base", async () => {
    const { set, base, held, mine, get } = await two()
    const whole = await get(`${ROUTES.set}${set}`)
    for (const query of [`base=${base}`, `base=${base}&held=${held}`, `base=${base}&held=${mine}`, 'base=x&held=y']) {
      const answer = await get(`${ROUTES.set}${set}?${query}`)
      assert.equal(answer.headers[BASE_HEADER], undefined, query)
      assert.deepEqual(answer.bytes, whole.bytes, query)
    }
    // F20: a file of a Source is a blob, too; only the signature of the hub makes a document of it.
    const { document: own } = openDocument((await hub.blobs.get(mine))!, allSignerKeys(hub.trust))
    const entries = own.content.entries.map((entry) => ({ ...entry, set: base }))
    const { privateKey, publicKey } = generateKeyPair('ed25519')
    const forger = { keyId: keyIdOf(publicKey), privateKey }
    const forged = await hub.blobs.put(signDocument(forger, { ...own, content: { ...own.content, entries } }))
    const tricked = await get(`${ROUTES.set}${set}?base=${base}&held=${forged}`)
    assert.equal(tricked.headers[BASE_HEADER], undefined)
    assert.deepEqual(tricked.bytes, whole.bytes)
    const document = await get(ROUTES.document)
    const guessed = await get(`${ROUTES.document}?base=${held}`)
    assert.equal(guessed.headers[BASE_HEADER], undefined)
    assert.deepEqual(guessed.bytes, document.bytes)
    for (const from of ['-1', '0.5', 'x', '1e9', '7']) {
      assert.equal((await get(`${ROUTES.set}${set}?from=${from}`)).status, 404, from)
    }
  })

  it('to its own are, and go on where they ended only with the tag of the same bytes', async () => {
    const { set, mine, get } = await two()
    await hub.assign('me', { 'default/x': { generation: 2, objects: [configMap('x', { text: `${text('guess')}!` })] } })
    await hub.clock.settle()
    const next = (await hub.client.get(Assignment, { name: 'me' })).spec.entries[0]!.set
    const small = await get(`${ROUTES.set}${next}?base=${set}&held=${mine}`)
    assert.equal(small.headers[BASE_HEADER], set)
    const whole = await get(`${ROUTES.set}${next}`)
    assert.ok(
      small.bytes.byteLength * 2 < whole.bytes.byteLength,
      `${small.bytes.byteLength} ${whole.bytes.byteLength}`,
    )
    const etag = whole.headers['etag']!
    const rest = await get(`${ROUTES.set}${next}`, { range: 'bytes=10-', 'if-range': etag })
    assert.equal(rest.status, 206)
    assert.deepEqual(rest.bytes, whole.bytes.subarray(10))
    const odd: Record<string, string>[] = [
      { range: 'bytes=10-', 'if-range': '"other"' },
      { range: 'bytes=10-' },
      { range: 'bytes=99999999-', 'if-range': etag },
      { range: 'bytes=10-20', 'if-range': etag },
      { range: 'bytes=-5', 'if-range': etag },
    ]
    for (const headers of odd) {
      const answer = await get(`${ROUTES.set}${next}`, headers)
      assert.equal(answer.status, 200, JSON.stringify(headers))
      assert.deepEqual(answer.bytes, whole.bytes)
    }
    const document = await get(`${ROUTES.document}?base=${mine}`)
    assert.equal(document.headers[BASE_HEADER], mine)
  })
})

describe('CVE-2024-56513: what an agent may do', () => {
  it('equals the golden file, route by route, for all callers', async () => {
    assert.equal(await authorityTable(hub), goldenAuthority())
  })
})
