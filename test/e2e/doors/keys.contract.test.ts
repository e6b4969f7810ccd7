/** Doors to the identity of clusters: who renews, who replaces a key, and who invites. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededKeys } from '../../../src/core/crypto/key-pair.ts'
import { createSeededIds } from '../../../src/sim/kernel/seeded-ids.ts'
import { createApplicant } from '../../../src/testing/agents/hostile-agent.ts'
import { writePublicKey } from '../../../src/wire/trust/trust-bundle.ts'
import { eventually } from '../flotilla-process.ts'
import { startDoorHub } from './door-hub.ts'

const CLUSTERS = '/apis/flotilla.dev/v1alpha1/clusters'
const TOKENS = '/apis/flotilla.dev/v1alpha1/jointokens'
const newKeys = seededKeys(createSeededIds('thief'))

test('F1, F7, F8: keys rotate, and are replaced or invited only with the verb accept', async (t) => {
  const hub = await startDoorHub(t)
  const { code } = JSON.parse(await hub.flotilla('cluster', 'add', 'store-1', '-o', 'json')) as { code: string }
  const who = createApplicant(hub.asApplicant(code), 'store-1')
  const { clusterId } = await who.join(code)

  await t.test('F1: the gateway records a new sealing key', async () => {
    const sealingKey = writePublicKey(newKeys('x25519').publicKey)
    const fields = { clusterId, csr: who.csrFor(clusterId), sealingKey }
    const rotated = await eventually('the gateway knows the cluster', async () => {
      const answer = await who.enrol(code, { fields })
      return answer.status === 409 ? undefined : answer
    })
    assert.equal(rotated.status, 200, rotated.message)
    const { spec } = (await hub.admin.json({ method: 'GET', path: `${CLUSTERS}/store-1` })) as {
      spec: { sealingKey: string }
    }
    assert.equal(spec.sealingKey, sealingKey)
    assert.equal((await who.renew(clusterId)).status, 200)
  })

  await t.test('F7, CVE-2025-4563, CVE-2025-5187: a user who may label a cluster does not take it over', async () => {
    const verbs = ['get', 'list', 'update', 'patch']
    const labeller = await hub.account('labeller', [{ apiGroups: ['flotilla.dev'], resources: ['clusters'], verbs }])
    const thief = createApplicant(hub.asApplicant(code), 'thief')
    const identityKey = writePublicKey(thief.identity.publicKey)
    const sealingKey = writePublicKey(newKeys('x25519').publicKey)
    const patch = (body: unknown) => labeller('PATCH', `${CLUSTERS}/store-1`, body)
    assert.equal((await patch({ metadata: { labels: { region: 'eu' } } })).status, 200)
    for (const spec of [{ identityKey }, { identityKey, sealingKey }]) {
      const answer = await patch({ spec })
      assert.equal(answer.status, 422, answer.text)
    }
    for (const spec of [{ sealingKey }, { retiredSealingKey: { key: sealingKey, at: '2030-01-01T00:00:00Z' } }]) {
      const answer = await patch({ spec })
      assert.equal(answer.status, 403, answer.text)
      assert.match(answer.text, /may not change the keys of store-1: it needs the verb accept/)
    }
    const renewed = await thief.renew(clusterId)
    assert.ok(renewed.status >= 400 && renewed.status < 500, String(renewed.status))
  })

  await t.test('F8: a user who may create join tokens does not accept clusters', async () => {
    const verbs = ['create', 'update', 'patch']
    const maker = await hub.account('maker', [{ apiGroups: ['flotilla.dev'], resources: ['jointokens'], verbs }])
    const token = (name: string, more: object) => ({
      apiVersion: 'flotilla.dev/v1alpha1',
      kind: 'JoinToken',
      metadata: { name },
      spec: { tokenHash: '0'.repeat(64), clusterName: name, expiresAt: '2099-01-01T00:00:00Z', ...more },
    })
    for (const more of [{ accept: 'Auto' }, { labels: { tier: 'store', env: 'prod' } }]) {
      const answer = await maker('POST', TOKENS, token('evil', more))
      assert.equal(answer.status, 403, answer.text)
    }
    assert.equal((await maker('POST', TOKENS, token('good', {}))).status, 201)
    for (const spec of [{ accept: 'Auto' }, { uses: 9 }, { labels: { tier: 'store' } }]) {
      assert.equal((await maker('PATCH', `${TOKENS}/good`, { spec })).status, 403)
    }
  })

  await hub.checkAlive()
  assert.equal((await hub.process.stop()).code, 0)
})
