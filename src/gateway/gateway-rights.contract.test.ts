/**
 * What the gateway asks of the hub's API, as its own user, while agents do everything that they can do. A right that it
 * uses and does not have breaks a feature (F1); a right that it has and never uses is one too many.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HUB_LOCALS, HUB_ROLES } from '../apiserver/rbac/bootstrap-roles.ts'
import { utf8 } from '../core/bytes.ts'
import { seededKeys } from '../core/crypto/key-pair.ts'
import type { KeyPair } from '../core/bytes.ts'
import { ClusterReport } from '../kinds/native/cluster-report.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { createSeededIds } from '../sim/kernel/seeded-ids.ts'
import { createApplicant } from '../testing/agents/hostile-agent.ts'
import { configMap, embeddedHome, objectDigest, startTestHub } from '../testing/hub/test-hub.ts'
import type { TestHome, TestHub } from '../testing/hub/test-hub.ts'
import { grantedRights, rightsNoter } from '../testing/hub/used-rights.ts'
import type { UsedRights } from '../testing/hub/used-rights.ts'
import { TIME_HEADER } from '../wire/link/clock-skew.ts'
import { INSTANCE_HEADER, ROUTES } from '../wire/link/frames.ts'
import type { Report } from '../wire/link/frames.ts'
import { writePublicKey } from '../wire/trust/trust-bundle.ts'

const USER = 'system:flotilla:gateway'
const REPORT: Report = { epoch: 1, revision: 1, agentVersion: '0.1.0', bundles: [] }
const bytes = (value: unknown) => utf8(JSON.stringify(value))

/** Rights that no request shows, each with its reason. */
const UNSEEN: Readonly<Record<string, string>> = {
  'accept clusters.flotilla.dev': 'a policy asks for it when a token accepts its cluster',
}

/** A home that notes each right that the gateway uses, and each that it lacks. */
function watched(home: TestHome) {
  const rights: UsedRights = { used: new Set(), denied: [] }
  const note = rightsNoter(rights, ({ group, namespace }) =>
    group === 'flotilla.dev' ? '' : ` in ${namespace ?? 'all namespaces'}`,
  )
  const noted: TestHome = {
    ...home,
    as(user) {
      const transport = home.as(user)
      if (user !== USER) return transport
      return async (request, signal) => {
        const answer = await transport(request, signal)
        note(request, answer.status)
        return answer
      }
    },
  }
  return { home: noted, ...rights }
}

/** Each right of the gateway's roles, one by one. */
function gatewayRights(): Set<string> {
  const everywhere = HUB_ROLES.filter(({ name }) => name === USER).flatMap(({ rules = [] }) => [
    ...grantedRights(rules),
  ])
  const local = HUB_LOCALS.filter(({ name }) => name === USER).flatMap(({ rules, namespace }) => [
    ...grantedRights(rules, ` in ${namespace}`),
  ])
  return new Set([...everywhere, ...local])
}

/** Joins, and then does everything that makes the gateway write. */
async function walk(hub: TestHub): Promise<void> {
  const manual = await hub.token('manual', { clusterName: 'store-9', accept: 'Manual' })
  assert.equal((await createApplicant(hub, 'waiting').enrol(manual)).state, 'Pending')
  // Several at once: the status of the token is written again after a conflict.
  const code = await hub.token('one', {
    namePattern: 'store-*',
    accept: 'Networks',
    acceptNetworks: ['10.0.0.0/8'],
    uses: 3,
  })
  const address = '10.0.0.1'
  const applicants = ['store-1', 'store-2', 'store-3'].map((clusterName) => ({
    clusterName,
    who: createApplicant(hub, clusterName),
  }))
  const joined = await Promise.all(
    applicants.map(async ({ who, clusterName }) => ({
      ...(await who.join(code, { fields: { clusterName }, address })),
      who,
    })),
  )
  const { certificate, clusterId, who } = joined[0]!
  assert.notEqual(certificate, '')
  await hub.clock.settle()
  const renewed = await who.renew(clusterId, who.csrFor(clusterId))
  assert.equal(renewed.status, 200, renewed.message)
  const next: KeyPair = seededKeys(hub.ids.fork('next'))('x25519')
  const rotated = await who.enrol(code, {
    fields: { clusterId, csr: who.csrFor(clusterId), sealingKey: writePublicKey(next.publicKey) },
  })
  assert.equal(rotated.status, 200, rotated.message)

  const held = await hub.assign('store-1', { 'default/x': { generation: 1, objects: [configMap('x')] } })
  await hub.clock.settle()
  const as = (instance: string) => ({ [INSTANCE_HEADER]: instance.repeat(20), [TIME_HEADER]: '2020-01-01T00:00:00Z' })
  const ask = async (method: string, path: string, body?: unknown, headers = as('a')) => {
    const answer = await hub.ask(method, path, {
      certificate,
      headers,
      address,
      ...(body ? { body: bytes(body) } : {}),
    })
    assert.ok(answer.status < 500 && answer.status !== 403, `${method} ${path}: ${answer.status} ${answer.text}`)
  }
  await ask('GET', ROUTES.document)
  await ask('GET', `${ROUTES.follow}?wait=0`)
  await ask('GET', `${ROUTES.blob}${held}`)
  for (const revision of [1, 2]) {
    await ask('POST', ROUTES.report, { ...REPORT, revision, claims: [{ name: 'a', value: `${revision}` }] })
  }
  for (const instance of ['a', 'b', 'a', 'b', 'a']) {
    await ask('POST', ROUTES.checkIn, { report: objectDigest(configMap('x')) }, as(instance))
  }
  await ask('POST', ROUTES.held, { no: 'document' })
  // The report of a cluster that had the name before.
  const before = await hub.client.get(ClusterReport, { name: 'store-1' })
  await hub.client.update(ClusterReport, { ...before, spec: { ...before.spec, clusterId: 'c-before' } })
  await ask('POST', ROUTES.report, { ...REPORT, revision: 3 })
  // Liveness: the first summary creates the Lease, the next one updates it.
  await hub.clock.advance(60_000)
  await hub.client.patch(Cluster, { name: 'store-1' }, { type: 'merge', body: { spec: { accepted: false } } })
  await hub.clock.settle()
  assert.equal((await who.last(clusterId)).status, 403)
}

test('the gateway has every right that it uses, and no other', async () => {
  const ids = createSeededIds('rights')
  const { home, used, denied } = watched(embeddedHome(ids))
  const hub = await startTestHub('rights', { home })
  try {
    await walk(hub)
  } finally {
    await hub.close()
  }
  const granted = gatewayRights()
  assert.deepEqual(denied, [], 'no request was denied')
  assert.deepEqual([...used].filter((right) => !granted.has(right)).sort(), [], 'used and not granted')
  const unused = [...granted].filter((right) => !used.has(right)).sort()
  assert.deepEqual(unused, Object.keys(UNSEEN).sort(), 'granted and never used: revoke it, or say why in UNSEEN')
})
