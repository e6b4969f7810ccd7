/** ClusterRegistrationTokens as users write and read them, on the real controllers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { fromBase64, fromUtf8 } from '../../../core/bytes.ts'
import { findCondition } from '../../../core/conditions.ts'
import { Secret } from '../../../kinds/builtin/core.ts'
import { JoinToken } from '../../../kinds/native/join-token.ts'
import { publishHubInfo } from '../../../hub/home/hub-info.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { parseJoinCode, tokenHash } from '../../../wire/trust/join-code.ts'
import { ClusterRegistration, ClusterRegistrationToken } from '../registration-kinds.ts'

const INFO = { endpoints: ['https://hub.example.com:7444'], root: `sha256:${'a'.repeat(64)}` } as const
const KEY = { namespace: 'fleet-default', name: 'edge' }

async function world(t: TestContext) {
  const hub = await startControllersHome(['fleet'])
  t.after(() => hub.close())
  await publishHubInfo(hub.client, INFO)
  const create = async (spec: ClusterRegistrationToken['spec'] = {}) => {
    await hub.create(build(ClusterRegistrationToken, 'fleet-default/edge', { spec }), ClusterRegistrationToken)
    await hub.clock.advance(5000)
  }
  const keysOf = async () => {
    const { data = {}, type } = await hub.client.get(Secret, KEY)
    return { type, ...Object.fromEntries(Object.entries(data).map(([key, text]) => [key, fromUtf8(fromBase64(text))])) }
  }
  const joinTokens = async () => (await hub.client.list(JoinToken)).items
  return { hub, create, keysOf, joinTokens }
}

test('a token has a Secret with the command, and a JoinToken that labels clusters and lets a person accept', async (t) => {
  const { hub, create, keysOf, joinTokens } = await world(t)
  await create({ ttl: '24h' })
  const token = await hub.client.get(ClusterRegistrationToken, KEY)
  assert.equal(token.status?.secretName, 'edge')
  assert.match(
    findCondition(token.status?.conditions, 'Ready')?.message ?? '',
    /key join of Secret fleet-default\/edge/,
  )
  const keys = (await keysOf()) as Record<string, string>
  assert.equal(keys['type'], 'fleet.cattle.io/cluster-registration-values')
  assert.match(
    keys['values']!,
    /chart fleet-agent does not work with this hub.*\n#\s+flotilla agent run --join flotilla1\./,
  )
  assert.match(keys['join']!, /^flotilla agent run --join flotilla1\.\S+ --name NAME /)
  const code = parseJoinCode(keys['join-code']!)
  const [made] = await joinTokens()
  assert.deepEqual([code.endpoints, code.root, code.token.name], [INFO.endpoints, INFO.root, made?.metadata.name])
  assert.deepEqual(
    [made?.spec.tokenHash, made?.spec.accept, made?.spec.labels, made?.spec.namePattern, made?.spec.expiresAt],
    [
      tokenHash(code.token.secret),
      'Manual',
      { 'fleet.cattle.io/workspace': 'fleet-default' },
      '*',
      token.status?.expires,
    ],
  )
  // The secret of the code is in no object but the Secret.
  assert.ok(!JSON.stringify([token, made]).includes(code.token.secret))

  await hub.client.delete(JoinToken, { name: made!.metadata.name })
  await hub.clock.advance(5000)
  assert.equal((await joinTokens())[0]?.spec.tokenHash, made?.spec.tokenHash, 'the same code works again')
  await hub.restart()
  await hub.clock.advance(5000)
  assert.equal(
    ((await keysOf()) as Record<string, string>)['join-code'],
    keys['join-code'],
    'one code, also after a restart',
  )
})

test('a token goes with what was made for it, when it is deleted and when it expires', async (t) => {
  const { hub, create, joinTokens } = await world(t)
  await create()
  assert.match((await hub.client.get(ClusterRegistrationToken, KEY)).status?.expires ?? '', /^\d{4}-/)
  await hub.client.delete(ClusterRegistrationToken, KEY)
  await hub.clock.advance(30_000)
  assert.deepEqual([await joinTokens(), await hub.find(Secret, 'fleet-default/edge')], [[], undefined])
  await create({ ttl: '1h' })
  assert.equal((await joinTokens()).length, 1)
  await hub.clock.advance(3_700_000)
  assert.equal(await hub.find(ClusterRegistrationToken, 'fleet-default/edge'), undefined)
  assert.deepEqual(await joinTokens(), [])
})

test('a Secret of another owner is not touched', async (t) => {
  const { hub, create, joinTokens } = await world(t)
  await hub.create(build(Secret, 'fleet-default/edge', { data: { values: 'eA==' } }), Secret)
  await create()
  const { status } = await hub.client.get(ClusterRegistrationToken, KEY)
  assert.match(findCondition(status?.conditions, 'Ready')?.message ?? '', /does not belong to this token/)
  assert.deepEqual((await hub.client.get(Secret, KEY)).data, { values: 'eA==' })
  assert.deepEqual(await joinTokens(), [])
})

test('an agent of Fleet is told what to do', async (t) => {
  const { hub } = await world(t)
  const spec = { clientID: 'a', clientRandom: 'b', clusterLabels: { env: 'prod' } }
  await hub.create(build(ClusterRegistration, 'fleet-default/request-1', { spec }), ClusterRegistration)
  await hub.clock.advance(5000)
  const { status } = await hub.client.get(ClusterRegistration, { namespace: 'fleet-default', name: 'request-1' })
  assert.equal(status?.granted, false)
  assert.match(
    findCondition(status?.conditions, 'Ready')?.message ?? '',
    /Agents of Fleet cannot join this hub\. Create a ClusterRegistrationToken in namespace fleet-default/,
  )
})
