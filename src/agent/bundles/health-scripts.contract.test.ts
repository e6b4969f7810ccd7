/** Health rules in Lua and health profiles, evaluated by an agent on an embedded cluster. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { createEmbeddedCluster } from '../../sim/fleet/embedded-cluster.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createOperatingAgent } from '../../testing/agents/operating-agent.ts'

const BY_ANNOTATION = `
local wanted = (obj.metadata.annotations or {})["example.com/health"]
if wanted == nil then return {status = "Progressing", message = "no annotation on " .. obj.metadata.name} end
return {status = wanted, message = "it is " .. wanted:lower()}`

const WEB = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'default' }, data: {} }

describe('health rules in Lua', () => {
  const clock = createVirtualClock()
  const ids = createSeededIds('lua')
  const cluster = createEmbeddedCluster({ name: 'c', clock, ids: ids.fork('cluster'), log: silentLogger })
  const agent = createOperatingAgent({ transport: cluster.transport, clock, ids: ids.fork('agent') })
  const row = () => agent.row('default/web')
  const until = (what: string, holds: () => boolean) => clock.runUntil(holds, { withinMs: 600_000, what })
  before(() => agent.start())
  after(async () => {
    const stopped = agent.stop()
    await clock.settle()
    await stopped
    await cluster.close()
  })

  const annotate = (health: string) =>
    cluster.client.patch(
      ConfigMap,
      { namespace: 'default', name: 'web' },
      { type: 'merge', body: { metadata: { annotations: { 'example.com/health': health } } } },
    )

  it('decide the state of a bundle, also when only the object changes', async () => {
    const options = { health: [{ kind: 'ConfigMap', lua: BY_ANNOTATION }] }
    await agent.assign({ 'default/web': { generation: 1, objects: [WEB], options } })
    await until('the script has run', () => row()?.message?.includes('no annotation on web') === true)
    await annotate('Degraded')
    await until('failed', () => row()?.state === 'Failed')
    assert.match(row()?.message ?? '', /it is degraded/)
    await annotate('Suspended')
    await until('ready', () => row()?.state === 'Ready')
    await annotate('Fine')
    await until('a wrong state', () => row()?.message?.includes('returned the status "Fine"') === true)
    assert.equal(row()?.state, 'Progressing')
  })

  it('are stopped at their limits, and the bundle is not ready', async () => {
    const options = { health: [{ kind: 'ConfigMap', lua: 'while true do end' }] }
    await agent.assign({ 'default/web': { generation: 2, objects: [WEB], options } })
    await until('stopped', () => row()?.message?.includes('takes too many steps') === true)
    assert.equal(row()?.state, 'Progressing')
  })

  it('that cannot run are refused by name', async () => {
    const options = { health: [{ kind: 'ConfigMap', lua: 'return io.read()' }] }
    await agent.assign({ 'default/web': { generation: 3, objects: [WEB], options } })
    await until('refused', () => row()?.message?.includes('health[0].lua: line 1: io is not available') === true)
    assert.equal(row()?.state, 'Failed')
  })
})

describe('health profiles', () => {
  it('judge an object by its profile', async () => {
    const clock = createVirtualClock()
    const ids = createSeededIds('profile')
    const cluster = createEmbeddedCluster({ name: 'c', clock, ids: ids.fork('cluster'), log: silentLogger })
    const agent = createOperatingAgent({ transport: cluster.transport, clock, ids: ids.fork('agent') })
    agent.start()
    const claim = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'web', namespace: 'default' },
      spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
    }
    const stateWith = async (generation: number, healthProfile: 'Native' | 'Argo') => {
      await agent.assign({ 'default/web': { generation, objects: [claim], options: { healthProfile } } })
      const holds = () =>
        agent.row('default/web')?.generation === generation && agent.row('default/web')?.state !== 'Pending'
      await clock.runUntil(holds, { withinMs: 600_000, what: healthProfile })
      await clock.advance(30_000)
      return agent.row('default/web')?.state
    }
    assert.equal(await stateWith(1, 'Native'), 'Ready')
    // An Ingress without an address is in progress in Argo CD.
    assert.equal(await stateWith(2, 'Argo'), 'Progressing')
    const stopped = agent.stop()
    await clock.settle()
    await stopped
    await cluster.close()
  })
})
