/**
 * Bundles that are rendered in the cluster, among others: what they keep from being pruned, how they go back, and how
 * they leave.
 */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { BundleRecipe } from '../../render/bundle/recipe.ts'
import type { AgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import { chartContent, configMapTemplate } from '../../testing/fixtures/chart-content.ts'
import { joinedAgents } from '../../testing/agents/joined-agents.ts'
import { configMap } from '../../testing/hub/test-hub.ts'
import type { TestHub } from '../../testing/hub/test-hub.ts'

const APP = 'default/app'
const PLAIN = 'default/plain'
const { joined, close } = joinedAgents()
afterEach(close)

const READS: BundleRecipe['helm'] = { valuesFrom: [{ kind: 'ConfigMap', name: 'site' }] }
const siteValues = (text: string) => configMap('site', { 'values.yaml': text })
const COLOR = configMapTemplate('{{ .Values.color }}')
const hookTemplate = (name: string, event: string, image = 'job:1') => `apiVersion: batch/v1
kind: Job
metadata: {name: ${name}, annotations: {helm.sh/hook: "${event}"}}
spec:
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: "${image}"}]}}
`
const app = (templates: Readonly<Record<string, string>>, generation = 1, options?: BundleOptions) => ({
  [APP]: { generation, content: chartContent(templates, { helm: READS }), ...(options ? { options } : {}) },
})
const plain = (generation: number, ...objects: ReturnType<typeof configMap>[]) => ({ [PLAIN]: { generation, objects } })
const rowOf = (site: AgentUnderTest, bundle: string) =>
  site
    .agent()
    .report()
    .bundles.find((row) => row.bundle === bundle)
const until = (hub: TestHub, what: string, holds: () => boolean | Promise<boolean>) =>
  hub.clock.runUntil(holds, { withinMs: 600_000, what })
const isAt = (site: AgentUnderTest, bundle: string, state: string, generation: number) => () =>
  rowOf(site, bundle)?.state === state && rowOf(site, bundle)?.generation === generation
const valueOf = async (site: AgentUnderTest) => (await site.configMap('app'))?.['data' as never]?.['v' as never]

async function edit(site: AgentUnderTest, text: string): Promise<void> {
  await site.update('ConfigMap', Object.assign((await site.configMap('site'))!, { data: { 'values.yaml': text } }))
}

describe('what another bundle prunes', () => {
  it('goes when the chart did not want it, moves when it did, and is not deleted in between', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', plain(1, configMap('app', { v: 'red' }), configMap('goes'), configMap('stays')))
    await site.until(PLAIN, 'Ready')
    const { uid } = (await site.configMap('app'))!.metadata
    // Its values do not exist yet: it is unknown which objects it wants.
    await hub.assign('store-1', { ...plain(2, configMap('stays')), ...app({ 'cm.yaml': COLOR }) })
    await until(hub, 'plain at 2', isAt(site, PLAIN, 'Ready', 2))
    assert.equal(
      rowOf(site, PLAIN)?.message,
      'ConfigMap default/app and 1 more stay until bundle default/app, which may want it, is rendered in this cluster: see why it is not',
    )
    assert.match(rowOf(site, APP)?.message ?? '', /not found in the cluster$/)
    await hub.clock.advance(600_000)
    assert.ok(await site.configMap('goes'))
    // Also after a restart.
    await site.stop()
    await site.start()
    await hub.clock.advance(120_000)
    assert.ok(await site.configMap('goes'))
    await site.create('ConfigMap', siteValues('color: blue'))
    await until(hub, 'the app', isAt(site, APP, 'Ready', 1))
    await until(hub, 'pruning', async () => (await site.configMap('goes')) === undefined)
    const moved = await site.configMap('app')
    assert.deepEqual([moved?.metadata.uid, moved?.['data' as never]], [uid, { v: 'blue' }], 'it moved as it is')
    await until(hub, 'nothing to say', () => rowOf(site, PLAIN)?.message === undefined)
  })

  it('goes at once where the chart brings nothing: it has a namespace for all its objects', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', plain(1, configMap('goes'), configMap('stays')))
    await site.until(PLAIN, 'Ready')
    const content = chartContent({ 'cm.yaml': COLOR }, { helm: READS, targetNamespace: 'shop' })
    await hub.assign('store-1', { ...plain(2, configMap('stays')), [APP]: { generation: 1, content } })
    await until(hub, 'plain at 2', isAt(site, PLAIN, 'Ready', 2))
    assert.equal(await site.configMap('goes'), undefined)
    assert.equal(rowOf(site, PLAIN)?.message, undefined)
  })

  it('stays, too, when the other bundle leaves; the removal says for whom', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', plain(1, configMap('app', { v: 'red' }), configMap('goes')))
    await site.until(PLAIN, 'Ready')
    const tombstones = [{ bundle: PLAIN, generation: 2, policy: 'Delete' as const }]
    await hub.assign('store-1', app({ 'cm.yaml': COLOR }), { tombstones })
    const removal = () => site.agent().report().removals?.[0]
    await until(hub, 'waiting', () => removal()?.message !== undefined)
    assert.match(removal()?.message ?? '', /^ConfigMap default\/app and 1 more stay until bundle default\/app/)
    await hub.clock.advance(600_000)
    assert.ok(await site.configMap('goes'))
    assert.equal(removal()?.state, 'Removing')
    await site.create('ConfigMap', siteValues('color: blue'))
    await until(hub, 'removed', () => removal()?.state === 'Removed')
    assert.equal(await site.configMap('goes'), undefined)
    assert.equal(await valueOf(site), 'blue')
  })
})

describe('a bundle that is rendered in the cluster', () => {
  it('runs the hooks of its chart when it leaves, once, before its objects go and after', async () => {
    const { hub, site } = await joined()
    await site.create('ConfigMap', siteValues('color: blue'))
    const hooks = {
      'pre.yaml': hookTemplate('before', 'pre-delete'),
      'post.yaml': hookTemplate('after', 'post-delete'),
    }
    await hub.assign('store-1', app({ 'cm.yaml': COLOR, ...hooks }))
    await site.until(APP, 'Ready')
    assert.equal(await site.get('Job', 'before'), undefined)
    site.door.writes.length = 0
    await hub.assign('store-1', {}, { tombstones: [{ bundle: APP, generation: 2, policy: 'Delete' }] })
    await until(hub, 'removed', () => site.agent().report().removals?.[0]?.state === 'Removed')
    assert.equal(await site.configMap('app'), undefined)
    const steps = site.door.writes.filter((write) => /^POST .*jobs$|^DELETE .*configmaps.app$/.test(write))
    assert.deepEqual(
      steps.map((step) => step.replace(/ .*\//, ' ')),
      ['POST jobs', 'DELETE app', 'POST jobs'],
    )
  })

  it('that cannot be rendered any more leaves all the same', async () => {
    const { hub, site } = await joined()
    await site.create('ConfigMap', siteValues('color: blue'))
    await hub.assign('store-1', app({ 'cm.yaml': COLOR, 'pre.yaml': hookTemplate('before', 'pre-delete') }))
    await site.until(APP, 'Ready')
    await site.remove('ConfigMap', 'site')
    await hub.assign('store-1', {}, { tombstones: [{ bundle: APP, generation: 2, policy: 'Delete' }] })
    await until(hub, 'removed', () => site.agent().report().removals?.[0]?.state === 'Removed')
    assert.equal(await site.configMap('app'), undefined)
    assert.equal(await site.get('Job', 'before'), undefined)
  })

  it('goes back to the chart that ran before when its next one fails', async () => {
    const { hub, site } = await joined()
    await site.create('ConfigMap', siteValues('color: blue'))
    const options = { remediation: { upgrade: 'RollBack' } } as const
    await hub.assign('store-1', app({ 'cm.yaml': COLOR }, 1, options))
    await site.until(APP, 'Ready')
    const next = { 'cm.yaml': configMapTemplate('next {{ .Values.color }}'), 'new.yaml': configMapTemplate('x', 'new') }
    await hub.assign(
      'store-1',
      app({ ...next, 'job.yaml': hookTemplate('seed', 'post-upgrade', 'broken:1') }, 2, options),
    )
    const says = (words: RegExp) => () => words.test(rowOf(site, APP)?.message ?? '')
    await until(hub, 'going back', says(/^rolled back to the previous set: post-upgrade hook Job default\/seed/))
    assert.equal(await valueOf(site), 'blue')
    assert.equal(await site.configMap('new'), undefined)
    // And keeps that so.
    await site.remove('ConfigMap', 'app')
    await until(hub, 'repair', async () => (await valueOf(site)) === 'blue')
    assert.equal(rowOf(site, APP)?.state, 'Failed')
  })

  it('whose values changed to bad ones is not taken back to an older chart, which would read the same', async () => {
    const { hub, site } = await joined()
    await site.create('ConfigMap', siteValues('color: blue\nimage: job:1'))
    const options = { remediation: { upgrade: 'RollBack' } } as const
    await hub.assign('store-1', app({ 'cm.yaml': configMapTemplate('old') }, 1, options))
    await site.until(APP, 'Ready')
    const seed = hookTemplate('seed', 'post-upgrade', '{{ .Values.image }}')
    await hub.assign('store-1', app({ 'cm.yaml': COLOR, 'job.yaml': seed }, 2, options))
    await until(hub, 'the next', isAt(site, APP, 'Ready', 2))
    await edit(site, 'color: grey\nimage: broken:1')
    await until(hub, 'failure', isAt(site, APP, 'Failed', 2))
    assert.match(rowOf(site, APP)?.message ?? '', /^post-upgrade hook Job default\/seed/)
    await hub.clock.advance(600_000)
    assert.equal(await valueOf(site), 'grey')
    await edit(site, 'color: green\nimage: job:1')
    await until(hub, 'good values', isAt(site, APP, 'Ready', 2))
    assert.equal(await valueOf(site), 'green')
  })
})
