/** Secret values on an agent: opened where they are written, and nowhere else to be found. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { inspect } from 'node:util'
import { base64, fromUtf8, generateKeyPair, utf8 } from '../../core/bytes.ts'
import { decodeSegment } from '../../journal/segment.ts'
import type { Logger } from '../../core/log.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { ClusterRole } from '../../kinds/builtin/rbac.ts'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { createAgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import type { AgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import { createApplicant } from '../../testing/agents/hostile-agent.ts'
import { configMap, secretObject, startTestHub } from '../../testing/hub/test-hub.ts'
import type { TestHub } from '../../testing/hub/test-hub.ts'
import { ROUTES } from '../../wire/link/frames.ts'
import { RENEWALS_PER_SEALING_KEY } from '../link/identity.ts'
import { AGENT_FILES } from '../storage/storage.ts'

const BUNDLE = 'default/shop'
const PLAIN = 'correct-horse-battery-staple'
const OTHER = 'tr0ub4dor-and-three'

let hub: TestHub
let sites: AgentUnderTest[]
let logged: string[]

const note = (...said: unknown[]) => void logged.push(inspect(said, { depth: 20, showHidden: true }))
const log: Logger = { debug: note, info: note, warn: note, error: note, child: () => log }

beforeEach(async () => {
  logged = []
  hub = await startTestHub()
  sites = []
  for (const name of ['store-1', 'store-2']) {
    const site = createAgentUnderTest(hub, name, { joinCode: await hub.token(name, { clusterName: name }), log })
    sites.push(site)
    await site.start()
  }
  const isFollowing = () => sites.every((site) => site.agent().linkState() === 'Following')
  await hub.clock.runUntil(isFollowing, { withinMs: 30_000, what: 'following' })
})
afterEach(async () => {
  for (const site of sites) await site.close()
  await hub.close()
})

const content = (password: string, greeting = 'hello') => [
  configMap('x', { greeting }),
  secretObject('db', { password, user: 'shop' }),
]

async function run(generation: number, objects = content(PLAIN), options?: BundleOptions): Promise<void> {
  for (const { name } of sites) {
    await hub.assign(name, { [BUNDLE]: { generation, objects, ...(options ? { options } : {}) } })
  }
  const isReady = () =>
    sites.every((site) => {
      const row = site.agent().report().bundles[0]
      return row?.generation === generation && row.state === 'Ready'
    })
  await hub.clock.runUntil(isReady, { withinMs: 120_000, what: `generation ${generation} Ready` })
}

const passwordOn = async (site: AgentUnderTest) =>
  ((await site.get('Secret', 'db'))?.['data'] as Record<string, string> | undefined)?.['password']
const entryOf = async (name: string) => (await hub.client.get(Assignment, { name })).spec.entries[0]!

/** The text of a blob; segments of the journal are compressed. */
function blobText(bytes: Uint8Array): string {
  try {
    return fromUtf8(bytes)
  } catch {
    return decodeSegment(bytes).records.join('\n')
  }
}

/** Everything that hub and agents keep and say, as text; what the clusters themselves have is theirs. */
async function everything(): Promise<string> {
  const texts = [...logged, ...hub.writes]
  for (const blobs of [hub.blobs, ...sites.map((site) => site.blobs)]) {
    for await (const digest of blobs.list()) texts.push(blobText((await blobs.get(digest))!))
  }
  for (const site of sites) {
    for (const bytes of site.files.values()) texts.push(fromUtf8(bytes))
    texts.push(JSON.stringify(site.agent().report()))
  }
  texts.push(JSON.stringify([await hub.client.list(Assignment), await hub.client.list(Cluster)]))
  texts.push(JSON.stringify(await hub.client.list(ClusterReport)))
  return texts.join('\n')
}

async function assertHidden(...values: string[]): Promise<void> {
  const all = await everything()
  for (const value of values) {
    for (const form of [value, base64(utf8(value)), base64(utf8(base64(utf8(value))))]) {
      assert.ok(!all.includes(form), `${form} is to be found`)
    }
  }
}

describe('secret values', () => {
  it('reach two clusters that share a set, each sealed for itself, and are nowhere else', async () => {
    await run(1)
    for (const site of sites) assert.equal(await passwordOn(site), base64(utf8(PLAIN)))
    const [one, two] = [await entryOf('store-1'), await entryOf('store-2')]
    assert.equal(one.set, two.set)
    assert.notEqual(one.sealed?.values, two.sealed?.values)
    await assertHidden(PLAIN)
    // The test can find what is not hidden.
    await assert.rejects(assertHidden('hello'))
  })

  it('of one cluster do not open on another', async () => {
    const [one, two] = sites
    await run(1)
    await one!.stop()
    // The other cluster's sealed values under this cluster's own signed document.
    const sealed = (await entryOf('store-2')).sealed!.values
    const set = (await entryOf('store-1')).set
    const entries = [{ bundle: BUNDLE, generation: 2, set, rollout: BUNDLE, sealed }]
    await hub.assign('store-1', {}, { content: { entries, tombstones: [] } })
    const assignment = await hub.client.get(Assignment, { name: 'store-1' })
    const named = { values: sealed, key: (await entryOf('store-2')).sealed!.key }
    await hub.client.update(Assignment, {
      ...assignment,
      spec: { ...assignment.spec, entries: [{ bundle: BUNDLE, generation: 2, set, rollout: BUNDLE, sealed: named }] },
    })
    await one!.start()
    const holdsIt = () => one!.agent().report().bundles[0]?.generation === 2
    await hub.clock.runUntil(holdsIt, { withinMs: 60_000, what: 'the new document' })
    await one!.remove('Secret', 'db')
    const row = await one!.until(BUNDLE, 'Failed')
    assert.match(
      row.message ?? '',
      /^the values for v1 Secret default\/db are sealed to key sha256:[0-9a-f]{64}, which/,
    )
    assert.equal(await passwordOn(one!), undefined)
    assert.equal(await passwordOn(two!), base64(utf8(PLAIN)))
  })

  it('that change are a change like any other; the rest is not written again', async () => {
    await run(1)
    const before = (await entryOf('store-1')).set
    for (const site of sites) site.door.writes.length = 0
    await run(2, content(OTHER))
    assert.notEqual((await entryOf('store-1')).set, before)
    for (const site of sites) {
      assert.equal(await passwordOn(site), base64(utf8(OTHER)))
      const written = site.door.writes.filter((line) => !line.includes('/namespaces/flotilla-agent/'))
      assert.deepEqual(written, ['PATCH /api/v1/namespaces/default/secrets/db'])
    }
    await assertHidden(PLAIN, OTHER)
  })

  it('that stay travel once, and sealing them again gives the same', async () => {
    await run(1)
    const first = await entryOf('store-1')
    await run(2, content(PLAIN, 'good evening'))
    const second = await entryOf('store-1')
    assert.notEqual(second.set, first.set)
    assert.deepEqual(second.sealed, first.sealed)
    const fetched = hub.network.requests.filter((line) => line.endsWith(first.sealed!.values))
    assert.equal(fetched.length, 1)
  })

  it('are put back without the hub, also after a restart', async () => {
    await run(1)
    hub.network.up = false
    const [site] = sites
    await site!.stop()
    await site!.remove('Secret', 'db')
    await site!.start()
    const isBack = async () => (await passwordOn(site!)) === base64(utf8(PLAIN))
    await hub.clock.runUntil(isBack, { withinMs: 60_000, what: 'the Secret is back' })
  })

  it('that a user changed are shown as changed, never as values', async () => {
    await run(1, content(PLAIN), { drift: { mode: 'Report' } })
    const [site] = sites
    const edited = { type: 'merge', body: { data: { password: base64(utf8(OTHER)) } } } as const
    await site!.cluster.client.patch(Secret, { namespace: 'default', name: 'db' }, edited, {
      fieldManager: 'kubectl-edit',
    })
    const row = await site!.until(BUNDLE, 'Drifted')
    assert.equal(row.message, 'Secret default/db: .data.password (changed by kubectl-edit)')
    await assertHidden(PLAIN, OTHER)
  })

  it('are not told by rules and feedback either', async () => {
    const feedback = [{ kind: 'Secret', as: 'password', expression: 'object.data.password' }]
    await run(1, content(PLAIN), { feedback })
    const told = sites[0]!.agent().report().bundles[0]!.feedback
    assert.deepEqual(told, [{ object: 'Secret default/db', name: 'password', value: '[sealed]' }])
  })

  it('CVE-2025-23216: are not in what is said when the cluster refuses them', async () => {
    const [site] = sites
    site!.door.refuses = '/secrets/db'
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: content(PLAIN) } })
    const row = await site!.until(BUNDLE, 'Failed')
    assert.match(row.message ?? '', /^Secret default\/db: no: .*"password":"\[sealed\]"/)
    assert.equal(await passwordOn(site!), undefined)
    await assertHidden(PLAIN)
  })

  it('are refused by an agent that cannot open any, which says what it lacks', async () => {
    await hub.assign('store-1', {}, { requires: ['sets/v1', 'sealed/v9'] })
    const isRefused = () => sites[0]!.agent().report().refusal !== undefined
    await hub.clock.runUntil(isRefused, { withinMs: 60_000, what: 'refused' })
    assert.match(sites[0]!.agent().report().refusal!.message, /sealed\/v9/)
  })
})

describe('a sealing key', () => {
  const keyOf = async (name: string) => (await hub.client.get(Cluster, { name })).spec.sealingKey
  const identityOf = (site: AgentUnderTest) =>
    JSON.parse(fromUtf8(site.files.get(AGENT_FILES.identity)!)) as { olderSealingKeys?: string[]; sealingKey: string }

  /** Lets certificates be renewed so many times. */
  async function renew(times: number): Promise<void> {
    for (let done = 0; done < times; done++) {
      const before = hub.network.requests.filter((line) => line.endsWith(ROUTES.renew)).length
      hub.clock.jumpWall(10 * 86_400_000)
      const isDone = () =>
        hub.network.requests.filter((line) => line.endsWith(ROUTES.renew)).length >= before + sites.length &&
        sites.every((site) => site.agent().linkState() === 'Following')
      await hub.clock.runUntil(isDone, { withinMs: 300_000, what: 'renewed' })
    }
  }

  it('is a new one after some renewals, proven by the identity; what is sealed to the old one opens until it is sealed again', async () => {
    await run(1)
    const [first] = sites
    const before = await keyOf('store-1')
    await renew(RENEWALS_PER_SEALING_KEY)
    assert.equal(await keyOf('store-1'), before)
    await renew(1)
    const after = await keyOf('store-1')
    assert.notEqual(after, before)
    assert.notEqual(after, await keyOf('store-2'))

    // The document is still the old one: its values open, also after a restart without the hub.
    hub.network.up = false
    await first!.stop()
    await first!.remove('Secret', 'db')
    await first!.start()
    const isBack = async () => (await passwordOn(first!)) === base64(utf8(PLAIN))
    await hub.clock.runUntil(isBack, { withinMs: 60_000, what: 'the Secret is back' })
    hub.network.up = true

    // Sealed again under the same generation, as the assembler does it: nothing to write, and fetched before it is
    // needed.
    const old = await entryOf('store-1')
    first!.door.writes.length = 0
    await run(1)
    const next = await entryOf('store-1')
    const isHere = () => first!.blobs.has(next.sealed!.values)
    await hub.clock.runUntil(isHere, { withinMs: 120_000, what: 'the new values' })
    assert.equal(await first!.blobs.has(old.sealed!.values), false)
    hub.network.up = false
    assert.equal(next.set, old.set)
    assert.notEqual(next.sealed?.key, old.sealed?.key)
    assert.deepEqual(
      first!.door.writes.filter((line) => line.includes('/secrets/')),
      [],
    )
    await first!.remove('Secret', 'db')
    await hub.clock.runUntil(isBack, { withinMs: 60_000, what: 'the Secret is back, by the new key' })
    assert.equal(identityOf(first!).olderSealingKeys?.length, 1)
    await assertHidden(PLAIN)
  })

  it('opens what an older set brought, also when the document has moved on', async () => {
    // A hook for the bundle's end is a Secret: it is written from the set that leaves.
    const annotations = { 'helm.sh/hook': 'pre-delete', 'helm.sh/hook-delete-policy': 'before-hook-creation' }
    const { metadata, ...hook } = secretObject('farewell', { password: OTHER })
    await run(1, [configMap('x'), { ...hook, metadata: { ...metadata, annotations } }])
    const tombstones = [{ bundle: BUNDLE, generation: 2, policy: 'Delete' as const }]
    await hub.assign('store-1', {}, { content: { entries: [], tombstones } })
    const isSaid = async () => (await sites[0]!.get('Secret', 'farewell')) !== undefined
    await hub.clock.runUntil(isSaid, { withinMs: 120_000, what: 'the farewell' })
    const data = (await sites[0]!.get('Secret', 'farewell'))?.['data'] as Record<string, string>
    assert.equal(data['password'], base64(utf8(OTHER)))
    await assertHidden(OTHER)
  })

  it('of an older time goes when nothing is sealed to it; the last one before stays', async () => {
    await run(1)
    await renew(2 * (RENEWALS_PER_SEALING_KEY + 1))
    // Still sealed to the first key of all.
    assert.equal(identityOf(sites[0]!).olderSealingKeys?.length, 2)
    await run(2)
    await renew(1)
    assert.equal(identityOf(sites[0]!).olderSealingKeys?.length, 1)
  })

  describe('that was retired', () => {
    const TIMES = { withinMs: 300_000 }
    // As the assembler does it while the retired key is the present one.
    const ask = async (name: string) => {
      const objects = content(PLAIN)
      const retireSealingKey = await keyOf(name)
      await hub.assign(name, { [BUNDLE]: { generation: 1, objects } }, { rules: { trustVersion: 1, retireSealingKey } })
      return retireSealingKey
    }
    const renewals = () => hub.network.requests.filter((line) => line.endsWith(ROUTES.renew)).length

    it('is replaced at once and only once; values are sealed again and open, and no other cluster is touched', async () => {
      await run(1)
      const [first] = sites
      const [old, others, before] = [await entryOf('store-1'), await keyOf('store-2'), renewals()]
      const retired = await ask('store-1')
      const isNew = async () => (await keyOf('store-1')) !== retired
      await hub.clock.runUntil(isNew, { ...TIMES, what: 'a new key' })
      // The document still asks: it is answered once, however long it stays.
      await hub.clock.advance(120_000)
      assert.equal(renewals() - before, 1)
      assert.equal(await keyOf('store-2'), others)
      first!.door.writes.length = 0
      await run(1)
      const next = await entryOf('store-1')
      assert.notEqual(next.sealed?.key, old.sealed?.key)
      const isHere = () => first!.blobs.has(next.sealed!.values)
      await hub.clock.runUntil(isHere, { ...TIMES, what: 'the new values' })
      hub.network.up = false
      assert.deepEqual(
        first!.door.writes.filter((line) => line.includes('/secrets/')),
        [],
      )
      await first!.remove('Secret', 'db')
      const isBack = async () => (await passwordOn(first!)) === base64(utf8(PLAIN))
      await hub.clock.runUntil(isBack, { ...TIMES, what: 'the Secret is back, by the new key' })
    })

    it('while its agent was away is replaced when it returns, with its certificate expired too', async () => {
      await run(1)
      const [first] = sites
      await first!.stop()
      const retired = await ask('store-1')
      hub.clock.jumpWall(60 * 86_400_000)
      await first!.start()
      const isNew = async () => (await keyOf('store-1')) !== retired
      await hub.clock.runUntil(isNew, { ...TIMES, what: 'a new key' })
      assert.equal(identityOf(first!).olderSealingKeys?.length, 1)
    })

    it('is announced again by an agent that ended before the hub heard of the new one', async () => {
      await run(1)
      const [first] = sites
      const retired = await ask('store-1')
      hub.network.refuses = ROUTES.renew
      const isMade = () => identityOf(first!).olderSealingKeys !== undefined
      await hub.clock.runUntil(isMade, { ...TIMES, what: 'a new key on disk' })
      await first!.stop()
      assert.equal(await keyOf('store-1'), retired)
      hub.network.refuses = undefined
      const made = identityOf(first!).sealingKey
      await first!.start()
      const isNew = async () => (await keyOf('store-1')) !== retired
      await hub.clock.runUntil(isNew, { ...TIMES, what: 'the hub has heard' })
      assert.equal(identityOf(first!).sealingKey, made, 'not another one')
    })
  })

  describe('that the hub refuses to record', () => {
    const TIMES = { withinMs: 300_000 }
    const role = { name: 'system:flotilla:gateway' }
    const rulesOf = async () => (await hub.client.get(ClusterRole, role)).rules!
    const setRules = async (rules: PolicyRule[]) => {
      await hub.client.update(ClusterRole, { ...(await hub.client.get(ClusterRole, role)), rules })
      await hub.clock.settle()
    }
    const renewals = () => hub.network.requests.filter((line) => line.endsWith(ROUTES.renew)).length
    const isFollowing = () => sites.every((site) => site.agent().linkState() === 'Following')
    let granted: PolicyRule[]

    // As on a hub of the first release: the gateway may not patch Clusters, only their status.
    beforeEach(async () => {
      granted = await rulesOf()
      const isAboutClusters = ({ resources }: PolicyRule) => resources?.includes('clusters') ?? false
      const without = (rule: PolicyRule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== 'patch') })
      await setRules(granted.map((rule) => (isAboutClusters(rule) ? without(rule) : rule)))
    })

    it('costs no certificate at the renewal that makes the key, and is announced again later', async () => {
      await run(1)
      const [first] = sites
      const [old, before] = [await keyOf('store-1'), (await hub.client.get(Cluster, { name: 'store-1' })).status!]
      await renew(RENEWALS_PER_SEALING_KEY + 1)
      await hub.clock.runUntil(isFollowing, { ...TIMES, what: 'following' })
      const { spec, status } = await hub.client.get(Cluster, { name: 'store-1' })
      assert.equal(spec.sealingKey, old)
      assert.notEqual(status!.certificate!.fingerprint, before.certificate!.fingerprint)
      const made = identityOf(first!).sealingKey

      // Content goes on, values sealed to the old key included, and the hub is left alone for a while.
      await run(2, content(OTHER))
      assert.equal(await passwordOn(first!), base64(utf8(OTHER)))
      const asked = renewals()
      await hub.clock.advance(1_200_000)
      assert.equal(renewals(), asked)

      await setRules(granted)
      const isNew = async () => (await keyOf('store-1')) !== old
      await hub.clock.runUntil(isNew, { withinMs: 3_600_000, what: 'the hub has the new key' })
      assert.equal(identityOf(first!).sealingKey, made, 'not another one')
      await hub.clock.advance(60_000)
      const announced = renewals()
      await hub.clock.advance(3_900_000)
      assert.equal(renewals(), announced)
    })

    it('lets an agent in again that was locked out for it, also after another start', async () => {
      await run(1)
      const [first] = sites
      // As an agent of the first release left its files: a new key that no renewal has announced, and a renewal that is
      // due.
      await first!.stop()
      const identity = identityOf(first!)
      const made = generateKeyPair('x25519').privateKey
      const stuck = {
        ...identity,
        sealingKey: made,
        sealingKeyRenewals: 0,
        olderSealingKeys: [identity.sealingKey],
      }
      first!.files.set(AGENT_FILES.identity, utf8(JSON.stringify(stuck)))
      const transport = JSON.parse(fromUtf8(first!.files.get(AGENT_FILES.transport)!)) as object
      first!.files.set(AGENT_FILES.transport, utf8(JSON.stringify({ ...transport, renewAt: 0 })))
      for (const _start of ['first', 'second']) {
        await first!.start()
        await hub.clock.runUntil(isFollowing, { ...TIMES, what: 'following' })
        await hub.clock.advance(60_000)
        assert.equal(first!.agent().linkState(), 'Following')
        await first!.stop()
      }
      await setRules(granted)
      const old = await keyOf('store-1')
      await first!.start()
      const isNew = async () => (await keyOf('store-1')) !== old
      await hub.clock.runUntil(isNew, { ...TIMES, what: 'the hub has the new key' })
      assert.equal(identityOf(first!).sealingKey, made)
    })

    it('brings no certificate to a cluster that is turned away', async () => {
      await run(1)
      const [first] = sites
      await hub.assign(
        'store-1',
        { [BUNDLE]: { generation: 1, objects: content(PLAIN) } },
        { rules: { trustVersion: 1, retireSealingKey: await keyOf('store-1') } },
      )
      const isMade = () => identityOf(first!).olderSealingKeys !== undefined
      await hub.clock.runUntil(isMade, { ...TIMES, what: 'a new key' })
      await hub.clock.runUntil(isFollowing, { ...TIMES, what: 'following' })
      const cluster = await hub.client.get(Cluster, { name: 'store-1' })
      const refused = { verdict: 'Revoked' as const, at: '2026-01-01T00:00:00Z' }
      await hub.client.update(Cluster, { ...cluster, spec: { ...cluster.spec, refused } })
      hub.clock.jumpWall(60 * 86_400_000)
      const isRefused = () => first!.agent().linkState() === 'Refused'
      await hub.clock.runUntil(isRefused, { ...TIMES, what: 'refused' })
      await hub.clock.advance(600_000)
      assert.deepEqual(
        (await hub.client.get(Cluster, { name: 'store-1' })).status!.certificate,
        cluster.status!.certificate,
      )
    })
  })

  it('is nothing another agent can change', async () => {
    const before = await keyOf('store-1')
    const thief = createApplicant(hub, 'thief')
    const { id } = (await hub.client.get(Cluster, { name: 'store-1' })).spec
    const { status } = await thief.renew(id)
    assert.equal(status, 400)
    assert.equal(await keyOf('store-1'), before)
  })
})
