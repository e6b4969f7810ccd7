import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { matchesGlob } from '../core/text/glob.ts'
import { base64, fromUtf8, generateKeyPair, publicKeyDer, utf8 } from '../core/bytes.ts'
import type { KeyPair } from '../core/bytes.ts'
import type { Client } from '../client/client.ts'
import { digestOf } from '../core/crypto/digest.ts'
import { ApiError } from '../core/errors.ts'
import { silentLogger } from '../core/log.ts'
import { seededKeys } from '../core/crypto/key-pair.ts'
import { isObject } from '../core/json.ts'
import { formatTime } from '../core/time/time.ts'
import { createSigningRequest, parseCertificate } from '../core/crypto/x509.ts'
import { Assignment } from '../kinds/native/assignment.ts'
import { ClusterReport } from '../kinds/native/cluster-report.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { JoinToken } from '../kinds/native/join-token.ts'
import { buildCluster } from '../testing/fixtures/builders.ts'
import { buildTrust } from '../testing/fixtures/wire-builders.ts'
import { configMap, objectDigest, startTestHub } from '../testing/hub/test-hub.ts'
import type { TestHub } from '../testing/hub/test-hub.ts'
import { PAYLOAD, signEnvelope } from '../wire/trust/envelope.ts'
import { ROUTES } from '../wire/link/frames.ts'
import type { EnrolRequest, Report } from '../wire/link/frames.ts'
import { issueAgentCertificate, signerOf } from '../wire/trust/hub-keys.ts'
import { parseJoinCode } from '../wire/trust/join-code.ts'
import { LIVENESS_ANNOTATION, parseLiveness } from '../wire/link/liveness.ts'
import { writePublicKey } from '../wire/trust/trust-bundle.ts'
import { createLiveness } from './liveness.ts'

let hub: TestHub

beforeEach(async () => {
  hub = await startTestHub()
})
afterEach(() => hub.close())

/** An agent that enrols: its keys, with any field of the request replaced. */
function applicant(name: string) {
  const newKeys = seededKeys(hub.ids.fork(name))
  const identity = newKeys('ed25519')
  const sealing = newKeys('x25519')
  const tls = newKeys('p256')
  async function enrol(code: string, overrides: Partial<EnrolRequest> = {}, signedBy: KeyPair = identity) {
    const request: EnrolRequest = {
      root: hub.trust.root.keyId,
      token: parseJoinCode(code).token,
      identityKey: writePublicKey(identity.publicKey),
      sealingKey: writePublicKey(sealing.publicKey),
      agentVersion: '0.1.0',
      ...overrides,
    }
    const body = signEnvelope(signerOf(signedBy), PAYLOAD.enrol, utf8(JSON.stringify(request)))
    return parsed(await hub.ask('POST', ROUTES.enrol, { body }))
  }
  async function renew(clusterId: string, more: { csr?: string; certificate?: string; signedBy?: KeyPair } = {}) {
    const request = { root: hub.trust.root.keyId, clusterId, csr: more.csr ?? csrFor(clusterId) }
    const body = signEnvelope(signerOf(more.signedBy ?? identity), PAYLOAD.renew, utf8(JSON.stringify(request)))
    return parsed(
      await hub.ask('POST', ROUTES.renew, { body, ...(more.certificate ? { certificate: more.certificate } : {}) }),
    )
  }
  const csrFor = (commonName: string, organizations: string[] = []) =>
    createSigningRequest({ privateKey: tls.privateKey, subject: { commonName, organizations } })
  return { enrol, renew, csrFor, identity }
}

function parsed({ status, text }: { status: number; text: string }) {
  const value: unknown = JSON.parse(text)
  assert.ok(isObject(value))
  const field = (name: string) => {
    const found = value[name]
    return typeof found === 'string' ? found : ''
  }
  return {
    status,
    state: field('state'),
    clusterId: field('clusterId'),
    message: field('message'),
    certificate: field('certificate'),
  }
}

async function accepted(name: string) {
  const who = applicant(name)
  const code = await hub.token(`token-${name}`, { clusterName: name })
  const { clusterId } = await who.enrol(code)
  return {
    ...who,
    clusterId,
    code,
    certificate: (await who.enrol(code, { clusterId, csr: who.csrFor(clusterId) })).certificate,
  }
}

describe('enrolment', () => {
  it('gives exactly one of fifty applicants a single-use token for a pattern of names', async () => {
    const code = await hub.token('many', { namePattern: 'store-*', uses: 1 })
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => applicant(`x${i}`).enrol(code, { clusterName: `store-${i}` })),
    )
    assert.equal(answers.filter((answer) => answer.status === 200).length, 1)
    assert.equal(answers.filter((answer) => answer.status === 401).length, 49)
    assert.equal((await hub.client.list(Cluster)).items.length, 1)
    assert.equal((await hub.client.get(JoinToken, { name: 'many' })).status?.used, 1)
  })

  it('gives exactly one of fifty keys a single-use token for one name', async () => {
    const code = await hub.token('one', { clusterName: 'store-1' })
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => applicant(`x${i}`).enrol(code)))
    assert.equal(answers.filter((answer) => answer.status === 200).length, 1)
    assert.equal((await hub.client.list(Cluster)).items.length, 1)
  })

  it('lets many in when the token says so, and no more', async () => {
    const code = await hub.token('many', { namePattern: 'store-?', uses: 5 })
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, i) => applicant(`x${i}`).enrol(code, { clusterName: `store-${i}` })),
    )
    assert.equal(answers.filter((answer) => answer.status === 200).length, 5)
    assert.equal((await hub.client.list(Cluster)).items.length, 5)
  })

  it('is the same for the same key however often it asks', async () => {
    const who = applicant('a')
    const code = await hub.token('one', { clusterName: 'store-1' })
    const answers = [await who.enrol(code), ...(await Promise.all([who.enrol(code), who.enrol(code)]))]
    assert.deepEqual(new Set(answers.map((answer) => `${answer.status} ${answer.clusterId}`)).size, 1)
    // Also after the token has expired, for the registered cluster and for no other.
    hub.clock.jumpWall(2 * 3_600_000)
    assert.equal((await who.enrol(code, { clusterId: answers[0]!.clusterId })).status, 200)
    assert.equal((await applicant('b').enrol(code)).status, 409)
  })

  it('picks up a use that a crash left without a cluster, for the same key only', async () => {
    const who = applicant('a')
    const code = await hub.token('one', { clusterName: 'store-1' })
    const { clusterId } = await who.enrol(code)
    await hub.client.delete(Cluster, { name: 'store-1' })
    assert.equal((await applicant('thief').enrol(code)).status, 401)
    const again = await who.enrol(code)
    assert.equal(again.status, 200)
    assert.notEqual(again.clusterId, clusterId)
    assert.equal((await hub.client.get(JoinToken, { name: 'one' })).status?.used, 1)
  })

  it('refuses with a reason', async () => {
    const who = applicant('a')
    const code = await hub.token('one', { clusterName: 'store-1' })
    const pattern = await hub.token('pattern', { namePattern: 'store-*' })
    const expired = await hub.token('old', { clusterName: 'store-9', expiresAt: '2025-01-01T00:00:00Z' })
    const { token } = parseJoinCode(code)
    const other = seededKeys(hub.ids.fork('other'))
    const cases: [string, ReturnType<typeof who.enrol>, number, RegExp][] = [
      [
        'a wrong secret',
        who.enrol(code, { token: { ...token, secret: `${token.secret}x` } }),
        401,
        /unknown join code/,
      ],
      ['an unknown token', who.enrol(code, { token: { ...token, name: 'none' } }), 401, /unknown join code/],
      [
        'a token name that is a path',
        who.enrol(code, { token: { ...token, name: '../clusters/x' } }),
        401,
        /unknown join code/,
      ],
      ['an expired token', who.enrol(expired), 401, /expired at 2025/],
      ['another name', who.enrol(code, { clusterName: 'store-10' }), 403, /for cluster "store-1", not for "store-10"/],
      ['no name for a pattern', who.enrol(pattern), 400, /--name/],
      ['a name outside the pattern', who.enrol(pattern, { clusterName: 'shop-1' }), 403, /names that match "store-\*"/],
      ['a request for another hub', who.enrol(code, { root: objectDigest(configMap('x')) }), 400, /root/],
      ['a signature of another key', who.enrol(code, {}, other('ed25519')), 400, /not trusted/],
      [
        'an identity key of the wrong kind',
        who.enrol(code, { identityKey: writePublicKey(other('x25519').publicKey) }),
        400,
        /identityKey/,
      ],
      ['an odd name', who.enrol(pattern, { clusterName: 'store-1/../x' }), 400, /clusterName/],
    ]
    for (const [what, answer, status, message] of cases) {
      const { status: got, message: said } = await answer
      assert.equal(got, status, `${what}: ${said}`)
      assert.match(said, message, what)
    }
    assert.equal((await hub.client.list(Cluster)).items.length, 0)
  })

  it('refuses a taken name with another key and leaves the cluster as it is', async () => {
    await accepted('store-1')
    const before = await hub.client.get(Cluster, { name: 'store-1' })
    const second = await hub.token('second', { clusterName: 'store-1' })
    const answer = await applicant('b').enrol(second)
    assert.equal(answer.status, 409)
    assert.match(answer.message, /already registered with another key/)
    assert.deepEqual(await hub.client.get(Cluster, { name: 'store-1' }), before)
  })

  it('certifies the whole id and nothing beside it', async () => {
    const who = applicant('a')
    const code = await hub.token('one', { clusterName: 'store-1' })
    const { clusterId } = await who.enrol(code)
    for (const csr of [
      who.csrFor(`${clusterId}0`),
      who.csrFor(clusterId.slice(0, -1)),
      who.csrFor(clusterId.toUpperCase()),
      who.csrFor(`${clusterId} `),
      who.csrFor(clusterId, ['system:masters']),
    ]) {
      assert.equal((await who.enrol(code, { clusterId, csr })).status, 403)
    }
    assert.equal((await who.enrol(code, { clusterId, csr: 'x' })).status, 400)
    const { certificate } = await who.enrol(code, { clusterId, csr: who.csrFor(clusterId) })
    assert.deepEqual(parseCertificate(certificate).subject, {
      commonName: clusterId,
      organizations: ['flotilla:agents'],
    })
  })
})

describe('renewal', () => {
  it('needs the enrolled identity key, and nothing else', async () => {
    const a = await accepted('a')
    const b = await accepted('b')
    hub.clock.jumpWall(60 * 86_400_000)
    assert.equal((await a.renew(a.clusterId)).status, 200)
    assert.equal((await a.renew(a.clusterId, { certificate: a.certificate })).status, 200, 'an expired certificate')
    assert.equal((await a.renew(a.clusterId, { signedBy: b.identity })).status, 400)
    assert.equal((await a.renew(b.clusterId)).status, 400)
    assert.equal((await a.renew(`${a.clusterId}0`)).status, 401)
    assert.equal((await b.renew(b.clusterId, { csr: b.csrFor(a.clusterId) })).status, 403)
    assert.equal((await b.renew(b.clusterId, { certificate: hub.certificateFor(a.clusterId) })).status, 401)
  })

  it('is not for clusters that are no longer accepted', async () => {
    const a = await accepted('a')
    const cluster = await hub.client.get(Cluster, { name: 'a' })
    await hub.client.update(Cluster, { ...cluster, spec: { ...cluster.spec, accepted: false } })
    await hub.clock.settle()
    assert.equal((await a.renew(a.clusterId)).status, 403)
    assert.equal((await hub.ask('GET', ROUTES.document, { certificate: a.certificate })).status, 403)
  })
})

describe('the door', () => {
  const report: Report = { epoch: 1, revision: 1, agentVersion: '0.1.0', bundles: [] }
  const body = utf8(JSON.stringify(report))
  const shared = configMap('shared')
  const secretOfB = configMap('secret', { of: 'b' })

  async function twoClusters() {
    // Ids and names that begin alike.
    await hub.client.create(Cluster, buildCluster('prod1', { spec: { id: 'prod1' } }))
    await hub.client.create(Cluster, buildCluster('prod10', { spec: { id: 'prod10' } }))
    await hub.assign('prod1', { 'default/x': { generation: 1, objects: [shared] } })
    await hub.assign('prod10', { 'default/x': { generation: 1, objects: [shared, secretOfB] } })
    await hub.clock.settle()
    return { a: hub.certificateFor('prod1'), b: hub.certificateFor('prod10') }
  }

  it("gives a cluster its own document and blobs, and the same 404 for other clusters' and for missing ones", async () => {
    const { a, b } = await twoClusters()
    const mine = await hub.ask('GET', ROUTES.document, { certificate: a })
    const theirs = await hub.ask('GET', ROUTES.document, { certificate: b })
    assert.equal(mine.status, 200)
    assert.notEqual(mine.text, theirs.text)
    const setOfA = await hub.putSet([shared])
    const setOfB = await hub.putSet([shared, secretOfB])
    const stranger = await hub.putSet([configMap('unassigned')])
    const blob = async (certificate: string, digest: string) => {
      const { status, text } = await hub.ask('GET', `${ROUTES.blob}${digest}`, { certificate })
      return `${status} ${status === 200 ? '' : text}`
    }
    for (const digest of [setOfA, objectDigest(shared)]) assert.equal(await blob(a, digest), '200 ')
    for (const digest of [setOfB, objectDigest(shared), objectDigest(secretOfB)])
      assert.equal(await blob(b, digest), '200 ')
    const missing = await blob(a, objectDigest(configMap('never stored')))
    assert.match(missing, /^404 /)
    const documentOfB = (await hub.client.get(Assignment, { name: 'prod10' })).spec.document
    for (const digest of [documentOfB, setOfB, objectDigest(secretOfB), stranger, 'sha256:x', '../../etc/passwd', '']) {
      assert.equal(await blob(a, digest), missing, digest)
    }
  })

  it('refuses every caller without a certificate of a registered agent, on every path', async () => {
    await twoClusters()
    const request = {
      clusterId: 'prod1',
      publicKey: hub.trust.root.publicKey,
      serial: hub.ids.bytes(16),
      now: hub.clock.now(),
    }
    const foreign = issueAgentCertificate(buildTrust(2).trust.transportCa, request).certificate
    const paths = [
      ROUTES.document,
      ROUTES.follow,
      `${ROUTES.blob}x`,
      '/agent/v1/none',
      '/',
      '/apis/flotilla.dev/v1alpha1/clusters',
    ]
    for (const path of paths) {
      for (const certificate of [undefined, foreign, hub.certificateFor('prod'), hub.certificateFor('prod100')]) {
        assert.equal((await hub.ask('GET', path, certificate ? { certificate } : {})).status, 401, path)
      }
    }
    const a = hub.certificateFor('prod1')
    for (const [method, path] of [
      ['GET', '/agent/v1/none'],
      ['POST', ROUTES.document],
      ['GET', ROUTES.report],
      ['DELETE', ROUTES.report],
      ['GET', '/'],
    ] as const) {
      assert.equal((await hub.ask(method, path, { certificate: a })).status, 404, `${method} ${path}`)
    }
  })

  it("writes a cluster's own report, by its certificate and never by what it says", async () => {
    const { a } = await twoClusters()
    assert.equal((await hub.ask('POST', ROUTES.report, { certificate: a, body })).status, 200)
    assert.equal((await hub.client.get(ClusterReport, { name: 'prod1' })).spec.clusterId, 'prod1')
    await assert.rejects(hub.client.get(ClusterReport, { name: 'prod10' }), /not found/)
  })

  it('refuses malformed, lying and huge reports and stores nothing of them', async () => {
    const { a } = await twoClusters()
    const row = { bundle: 'default/x', generation: 1, set: objectDigest(shared), state: 'Ready' }
    const bad: unknown[] = [
      null,
      [],
      'report',
      {},
      { ...report, clusterId: 'prod10' },
      { ...report, revision: -1 },
      { ...report, revision: '1' },
      { ...report, bundles: [{ ...row, state: 'Fine' }] },
      { ...report, bundles: [{ ...row, state: 'Offline' }] },
      { ...report, bundles: [{ ...row, bundle: '../x' }] },
      { ...report, bundles: [{ ...row, message: 'x'.repeat(5000) }] },
      { ...report, bundles: [{ ...row, more: {} }] },
      { ...report, bundles: Array.from({ length: 501 }, () => row) },
    ]
    for (const value of bad) {
      const { status, text } = await hub.ask('POST', ROUTES.report, {
        certificate: a,
        body: utf8(JSON.stringify(value)),
      })
      assert.equal(status, 400, `${JSON.stringify(value).slice(0, 80)}: ${text}`)
    }
    assert.equal(
      (await hub.ask('POST', ROUTES.report, { certificate: a, body: new Uint8Array(5 * 1024 * 1024) })).status,
      413,
    )
    assert.equal((await hub.ask('POST', ROUTES.report, { certificate: a, body: utf8('{') })).status, 400)
    await assert.rejects(hub.client.get(ClusterReport, { name: 'prod1' }), /not found/)
  })

  it('stores a report only when something changed, and never an older one', async () => {
    const { a } = await twoClusters()
    const send = (value: Report) =>
      hub.ask('POST', ROUTES.report, { certificate: a, body: utf8(JSON.stringify(value)) })
    await send({ ...report, revision: 5 })
    const first = await hub.client.get(ClusterReport, { name: 'prod1' })
    await hub.clock.advance(5000)
    assert.equal((await send({ ...report, revision: 5 })).status, 200)
    assert.deepEqual(await hub.client.get(ClusterReport, { name: 'prod1' }), first)
    const older = await send({ ...report, revision: 4 })
    assert.equal(older.status, 409)
    assert.match(older.text, /already reported epoch 1 revision 5/)
    assert.equal((await send({ ...report, revision: 6 })).status, 200)
    assert.equal((await hub.client.get(ClusterReport, { name: 'prod1' })).spec.revision, 6)
  })

  it('tells agents to come back while the hub’s API cannot be reached, and streams go on', async () => {
    const { a: certificate } = await twoClusters()
    hub.network.apiUp = false
    const refused = await hub.ask('POST', ROUTES.report, { certificate, body })
    assert.equal(refused.status, 503)
    assert.match(refused.text, /"message":"the hub cannot be reached now"/)
    assert.equal((await hub.ask('GET', ROUTES.document, { certificate })).status, 200)
    hub.network.apiUp = true
    assert.equal((await hub.ask('POST', ROUTES.report, { certificate, body })).status, 200)
  })

  it('wants a report it does not know and is content with one it does', async () => {
    const { a, b } = await twoClusters()
    const digest = digestOf(body)
    const checkIn = async (certificate: string) =>
      (await hub.ask('POST', ROUTES.checkIn, { certificate, body: utf8(JSON.stringify({ report: digest })) })).text
    assert.equal(await checkIn(a), '{"report":"Wanted"}')
    await hub.ask('POST', ROUTES.report, { certificate: a, body })
    assert.equal(await checkIn(a), '{"report":"Known"}')
    assert.equal(await checkIn(b), '{"report":"Wanted"}')
  })

  it('asks for the log when a user does, keeps it once, and keeps none without a request', async () => {
    const { a } = await twoClusters()
    const checkIn = async () =>
      (
        await hub.ask('POST', ROUTES.checkIn, {
          certificate: a,
          body: utf8(JSON.stringify({ report: digestOf(body) })),
        })
      ).text
    const send = async (log: NonNullable<Report['log']>) => {
      const sent = await hub.ask('POST', ROUTES.report, {
        certificate: a,
        body: utf8(JSON.stringify({ ...report, log })),
      })
      assert.equal(sent.status, 200, sent.text)
      return (await hub.client.get(ClusterReport, { name: 'prod1' })).spec.log
    }
    await hub.ask('POST', ROUTES.report, { certificate: a, body })
    assert.equal(await send({ asked: '2026-01-01T00:00:00Z', lines: ['unasked'] }), undefined)
    const asked = formatTime(hub.clock.now())
    const question = { type: 'merge', body: { spec: { logsAskedAt: asked } } } as const
    await hub.client.patch(Cluster, { name: 'prod1' }, question)
    await hub.clock.advance(1000)
    assert.equal(await checkIn(), JSON.stringify({ report: 'Wanted', log: asked }))
    assert.deepEqual(await send({ asked, lines: ['one', 'two'] }), { asked, lines: ['one', 'two'] })
    assert.equal(await checkIn(), '{"report":"Wanted"}', 'answered; the report is another one now')
    await hub.client.patch(
      Cluster,
      { name: 'prod1' },
      { ...question, body: { spec: { logsAskedAt: '2025-01-01T00:00:00Z' } } },
    )
    await hub.clock.advance(1000)
    assert.doesNotMatch(await checkIn(), /log/, 'an old question is not asked')
    const future = formatTime(hub.clock.now() + 90_000)
    await hub.client.patch(Cluster, { name: 'prod1' }, { ...question, body: { spec: { logsAskedAt: future } } })
    await hub.clock.advance(1000)
    assert.doesNotMatch(await checkIn(), /log/, 'a question of the future is not asked')
  })

  it('asks for values of drifted fields when a user does, and keeps the answer to the last question alone', async () => {
    const { a } = await twoClusters()
    const checkIn = async () =>
      (
        await hub.ask('POST', ROUTES.checkIn, {
          certificate: a,
          body: utf8(JSON.stringify({ report: digestOf(body) })),
        })
      ).text
    const send = async (values: NonNullable<Report['values']>) => {
      const sent = await hub.ask('POST', ROUTES.report, {
        certificate: a,
        body: utf8(JSON.stringify({ ...report, values })),
      })
      assert.equal(sent.status, 200, sent.text)
      return (await hub.client.get(ClusterReport, { name: 'prod1' })).spec.values
    }
    await hub.ask('POST', ROUTES.report, { certificate: a, body })
    const newKey = () => base64(publicKeyDer(generateKeyPair('x25519').publicKey))
    const key = newKey()
    const answer = { bundle: 'default/shop', key, sealed: 'QUJD'.repeat(1_000) }
    assert.equal(await send({ ...answer, asked: '2026-01-01T00:00:00Z' }), undefined)
    const asked = formatTime(hub.clock.now())
    const ask = async (at: string, key: string) => {
      const valuesAsked = { at, bundle: 'default/shop', key }
      await hub.client.patch(Cluster, { name: 'prod1' }, { type: 'merge', body: { spec: { valuesAsked } } })
      await hub.clock.advance(1000)
    }
    await ask(asked, key)
    const question = { asked, bundle: 'default/shop', key }
    assert.equal(await checkIn(), JSON.stringify({ report: 'Wanted', values: question }))
    assert.deepEqual(await send({ ...answer, asked }), { ...answer, asked })
    assert.equal(await checkIn(), '{"report":"Wanted"}', 'answered; the report is another one now')
    const other = newKey()
    await ask(asked, other)
    assert.equal(
      await checkIn(),
      JSON.stringify({ report: 'Wanted', values: { ...question, key: other } }),
      'of the same second',
    )
    assert.equal(await send({ ...answer, asked }), undefined, 'the answer to the earlier question')
    await ask('2025-01-01T00:00:00Z', key)
    assert.doesNotMatch(await checkIn(), /values/, 'an old question is not asked')
    const ahead = (ms: number) => formatTime(hub.clock.now() + ms)
    await ask(ahead(90_000), key)
    assert.doesNotMatch(await checkIn(), /values/, 'a question of the future is not asked')
    await ask('2999-01-01T00:00:00Z', key)
    assert.doesNotMatch(await checkIn(), /values/, 'it would never expire')
    const soon = ahead(30_000)
    await ask(soon, key)
    assert.equal(await checkIn(), JSON.stringify({ report: 'Wanted', values: { ...question, asked: soon } }))
  })

  it('publishes who was heard, and for how long it has listened', async () => {
    const { a } = await twoClusters()
    await hub.clock.advance(20_000)
    await hub.ask('GET', ROUTES.document, { certificate: a })
    await hub.clock.advance(25_000)
    const leases = {
      group: 'coordination.k8s.io',
      version: 'v1',
      kind: 'Lease',
      plural: 'leases',
      scope: 'Namespaced',
    } as const
    const lease = await hub.client.get(leases, { namespace: 'flotilla-system', name: 'flotilla-gateway-0' })
    const { up, seen } = parseLiveness(lease.metadata.annotations?.['flotilla.dev/last-seen'] ?? '')
    assert.ok(up >= 40, String(up))
    assert.deepEqual(Object.keys(seen), ['prod1'])
    assert.ok(seen['prod1']! >= 15 && seen['prod1']! <= 25, String(seen['prod1']))
  })

  it('streams the newest head, and ends the streams of a cluster that is no longer accepted', async () => {
    const { a } = await twoClusters()
    const { connect } = hub
    const stop = new AbortController()
    const { transport } = connect({ endpoint: 'x', cas: [], certificate: a, privateKey: '' })
    const answer = await transport({ method: 'GET', path: ROUTES.follow, headers: {} }, stop.signal)
    const frames: string[] = []
    const reading = (async () => {
      for await (const chunk of answer.body) frames.push(fromUtf8(chunk))
    })()
    await hub.clock.settle()
    const heads = () =>
      frames.filter((frame) => frame.includes('"head"')).map((frame) => Number(/"revision":(\d+)/.exec(frame)?.[1]))
    assert.match(frames[0] ?? '', /"type":"beat"/)
    assert.deepEqual(heads(), [1])
    await hub.assign('prod10', {})
    await hub.clock.settle()
    assert.deepEqual(heads(), [1], "another cluster's head")
    await hub.assign('prod1', {})
    await hub.clock.settle()
    assert.deepEqual(heads(), [1, 2])
    const cluster = await hub.client.get(Cluster, { name: 'prod1' })
    await hub.client.update(Cluster, { ...cluster, spec: { ...cluster.spec, accepted: false } })
    await hub.clock.settle()
    await reading
  })
})

describe('the summary of who was heard', () => {
  it('stays below what an API server takes, however many clusters a gateway has', async () => {
    const lines: { name: string; bytes: number; seen: number }[] = []
    const clock = hub.clock
    const book = createLiveness({
      client: {
        get: async () => {
          throw new ApiError('NotFound', 'no')
        },
        create: async (
          _type: unknown,
          object: { metadata: { name: string; annotations?: Record<string, string> } },
        ) => {
          const text = object.metadata.annotations?.[LIVENESS_ANNOTATION]
          if (text === undefined) return object
          const seen = Object.keys(parseLiveness(text).seen).length
          lines.push({ name: object.metadata.name, bytes: text.length, seen })
          return object
        },
      } as unknown as Client,
      clock,
      log: silentLogger,
      gateway: '0',
    })
    for (let i = 0; i < 10_001; i++) book.touch(`c-${String(i).padStart(62, '0')}`)
    book.forget(`c-${'0'.repeat(62)}`)
    const stop = new AbortController()
    const running = book.run(stop.signal)
    await clock.settle()
    stop.abort()
    await clock.settle()
    await running
    assert.equal(
      lines.reduce((sum, { seen }) => sum + seen, 0),
      10_000,
    )
    assert.equal(new Set(lines.map(({ name }) => name)).size, lines.length)
    for (const { name, bytes } of lines) assert.ok(bytes < 200 * 1024, `${name}: ${bytes}`)
  })
})

describe('globs', () => {
  it('match whole names', () => {
    const cases: [string, string, boolean][] = [
      ['store-*', 'store-1', true],
      ['store-*', 'store-', true],
      ['store-*', 'xstore-1', false],
      ['store-?', 'store-12', false],
      ['*-eu-*', 'store-eu-7', true],
      ['*', 'anything', true],
      ['store', 'store', true],
      ['store', 'store-1', false],
      ['*a*a*a*b', 'a'.repeat(60), false],
    ]
    for (const [pattern, text, matches] of cases)
      assert.equal(matchesGlob(pattern, text), matches, `${pattern} ${text}`)
  })
})
