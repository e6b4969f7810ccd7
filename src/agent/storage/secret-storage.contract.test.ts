/** An agent whose identity is in a Secret of its cluster, as in a pod without a volume. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { createClient } from '../../client/create-client.ts'
import { utf8 } from '../../core/bytes.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { joinedAgents } from '../../testing/agents/joined-agents.ts'
import { configMap } from '../../testing/hub/test-hub.ts'
import { createSecretStorage } from './secret-storage.ts'
import { AGENT_FILES, createMemoryStorage } from './storage.ts'

const BUNDLE = 'default/hello'
const SECRET = 'flotilla-agent-identity'
const { joined, close } = joinedAgents()
afterEach(close)

const keptIn = async (site: Awaited<ReturnType<typeof joined>>['site']): Promise<string[]> =>
  Object.keys(((await site.get('Secret', SECRET, 'flotilla-agent'))?.['data'] as object | undefined) ?? {}).sort()

describe('the identity of an agent in a Secret', () => {
  it('survives the loss of the disk: the agent goes on as the same cluster and gets its content again', async () => {
    const { hub, site } = await joined({ identitySecret: SECRET })
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a', { v: '1' })] } })
    await site.until(BUNDLE, 'Ready')
    assert.deepEqual(await keptIn(site), [AGENT_FILES.identity, AGENT_FILES.transport, AGENT_FILES.trust].sort())
    assert.equal(site.files.has(AGENT_FILES.identity), false, 'the keys are not on disk')
    const before = await hub.client.get(Cluster, { name: 'store-1' })
    await site.stop()
    site.loseDisk()
    await site.start()
    await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 60_000, what: 'following' })
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: [configMap('a', { v: '2' })] } })
    await hub.clock.runUntil(async () => (await site.configMap('a'))?.['data']?.['v' as never] === '2', {
      withinMs: 120_000,
      what: 'generation 2',
    })
    const after = await hub.client.get(Cluster, { name: 'store-1' })
    assert.equal(after.spec.id, before.spec.id)
    assert.equal(after.spec.identityKey, before.spec.identityKey)
  })

  it('is lost with the disk if it is on disk: a code for one use lets no other key in', async () => {
    const { hub, site } = await joined()
    await site.stop()
    site.loseDisk()
    await site.start()
    await hub.clock.advance(60_000)
    assert.notEqual(site.agent().linkState(), 'Following')
    assert.deepEqual(await keptIn(site), [])
  })

  it('moves into the Secret from the disk of an earlier pod', async () => {
    const { hub, site } = await joined()
    await site.stop()
    const disk = createMemoryStorage(site.files)
    const client = createClient({ transport: site.cluster.transport, clock: hub.clock })
    const storage = createSecretStorage(client, SECRET, disk)
    for (const file of [AGENT_FILES.identity, AGENT_FILES.transport, AGENT_FILES.trust])
      assert.deepEqual(await storage.read(file), site.files.get(file))
    assert.equal((await keptIn(site)).length, 3)
  })

  it('is not written over by a second agent that read an earlier state', async () => {
    const { hub, site } = await joined()
    const client = createClient({ transport: site.cluster.transport, clock: hub.clock })
    const open = () => createSecretStorage(client, 'other', createMemoryStorage())
    const [first, second] = [open(), open()]
    await first.write(AGENT_FILES.identity, utf8('1'))
    assert.deepEqual(await second.read(AGENT_FILES.identity), utf8('1'))
    await first.write(AGENT_FILES.identity, utf8('2'))
    await assert.rejects(second.write(AGENT_FILES.identity, utf8('3')), /modified|Conflict/i)
    assert.deepEqual(await second.read(AGENT_FILES.identity), utf8('2'))
    await second.write(AGENT_FILES.document, utf8('4'))
    assert.equal(await first.read(AGENT_FILES.document), undefined, 'other files are on disk')
  })
})
