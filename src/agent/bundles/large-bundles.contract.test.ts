/** Bundles of many kinds and of many bytes, from the hub to an embedded cluster. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { joinedAgents } from '../../testing/agents/joined-agents.ts'
import { widgetBundle, WIDGETS } from '../../testing/fixtures/widget-bundle.ts'
import { configMap } from '../../testing/hub/test-hub.ts'

const BUNDLE = 'default/app'
const { joined, close } = joinedAgents()
afterEach(close)

// Texts that do not compress to nothing.
function noise(seed: number, chars: number): string {
  let state = seed + 1
  let text = ''
  while (text.length < chars) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += state.toString(36)
  }
  return text.slice(0, chars)
}

describe('a large bundle on an embedded cluster', () => {
  it('of fifty objects brings its CRD before the objects of it, and is upgraded and pruned', async () => {
    const { hub, site } = await joined({ behaviour: { progressMs: 2000 } })
    const objects = widgetBundle('1')
    assert.equal(objects.length, 50)
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects } })
    await site.until(BUNDLE, 'Ready', 300_000)
    const widgets = async () => (await site.cluster.client.list(WIDGETS, { namespace: 'shop' })).items
    const made = await widgets()
    assert.equal(made.length, 20)
    assert.deepEqual(made[0]!['spec'], { size: 3 }, 'defaulted by the API')
    const crd = site.door.writes.findIndex((write) => write.includes('customresourcedefinitions'))
    const first = site.door.writes.findIndex((write) => write.includes('/widgets/'))
    assert.ok(crd >= 0 && crd < first, `${crd} before ${first}`)
    const fewer = widgetBundle('2').filter(({ metadata }) => metadata.name !== 'widget-3')
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: fewer } })
    await hub.clock.runUntil(async () => (await widgets()).length === 19, { withinMs: 300_000, what: 'pruned' })
    assert.equal(((await site.configMap('map-7', 'shop'))!['data'] as { version: string }).version, '2')
  })

  it('of five megabytes arrives, and a changed line of it costs about a line', async () => {
    const { hub, site } = await joined()
    const objects = Array.from({ length: 10 }, (_, i) => configMap(`big-${i}`, { text: noise(i, 500_000) }))
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects } })
    await site.until(BUNDLE, 'Ready', 300_000)
    const text = ((await site.configMap('big-9'))!['data'] as { text: string }).text
    assert.equal(text, noise(9, 500_000))
    const sizes = () =>
      [...hub.network.received].reduce((sum, [path, bytes]) => sum + (path.includes('set') ? bytes : 0), 0)
    const before = sizes()
    assert.ok(before > 2_000_000, `only ${before} bytes came`)
    const changed = objects.with(
      4,
      configMap('big-4', { text: `${noise(4, 250_000)}!${noise(4, 500_000).slice(250_000)}` }),
    )
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: changed } })
    await hub.clock.advance(20_000)
    assert.equal((await site.until(BUNDLE, 'Ready', 300_000)).generation, 2)
    assert.ok(sizes() - before < 20_000, `${sizes() - before} bytes for one character`)
  })
})
