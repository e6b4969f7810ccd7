/** The limits of Projects in the signed document, on an embedded cluster: what an agent refuses, keeps and repairs. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { LocalLimits } from '../../plan/apply/local-limits.ts'
import type { AgentUnderTestOptions } from '../../testing/agents/agent-under-test.ts'
import { createOperatingAgent } from '../../testing/agents/operating-agent.ts'
import type { OperatedBundle } from '../../testing/agents/operating-agent.ts'
import { joinedAgents } from '../../testing/agents/joined-agents.ts'
import { chartContent, configMapTemplate } from '../../testing/fixtures/chart-content.ts'
import { configMap, deployment, hookJob, secretObject } from '../../testing/hub/test-hub.ts'
import type { DocumentProject, DocumentRules } from '../../wire/document/cluster-document.ts'

const BUNDLE = 'shop/app'
const { joined, open, close } = joinedAgents()
afterEach(close)

const limited = (more: Partial<DocumentProject>): Partial<DocumentRules> => ({
  projects: [{ name: 'team', namespaces: ['shop'], ownRights: true, ...more }],
})

async function world(ceiling: LocalLimits = {}, behaviour: AgentUnderTestOptions['behaviour'] = {}) {
  const { hub, site } = await joined({ behaviour })
  await site.stop()
  const { clock } = hub
  const ids = hub.ids.fork('operating')
  const agent = createOperatingAgent({ transport: site.cluster.transport, clock, ids, ceiling })
  agent.start()
  open.unshift({ close: () => agent.stop() })
  const isAt = (state: string, generation: number) => () =>
    agent.row(BUNDLE)?.state === state && agent.row(BUNDLE)?.generation === generation
  return {
    agent,
    clock,
    site,
    async run(bundle: OperatedBundle, rules?: Partial<DocumentRules>, state = 'Ready'): Promise<string> {
      await agent.assign({ [BUNDLE]: bundle }, rules ? { rules } : {})
      await clock.runUntil(isAt(state, bundle.generation), { withinMs: 120_000, what: state }).catch((caught) => {
        throw new Error(JSON.stringify(agent.row(BUNDLE)), { cause: caught })
      })
      return agent.row(BUNDLE)?.message ?? ''
    },
    data: async (name: string) => ((await site.configMap(name))?.['data'] as Record<string, string> | undefined)?.['v'],
  }
}

const clusterRole = (namespace?: string): UnknownObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'all', ...(namespace === undefined ? {} : { namespace }) },
  rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
})

describe('an agent and the Projects of its document', () => {
  it('begins nothing of which one object is refused, and says which line refuses', async () => {
    const at = await world()
    const objects = [configMap('good', { v: '1' }), clusterRole()]
    const message = await at.run({ generation: 1, objects }, limited({ targetNamespaces: ['default'] }), 'Failed')
    assert.match(
      message,
      /^Project team: spec\.targetNamespaces is limited, and spec\.kinds does not list rbac\.authorization\.k8s\.io\/ClusterRole by its full name/,
    )
    assert.equal(await at.data('good'), undefined)
    await at.run({ generation: 1, objects }, {})
    assert.equal(await at.data('good'), '1', 'the next document without the limit is in force at once')
  })

  it('judges an object by the scope of its kind: a namespace in the manifest of a ClusterRole does not count', async () => {
    const at = await world()
    const objects = [clusterRole('default')]
    const message = await at.run({ generation: 1, objects }, limited({ targetNamespaces: ['default'] }), 'Failed')
    assert.match(message, /ClusterRole all has no namespace/)
  })

  it('judges an object by the scope of its kind for the local limits, too', async () => {
    const at = await world({ clusterScoped: false })
    const message = await at.run({ generation: 1, objects: [clusterRole('default')] }, {}, 'Failed')
    assert.match(message, /^ClusterRole all: this cluster's ceiling allows no objects outside namespaces$/)
  })

  it('refuses own rights and foreign executors that the Project does not grant', async () => {
    const at = await world()
    const objects = [configMap('x', { v: '1' })]
    const none = limited({ ownRights: false, executors: ['sys/*'] })
    assert.match(await at.run({ generation: 1, objects }, none, 'Failed'), /spec\.executors\.ownRights is not true/)
    const options = { executor: { namespace: 'kube-system', name: 'admin' } }
    const message = await at.run({ generation: 2, objects, options }, none, 'Failed')
    assert.match(message, /^Project team: spec\.executors\.allowed does not list kube-system\/admin$/)
    assert.equal(await at.data('x'), undefined)
  })

  it('freezes what it has when the Project changes: it stays Ready, is repaired, and takes no new content', async () => {
    const at = await world()
    const one = { generation: 1, objects: [configMap('x', { v: '1' })] }
    await at.run(one)
    const without = { withoutProject: [{ namespace: 'shop', message: 'Namespace shop has no Project.' }] }
    for (const rules of [limited({ kinds: ['Secret'] }), limited({ ownRights: false }), without]) {
      await at.run(one, rules)
      await at.site.cluster.client.delete(ConfigMap, { namespace: 'default', name: 'x' })
      await at.clock.runUntil(async () => (await at.data('x')) === '1', { withinMs: 60_000, what: 'repaired' })
      assert.equal(at.agent.row(BUNDLE)?.state, 'Ready')
    }
    const message = await at.run({ generation: 2, objects: [configMap('x', { v: '2' })] }, without, 'Failed')
    assert.equal(message, 'Namespace shop has no Project.')
    assert.equal(await at.data('x'), '1')
  })

  it('removes what it has for a tombstone, whatever the Project refuses', async () => {
    const at = await world()
    await at.run({ generation: 1, objects: [configMap('x', { v: '1' })] })
    const tombstones = [{ bundle: BUNDLE, generation: 1, policy: 'Delete' as const }]
    await at.agent.assign({}, { tombstones, rules: limited({ kinds: [], ownRights: false }) })
    await at.clock.runUntil(async () => (await at.data('x')) === undefined, { withinMs: 120_000, what: 'removed' })
    assert.equal(at.agent.removals()[0]?.state, 'Removed')
  })

  it('deletes what a bundle drops, whatever a bundle of another Project that may not have it wants', async () => {
    const other = { name: 'other', namespaces: ['other'], ownRights: true, targetNamespaces: ['elsewhere'] }
    const rules = { projects: [...limited({}).projects!, other] }
    const at = await world()
    const objects = [configMap('x', { v: '1' }), configMap('y', { v: '1' }), configMap('stays', { v: '1' })]
    await at.run({ generation: 1, objects }, rules)
    const without = { generation: 2, objects: [configMap('stays', { v: '1' })] }
    // The values of the chart do not exist, so what it will want is not known; the set of the other names x.
    const helm = { valuesFrom: [{ kind: 'ConfigMap' as const, name: 'none' }] }
    const chart = { generation: 1, content: chartContent({ 'a.yaml': configMapTemplate('1') }, { helm }) }
    const greedy = { generation: 1, objects: [configMap('x', { v: 'mine' })] }
    await at.agent.assign({ [BUNDLE]: without, 'other/chart': chart, 'other/greedy': greedy }, { rules })
    const isGone = async () => (await at.data('x')) === undefined && (await at.data('y')) === undefined
    await at.clock.runUntil(isGone, { withinMs: 120_000, what: 'both are deleted' })
    assert.equal(at.agent.row(BUNDLE)?.message, undefined)
    for (const bundle of ['other/chart', 'other/greedy']) assert.equal(at.agent.row(bundle)?.state, 'Failed')
  })

  it('keeps what a bundle of the same Project, which is not rendered yet, may want', async () => {
    const at = await world()
    await at.run({ generation: 1, objects: [configMap('x', { v: '1' }), configMap('stays', { v: '1' })] }, limited({}))
    const without = { generation: 2, objects: [configMap('stays', { v: '1' })] }
    const helm = { valuesFrom: [{ kind: 'ConfigMap' as const, name: 'none' }] }
    const chart = { generation: 1, content: chartContent({ 'a.yaml': configMapTemplate('1') }, { helm }) }
    await at.agent.assign({ [BUNDLE]: without, 'shop/chart': chart }, { rules: limited({}) })
    await at.clock.advance(120_000)
    assert.equal(await at.data('x'), '1')
    assert.match(at.agent.row(BUNDLE)?.message ?? '', /stays until bundle shop\/chart, which may want it, is rendered/)
  })

  it('checks what it renders itself, again at each rendering', async () => {
    const at = await world()
    const template = `apiVersion: v1\nkind: {{ .Values.kind }}\nmetadata: {name: app}\ndata: {v: '{{ .Values.kind }}'}\n`
    const helm = { valuesFrom: [{ kind: 'ConfigMap' as const, name: 'site' }] }
    const content = chartContent({ 'a.yaml': template }, { helm })
    const values = (kind: string) => configMap('site', { 'values.yaml': `kind: ${kind}` })
    await at.site.create('ConfigMap', values('ConfigMap'))
    const rules = limited({ kinds: ['ConfigMap'], targetNamespaces: ['default'] })
    await at.run({ generation: 1, content }, rules)
    assert.equal(await at.data('app'), 'ConfigMap')
    const found: UnknownObject = (await at.site.get('ConfigMap', 'site'))!
    await at.site.update('ConfigMap', Object.assign(found, { data: { 'values.yaml': 'kind: Secret' } }))
    const isRefused = () => at.agent.row(BUNDLE)?.message === 'Project team: spec.kinds does not list Secret'
    await at.clock.runUntil(isRefused, { withinMs: 120_000, what: 'refused' })
    assert.equal(await at.data('app'), 'ConfigMap', 'what was there stays')
    assert.equal(await at.site.get('Secret', 'app'), undefined)
  })

  it('lets charts look up only where the bundle may write', async () => {
    const at = await world()
    await at.site.create('Secret', secretObject('db', { password: 'hidden' }))
    const lookup = (where: string) =>
      chartContent({ 'a.yaml': configMapTemplate(`{{ (lookup "v1" "Secret" "${where}" "db").data }}`, 'found') })
    const elsewhere = limited({ targetNamespaces: ['default'] })
    const cases: [OperatedBundle, RegExp][] = [
      [
        { generation: 1, content: lookup('kube-system') },
        /spec\.targetNamespaces does not list kube-system, so Secret cannot be looked up there/,
      ],
      [
        {
          generation: 2,
          content: chartContent({ 'a.yaml': configMapTemplate('{{ lookup "v1" "ConfigMap" "" "" }}') }),
        },
        /spec\.targetNamespaces is limited, so ConfigMap of all namespaces cannot be looked up/,
      ],
      [
        { generation: 3, content: chartContent({ 'a.yaml': configMapTemplate('{{ lookup "v1" "Node" "" "" }}') }) },
        /spec\.kinds does not list Node by its full name, so it cannot be looked up/,
      ],
    ]
    for (const [bundle, expected] of cases) assert.match(await at.run(bundle, elsewhere, 'Failed'), expected)
    await at.run({ generation: 4, content: lookup('default') }, elsewhere)
  })
})

describe('an operation under way, and a Project that refuses the rest of it', () => {
  const REFUSED = /^Project team: spec\.kinds does not list ConfigMap/
  // Three wave timeouts.
  const LONG_MS = 900_000
  const remediation = { install: 'Uninstall', upgrade: 'Uninstall' } as const
  const noMaps = limited({ kinds: ['batch/Job', 'apps/Deployment'] })
  const later = (object: UnknownObject): UnknownObject => ({
    ...object,
    metadata: { ...object.metadata, annotations: { 'flotilla.dev/wave': '1' } },
  })
  const migrate = hookJob('migrate', { 'helm.sh/hook': 'pre-upgrade' })

  for (const onError of ['Stop', 'Continue'] as const) {
    const options = { remediation, apply: { onError } }
    const first = { generation: 1, objects: [configMap('x', { v: '1' })], options }
    const second = {
      generation: 2,
      objects: [configMap('x', { v: '2' }), configMap('y', { v: '2' }), migrate],
      options,
    }

    it(`waits within a wave, removes nothing, and goes on when the Project allows it again (${onError})`, async () => {
      const at = await world({}, { progressMs: 20_000 })
      await at.run(first)
      await at.run(second, {}, 'Progressing')
      assert.match(await at.run(second, noMaps, 'Failed'), REFUSED)
      await at.clock.advance(LONG_MS)
      assert.match(at.agent.row(BUNDLE)?.message ?? '', REFUSED)
      assert.equal(await at.data('x'), '1')
      await at.run(second, {})
      assert.equal(await at.data('x'), '2')
    })

    it(`begins the wave timeout anew after the refusal (${onError})`, async () => {
      const at = await world({}, { progressMs: 20_000 })
      await at.run(first)
      await at.run(second, {}, 'Progressing')
      await at.run(second, noMaps, 'Failed')
      await at.clock.advance(LONG_MS)
      await at.site.create('ConfigMap', configMap('y', { v: 'of another' }))
      await at.agent.assign({ [BUNDLE]: second })
      const says = (words: RegExp) => () => words.test(at.agent.row(BUNDLE)?.message ?? '')
      await at.clock.runUntil(says(/^ConfigMap default\/y: /), { withinMs: 120_000, what: 'the other failure' })
      assert.notEqual(await at.data('x'), undefined)
      await at.clock.advance(60_000)
      assert.notEqual(await at.data('x'), undefined)
      await at.clock.runUntil(says(/^uninstalled after a failure: /), { withinMs: LONG_MS, what: 'uninstalled' })
      assert.equal(await at.data('x'), undefined)
      assert.equal(await at.data('y'), 'of another')
    })

    it(`waits between waves, and goes on when the Project allows it again (${onError})`, async () => {
      const at = await world({}, { progressMs: 20_000 })
      const bundle = { generation: 1, objects: [deployment('web'), later(configMap('x', { v: '1' }))], options }
      await at.run(bundle, {}, 'Progressing')
      assert.match(await at.run(bundle, noMaps, 'Failed'), REFUSED)
      await at.clock.advance(LONG_MS)
      assert.match(at.agent.row(BUNDLE)?.message ?? '', REFUSED)
      assert.ok(await at.site.get('Deployment', 'web'))
      await at.run(bundle, {})
      assert.equal(await at.data('x'), '1')
    })

    it(`does not begin what the Project refuses (${onError})`, async () => {
      const at = await world()
      await at.run(first)
      const objects = [configMap('x', { v: '2' }), deployment('web')]
      assert.match(await at.run({ generation: 2, objects, options }, noMaps, 'Failed'), REFUSED)
      await at.clock.advance(LONG_MS)
      assert.match(at.agent.row(BUNDLE)?.message ?? '', REFUSED)
      assert.equal(await at.data('x'), '1')
      assert.equal(await at.site.get('Deployment', 'web'), undefined)
    })
  }

  it('gives a hook its whole deadline after the Project refused it', async () => {
    const at = await world({}, { progressMs: 20_000 })
    const objects = [deployment('web'), hookJob('check', { 'helm.sh/hook': 'post-install' })]
    const bundle = { generation: 1, objects, options: { remediation } }
    await at.run(bundle, {}, 'Progressing')
    const message = await at.run(bundle, limited({ kinds: ['apps/Deployment'] }), 'Failed')
    assert.equal(message, 'Project team: spec.kinds does not list batch/Job')
    await at.clock.advance(LONG_MS)
    assert.equal(at.agent.row(BUNDLE)?.message, message)
    await at.run(bundle, {})
    assert.ok(await at.site.get('Job', 'check'))
  })

  it('does not act on a wave that becomes unhealthy while the Project refuses the next', async () => {
    let isBroken = false
    const at = await world({}, { progressMs: 20_000, isBroken: () => isBroken })
    const objects = [deployment('web'), later(configMap('x', { v: '1' }))]
    const bundle = { generation: 1, objects, options: { remediation } }
    const replace = async () => {
      await at.site.cluster.client.delete(Deployment, { namespace: 'default', name: 'web' })
      const isThere = async () => (await at.site.get('Deployment', 'web')) !== undefined
      await at.clock.runUntil(isThere, { withinMs: 60_000, what: 'repaired' })
      await at.clock.advance(LONG_MS)
      assert.ok(await isThere())
    }
    await at.run(bundle, {}, 'Progressing')
    await at.run(bundle, noMaps, 'Failed')
    await at.clock.advance(LONG_MS)
    isBroken = true
    await replace()
    assert.match(at.agent.row(BUNDLE)?.message ?? '', /^wave 1 of 2 was not healthy within 5m/)
    isBroken = false
    await replace()
    assert.match(at.agent.row(BUNDLE)?.message ?? '', REFUSED)
    await at.run(bundle, {})
    assert.equal(await at.data('x'), '1')
  })
})
