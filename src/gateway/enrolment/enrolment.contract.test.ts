import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { fromUtf8 } from '../../core/bytes.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { JoinToken } from '../../kinds/native/join-token.ts'
import { createApplicant } from '../../testing/agents/hostile-agent.ts'
import { startTestHub } from '../../testing/hub/test-hub.ts'
import type { TestHub } from '../../testing/hub/test-hub.ts'
import { ROUTES } from '../../wire/link/frames.ts'

let hub: TestHub

beforeEach(async () => {
  hub = await startTestHub()
})
afterEach(() => hub.close())

const clusterOf = (name: string) => hub.client.get(Cluster, { name })

describe('a token with networks', () => {
  it('works from there, and from nowhere else, whatever a header says', async () => {
    const code = await hub.token('one', { clusterName: 'store-1', networks: ['10.8.0.0/16', '2001:db8::/32'] })
    const who = createApplicant(hub, 'a')
    const lies = { 'x-forwarded-for': '10.8.0.1', forwarded: 'for=10.8.0.1', 'x-real-ip': '10.8.0.1' }
    for (const address of ['10.9.0.1', '::ffff:10.9.0.1', '2001:db9::1', 'nonsense', undefined]) {
      const refused = await who.enrol(code, { headers: lies, ...(address === undefined ? {} : { address }) })
      assert.equal(refused.status, 403, String(address))
      assert.match(refused.message, /cannot be used from/)
    }
    assert.equal((await hub.client.get(JoinToken, { name: 'one' })).status?.used, undefined)
    assert.equal((await who.enrol(code, { address: '::ffff:10.8.3.4' })).status, 200)
    const [use] = (await hub.client.get(JoinToken, { name: 'one' })).status?.usedBy ?? []
    assert.equal(use?.address, '::ffff:10.8.3.4')
  })

  it('that cannot be read admits no cluster', async () => {
    const code = await hub.token('one', { clusterName: 'store-1', networks: ['999.8.0.0/16'] })
    assert.equal((await createApplicant(hub, 'a').enrol(code, { address: '10.8.0.1' })).status, 403)
  })
})

describe('who accepts', () => {
  it('is an expression over what the hub knows, and a person when it does not say yes', async () => {
    const rule = "name.startsWith('store-') && labels.region == 'eu' && cidr('10.8.0.0/16').containsIP(address)"
    const spec = { namePattern: '*', uses: 9, accept: 'Rule', labels: { region: 'eu' } } as const
    const code = await hub.token('ruled', { ...spec, acceptRule: rule, siteClass: 'Edge' })
    const join = async (name: string, address?: string, with_ = code) => {
      const fields = { clusterName: name }
      return (await createApplicant(hub, name).enrol(with_, { fields, ...(address === undefined ? {} : { address }) }))
        .state
    }
    assert.equal(await join('store-1', '10.8.0.7'), 'Accepted')
    assert.equal(await join('bank-1', '10.8.0.7'), 'Pending')
    assert.equal(await join('store-2', '10.9.0.7'), 'Pending')
    assert.equal(await join('store-3'), 'Pending', 'an unknown address')
    const { siteClass, checkInSeconds, offlineAfterSeconds } = (await clusterOf('store-1')).spec
    assert.deepEqual([siteClass, checkInSeconds, offlineAfterSeconds], ['Edge', 60, 900])
    for (const [index, acceptRule] of [undefined, 'name', 'no such thing', '[1,2][7] == 1'].entries()) {
      const odd = await hub.token(`odd-${index}`, { ...spec, ...(acceptRule === undefined ? {} : { acceptRule }) })
      assert.equal(await join(`odd-${index}`, '10.8.0.7', odd), 'Pending', String(acceptRule))
    }
  })

  it('is the rule for its networks, and a person for the rest', async () => {
    const code = await hub.token('many', {
      namePattern: 'store-*',
      uses: 9,
      accept: 'Networks',
      acceptNetworks: ['10.8.0.0/16'],
    })
    const join = async (name: string, address?: string) =>
      (
        await createApplicant(hub, name).enrol(code, {
          fields: { clusterName: name },
          ...(address === undefined ? {} : { address }),
        })
      ).state
    assert.equal(await join('store-1', '10.8.0.7'), 'Accepted')
    assert.equal(await join('store-2', '10.9.0.7'), 'Pending')
    assert.equal(await join('store-3'), 'Pending')
  })

  it('is a person for a pattern without networks, also when the token says Auto', async () => {
    const code = await hub.token('many', { namePattern: 'store-*', accept: 'Auto' })
    const answer = await createApplicant(hub, 'a').enrol(code, { fields: { clusterName: 'store-1' } })
    assert.equal(answer.state, 'Pending')
  })

  it('is refused for a token without a name', async () => {
    const code = await hub.token('none', {})
    const answer = await createApplicant(hub, 'a').enrol(code, { fields: { clusterName: 'store-1' } })
    assert.equal(answer.status, 403)
  })
})

describe('a cluster that is turned away', () => {
  async function refuse(name: string, verdict: 'Rejected' | 'Revoked', accepted = false) {
    const cluster = await clusterOf(name)
    const refused = { verdict, at: '2026-01-01T00:00:00Z', reason: 'not for the agent to know' }
    await hub.client.update(Cluster, { ...cluster, spec: { ...cluster.spec, accepted, refused } })
    await hub.clock.settle()
  }

  it('gets the same 403 on every route, certificate or key, and its open stream ends at once', async () => {
    const code = await hub.token('one', { clusterName: 'store-1' })
    const who = createApplicant(hub, 'a')
    const { clusterId, certificate } = await who.join(code)
    await hub.assign('store-1', {})
    await hub.clock.settle()
    const { transport } = hub.connect({ endpoint: 'x', cas: [], certificate, privateKey: '' })
    const answer = await transport({ method: 'GET', path: ROUTES.follow, headers: {} }, new AbortController().signal)
    const frames: string[] = []
    const reading = (async () => {
      for await (const chunk of answer.body) frames.push(fromUtf8(chunk))
    })()
    await hub.clock.settle()
    assert.ok(frames.length > 0)
    // Also if `accepted` was left true.
    await refuse('store-1', 'Revoked', true)
    await reading
    const said = new Set<string>()
    for (const route of [ROUTES.document, ROUTES.follow, `${ROUTES.blob}sha256:${'0'.repeat(64)}`, '/agent/v1/none']) {
      const { status, text } = await hub.ask('GET', route, { certificate })
      said.add(`${status} ${text}`)
    }
    const renewed = await who.renew(clusterId)
    const enrolled = await who.enrol(code, { fields: { clusterId, csr: who.csrFor(clusterId) } })
    for (const { status, message } of [renewed, enrolled])
      said.add(`${status} {"reason":"Forbidden","message":${JSON.stringify(message)}}`)
    assert.equal(said.size, 1, [...said].join('\n'))
    assert.match([...said][0]!, /^403 /)
    assert.doesNotMatch([...said][0]!, /not for the agent/)
  })

  it('cannot come back under its name or with its token, until a person accepts it', async () => {
    const code = await hub.token('one', { clusterName: 'store-1', accept: 'Manual' })
    const who = createApplicant(hub, 'a')
    const { clusterId } = await who.enrol(code)
    await refuse('store-1', 'Rejected')
    assert.equal((await who.enrol(code)).status, 403)
    assert.equal((await createApplicant(hub, 'b').enrol(code)).status, 409)
    const { refused: _, ...spec } = (await clusterOf('store-1')).spec
    await hub.client.update(Cluster, { ...(await clusterOf('store-1')), spec: { ...spec, accepted: true } })
    await hub.clock.settle()
    const back = await who.enrol(code, { fields: { clusterId, csr: who.csrFor(clusterId) } })
    assert.deepEqual([back.status, back.clusterId], [200, clusterId])
  })

  it('that was deleted comes back with its own used token only while the token is valid', async () => {
    const code = await hub.token('one', { clusterName: 'store-1' })
    const who = createApplicant(hub, 'a')
    await who.enrol(code)
    await hub.client.delete(Cluster, { name: 'store-1' })
    hub.clock.jumpWall(2 * 3_600_000)
    assert.equal((await who.enrol(code)).status, 401)
  })
})

describe('a token that takes over', () => {
  const pushed = async (name: string) => {
    const former = createApplicant(hub, 'hub')
    assert.equal(
      (await former.enrol(await hub.token(`first-${name}`, { clusterName: name, accept: 'Auto' }))).status,
      200,
    )
    const kubeconfigSecret = { namespace: 'flotilla-system', name }
    await hub.client.patch(Cluster, { name }, { type: 'merge', body: { spec: { kubeconfigSecret } } })
    return await clusterOf(name)
  }

  it('gives the name of a cluster to another key if the hub runs its agent, and only then', async () => {
    const before = await pushed('store-1')
    const plain = await hub.token('plain', { clusterName: 'store-1', accept: 'Auto' })
    assert.equal((await createApplicant(hub, 'thief').enrol(plain)).status, 409)
    const pattern = await hub.token('pattern', { namePattern: 'store-*', takeOver: true })
    const named = { fields: { clusterName: 'store-1' } }
    assert.equal((await createApplicant(hub, 'thief').enrol(pattern, named)).status, 409)
    assert.deepEqual((await clusterOf('store-1')).spec, before.spec)

    const code = await hub.token('move', { clusterName: 'store-1', takeOver: true })
    const agent = createApplicant(hub, 'in the cluster')
    const taken = await agent.enrol(code)
    // The gateway replaces no identity; the hub does, by the keys that the token has from now on.
    assert.deepEqual([taken.status, taken.state], [200, 'Pending'], taken.message)
    assert.deepEqual((await clusterOf('store-1')).spec, before.spec)
    const { status } = await hub.client.get(JoinToken, { name: 'move' })
    assert.equal(status?.used, 1)
    assert.notEqual(status?.takeOver?.identityKey, before.spec.identityKey)
    assert.equal((await createApplicant(hub, 'thief').enrol(code)).status, 401)
    const body = { spec: { ...status?.takeOver, joinToken: 'move', kubeconfigSecret: null } }
    await hub.client.patch(Cluster, { name: 'store-1' }, { type: 'merge', body })
    const then = await agent.enrol(code)
    assert.deepEqual([then.status, then.state], [200, 'Accepted'], then.message)
    assert.equal((await clusterOf('store-1')).spec.id, before.spec.id)
    // No other agent may follow, also with a further code.
    const again = await hub.token('again', { clusterName: 'store-1', takeOver: true })
    assert.equal((await createApplicant(hub, 'thief').enrol(again)).status, 409)
  })
})
