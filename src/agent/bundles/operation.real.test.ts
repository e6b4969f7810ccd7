/**
 * Bundles on a real cluster: API server, controllers, scheduler and simulated nodes, so that workloads really become
 * ready.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../client/create-client.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { startControlPlane } from '../../testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../testing/control-plane/control-plane.ts'
import { clusterOf, createOperatingAgent } from '../../testing/agents/operating-agent.ts'
import type { OperatingAgent } from '../../testing/agents/operating-agent.ts'
import { widgetBundle, WIDGETS } from '../../testing/fixtures/widget-bundle.ts'
import { configMap, deployment } from '../../testing/hub/test-hub.ts'

describe('on a real cluster', () => {
  let plane: ControlPlane
  let close: () => Promise<void>
  let agent: OperatingAgent
  let client: ReturnType<typeof createClient>
  let requests: { readonly method: string; readonly path: string }[]

  before(async () => {
    plane = await startControlPlane({ controllers: true, nodes: 1 })
    const cluster = await clusterOf(plane.kubeconfigPath)
    requests = []
    const counted: typeof cluster.transport = (request, signal) => {
      requests.push(request)
      return cluster.transport(request, signal)
    }
    client = createClient({ transport: cluster.transport, clock: systemClock })
    agent = createOperatingAgent({ transport: counted, clock: systemClock, ids: systemIds })
    agent.start()
    close = cluster.close
  })

  after(async () => {
    await agent.stop()
    await close()
    await plane.stop()
  })

  async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 120_000): Promise<void> {
    const end = systemClock.monotonicMs() + withinMs
    while (!(await holds())) {
      if (systemClock.monotonicMs() > end) throw new Error(`${what}: ${JSON.stringify(agent.row('default/app'))}`)
      await sleep(50)
    }
  }
  const isReady = (bundle: string, generation: number) => () => {
    const row = agent.row(bundle)
    return row?.state === 'Ready' && row.generation === generation
  }
  const shopMaps = async () =>
    (await client.list(ConfigMap, { namespace: 'shop', limit: 500 })).items
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith('map-'))

  it('applies 50 objects, a CRD before its objects, and is Ready when the workloads are', async () => {
    assert.equal(widgetBundle('1').length, 50)
    await agent.assign({ 'default/app': { generation: 1, objects: widgetBundle('1') } })
    await until('ready', isReady('default/app', 1))
    const web = await client.get(Deployment, { namespace: 'shop', name: 'a' })
    assert.equal(web.status?.availableReplicas, 1)
    const made = await client.get(WIDGETS, { namespace: 'shop', name: 'widget-3' })
    assert.deepEqual(made['spec'], { size: 3 }, 'defaulted by the API server')
  })

  it('comes to rest: defaults and controllers are no drift, and nothing is written or polled', async () => {
    await sleep(1500)
    const from = requests.length
    await sleep(4000)
    const active = requests.slice(from).filter(({ path }) => !path.includes('watch=true'))
    assert.deepEqual(
      active.map(({ method, path }) => `${method} ${path}`),
      [],
    )
  })

  it('repairs edits, also of custom resources, and what was deleted', async () => {
    await client.patch(
      WIDGETS,
      { namespace: 'shop', name: 'widget-1' },
      { type: 'merge', body: { metadata: { labels: null } } },
    )
    await client.patch(
      ConfigMap,
      { namespace: 'shop', name: 'map-1' },
      { type: 'merge', body: { data: { version: 'x' } } },
    )
    await client.delete(ConfigMap, { namespace: 'shop', name: 'map-2' })
    const value = async (name: string) =>
      (await client.get(ConfigMap, { namespace: 'shop', name }).catch(() => undefined))?.data?.['version']
    await until('repair', async () => (await value('map-1')) === '1' && (await value('map-2')) === '1')
    const labels = async () => (await client.get(WIDGETS, { namespace: 'shop', name: 'widget-1' })).metadata.labels
    await until('the label', async () => (await labels())?.['flotilla.dev/managed'] === 'true')
  })

  it('upgrades what changed, prunes what left, and rolls back', async () => {
    await agent.assign({
      'default/app': { generation: 2, objects: widgetBundle('2').filter(({ metadata }) => metadata.name !== 'map-5') },
    })
    await until('generation 2', isReady('default/app', 2))
    assert.equal((await shopMaps()).length, 23)
    await agent.assign({ 'default/app': { generation: 3, objects: widgetBundle('1') } })
    await until('generation 3', isReady('default/app', 3))
    assert.equal((await shopMaps()).length, 24)
  })

  it('recreates what cannot be changed when it is told to, and says why when it is not', async () => {
    const moved = (labels: Record<string, string>): UnknownObject => {
      const object = deployment('fixed', 'web:1', 'shop')
      const spec = object['spec'] as { template: object }
      return {
        ...object,
        spec: { ...spec, selector: { matchLabels: labels }, template: { ...spec.template, metadata: { labels } } },
      }
    }
    const base = { 'default/app': { generation: 3, objects: widgetBundle('1') } }
    await agent.assign({ ...base, 'default/fixed': { generation: 1, objects: [moved({ app: 'one' })] } })
    await until('fixed', isReady('default/fixed', 1))
    await agent.assign({ ...base, 'default/fixed': { generation: 2, objects: [moved({ app: 'two' })] } })
    await until('refusal', () => agent.row('default/fixed')?.state === 'Failed')
    assert.match(agent.row('default/fixed')?.message ?? '', /field is immutable/)
    const options = { apply: { immutable: 'Recreate' as const } }
    await agent.assign({ ...base, 'default/fixed': { generation: 3, objects: [moved({ app: 'two' })], options } })
    await until('recreated', isReady('default/fixed', 3))
  })

  it('shares a namespace between bundles and refuses one field for two', async () => {
    const base = { 'default/app': { generation: 3, objects: widgetBundle('1') } }
    const mine = configMap('other-map', { a: '1' }, 'shop')
    const other = { 'default/other': { generation: 1, objects: [mine, configMap('map-0', { more: '1' }, 'shop')] } }
    await agent.assign({ ...base, ...other })
    await until('other', isReady('default/other', 1))
    const rival = { 'default/rival': { generation: 1, objects: [configMap('map-0', { version: 'mine' }, 'shop')] } }
    await agent.assign({ ...base, ...other, ...rival })
    await until('refusal', () => agent.row('default/rival')?.state === 'Failed')
    assert.match(
      agent.row('default/rival')?.message ?? '',
      /map-0: field \.data\.version belongs to bundle default\/app, and bundle default\/rival wants another value/,
    )
  })

  it('applies a bundle of five megabytes', async () => {
    const large = Array.from({ length: 10 }, (_, i) =>
      configMap(`large-${i}`, { data: `${i}`.repeat(512 * 1024) }, 'shop'),
    )
    await agent.assign({ 'default/large': { generation: 1, objects: large } })
    await until('large', isReady('default/large', 1))
  })

  it('writes nothing for a new epoch, also one that is behind', async () => {
    const app = (generation: number, version: string) => ({
      'default/app': { generation, objects: widgetBundle(version) },
    })
    await agent.assign(app(3, '1'))
    await until('at rest', isReady('default/app', 3))
    await sleep(1500)
    const from = requests.length
    await agent.assign(app(3, '1'), { epoch: 2 })
    await agent.assign(app(1, '2'), { epoch: 3 })
    await until('held', () => agent.row('default/app')?.state === 'Pending')
    assert.match(agent.row('default/app')?.message ?? '', /a new epoch began: held at generation 3/)
    await sleep(1500)
    const written = requests.slice(from).filter(({ method, path }) => method !== 'GET' && !path.includes('dryRun=All'))
    assert.deepEqual(written, [])
    await agent.assign(app(3, '1'), { epoch: 3 })
    await until('reached', isReady('default/app', 3))
  })

  it('orphans exactly: everything stays as it is, and nothing is recorded any more', async () => {
    const base = { 'default/app': { generation: 3, objects: widgetBundle('1') } }
    const kept = [configMap('kept-1', { v: '1' }, 'shop'), configMap('kept-2', { v: '1' }, 'shop')]
    await agent.assign({ ...base, 'default/kept': { generation: 1, objects: kept } })
    await until('kept', isReady('default/kept', 1))
    const found = async () =>
      (await client.list(ConfigMap, { namespace: 'shop', limit: 500 })).items
        .filter(({ metadata }) => metadata.name.startsWith('kept-'))
        .map(({ metadata, data }) => [metadata.name, metadata.uid, data?.['v']])
    const before = await found()
    assert.equal(before.length, 2)
    await agent.assign(base, { tombstones: [{ bundle: 'default/kept', generation: 2, policy: 'Orphan' }] })
    const recorded = async () => {
      const { items } = await client.list(ConfigMap, { namespace: 'flotilla-agent', limit: 500 })
      return items.some(
        ({ data }) => data?.['state']?.includes('"bundle":"default/kept"') && data['state'].includes('"phase"'),
      )
    }
    await until('forgotten', async () => !(await recorded()))
    assert.deepEqual(await found(), before)
  })

  it('starts again from the cluster alone, and removes exactly what it made', async () => {
    await agent.stop()
    await client.create(ConfigMap, configMap('bystander', {}, 'shop'))
    agent.start()
    const tombstones = ['app', 'other', 'large'].map((name) => ({
      bundle: `default/${name}`,
      generation: 9,
      policy: 'Delete' as const,
    }))
    await agent.assign({}, { tombstones })
    const left = async () =>
      (await client.list(ConfigMap, { namespace: 'shop', limit: 500 })).items.map(({ metadata }) => metadata.name)
    await until('removal', async () => (await left()).every((name) => !/^(map|large|other)-/.test(name)))
    assert.ok((await left()).includes('bystander'))
    const { items } = await client.list(WIDGETS, { namespace: 'shop' })
    assert.equal(items.length, 0)
    assert.equal(
      (await plane.call('GET', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com')).status,
      200,
    )
  })
})
