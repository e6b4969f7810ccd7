/** Recipes: what rendering reads, as which executor, when it renders again, and which values stay in the agent. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { base64, generateKeyPair, publicKeyDer, utf8 } from '../../core/bytes.ts'
import type { Logger } from '../../core/log.ts'
import { Secret } from '../../core/secret.ts'
import { formatTime } from '../../core/time/time.ts'
import { ServiceAccount } from '../../kinds/builtin/core.ts'
import { Role, RoleBinding } from '../../kinds/builtin/rbac.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { openDriftValues } from '../../plan/drift/drift-values.ts'
import type { BundleRecipe } from '../../render/bundle/recipe.ts'
import type { AgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import { chartContent, configMapTemplate } from '../../testing/fixtures/chart-content.ts'
import { joinedAgents } from '../../testing/agents/joined-agents.ts'
import { configMap, secretObject } from '../../testing/hub/test-hub.ts'

const BUNDLE = 'default/app'
const { joined, close } = joinedAgents()
afterEach(close)

const VALUES: BundleRecipe['helm'] = {
  values: { color: 'red', password: 'none' },
  valuesFrom: [
    { kind: 'ConfigMap', name: 'site' },
    { kind: 'Secret', name: 'db', key: 'password', targetPath: 'password' },
    { kind: 'Secret', name: 'extra', optional: true },
  ],
}
const app = (template: string, generation = 1, options?: BundleOptions, helm: BundleRecipe['helm'] = VALUES) => ({
  [BUNDLE]: { generation, content: chartContent({ 'cm.yaml': template }, { helm }), ...(options ? { options } : {}) },
})
const valueOf = async (site: AgentUnderTest, name = 'app') =>
  ((await site.configMap(name))?.['data'] as Record<string, string> | undefined)?.['v']
const site1 = (color: string) => configMap('site', { 'values.yaml': `color: ${color}\n` })
const COLORS = configMapTemplate('{{ .Values.color }}')

function forget({ door }: AgentUnderTest): void {
  door.writes.length = 0
  door.reads.length = 0
}

/** Other data for what a bundle reads. */
async function change(site: AgentUnderTest, kind: 'ConfigMap' | 'Secret', data: Record<string, string>): Promise<void> {
  const found: UnknownObject = (await site.get(kind, kind === 'Secret' ? 'db' : 'site'))!
  await site.update(kind, Object.assign(found, { data }))
}

async function give(site: AgentUnderTest, ...objects: UnknownObject[]): Promise<void> {
  for (const object of objects) await site.create(object.kind as 'ConfigMap' | 'Secret', object)
}

function recording(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = []
  const write = (fields: object, message: string): void =>
    void lines.push(`${message} ${JSON.stringify(fields, errors)}`)
  const log: Logger = { debug: write, info: write, warn: write, error: write, child: () => log }
  return { log, lines }
}

function errors(_key: string, value: unknown): unknown {
  return value instanceof Error ? { message: value.message, stack: value.stack } : value
}

describe('content that is rendered in the cluster', () => {
  it('takes values from ConfigMaps and Secrets, later ones over earlier ones; an optional one may be missing', async () => {
    const { hub, site } = await joined()
    await give(site, site1('blue'), secretObject('db', { password: '0123' }))
    await hub.assign('store-1', app(configMapTemplate('{{ .Values.color }} {{ .Values.password }}')))
    await site.until(BUNDLE, 'Ready')
    assert.equal(await valueOf(site), 'blue 0123', 'a text stays a text')
    await give(site, secretObject('extra', { 'values.yaml': 'color: green\npassword: null\n' }))
    await hub.clock.advance(10_000)
    assert.equal(await valueOf(site), 'green ', 'it came, and counts last')
  })

  it('fails alone while a key is missing, naming key and object, and goes on when it is there', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', { ...app(COLORS), 'default/other': { generation: 1, objects: [configMap('other')] } })
    const row = await site.until(BUNDLE, 'Failed')
    assert.equal(
      row.message,
      'helm.valuesFrom names key values.yaml of ConfigMap default/site: not found in the cluster',
    )
    assert.equal(row.firstFailing, 'ConfigMap default/site')
    await site.until('default/other', 'Ready')
    await give(site, configMap('site', {}), secretObject('db', { password: 'x' }))
    await hub.clock.advance(10_000)
    assert.match(
      (await site.until(BUNDLE, 'Failed')).message ?? '',
      /ConfigMap default\/site: key values.yaml not found$/,
    )
    await change(site, 'ConfigMap', { 'values.yaml': 'color: blue' })
    await hub.clock.advance(5000)
    assert.equal(await valueOf(site), 'blue')
  })

  it('is rendered again when what was read changes, and only then; without polling', async () => {
    const { hub, site } = await joined()
    await give(site, site1('blue'), secretObject('db', { password: 'x' }))
    await hub.assign('store-1', app(COLORS))
    await site.until(BUNDLE, 'Ready')
    await hub.clock.advance(60_000)
    forget(site)
    await hub.clock.advance(1_200_000)
    assert.equal(site.door.writes.length, 0, 'nothing is written while nothing changes')
    const asked = site.door.reads.filter((path) => !path.includes('watch=') && /configmaps\/site|secrets/.test(path))
    assert.deepEqual(asked, [], 'and nothing is asked for')
    await change(site, 'ConfigMap', { 'values.yaml': 'color: grey' })
    await hub.clock.advance(5000)
    assert.equal(await valueOf(site), 'grey')
    assert.equal((await site.until(BUNDLE, 'Ready')).generation, 1)
    // An operation takes an inventory to begin with, one when it is applied, one when it is settled.
    assert.equal(site.door.writes.filter((write) => write.includes('inventory')).length, 3)
    await change(site, 'ConfigMap', { 'values.yaml': '{color: grey}' })
    forget(site)
    await hub.clock.advance(60_000)
    assert.deepEqual(site.door.writes, [], 'other text, same objects: nothing to do')
  })

  it('keeps what runs when a key goes away, says so, and repairs drift meanwhile', async () => {
    const { hub, site } = await joined()
    await give(site, site1('blue'), secretObject('db', { password: 'x' }))
    await hub.assign('store-1', app(COLORS))
    await site.until(BUNDLE, 'Ready')
    await site.remove('ConfigMap', 'site')
    await hub.clock.advance(5000)
    assert.match(
      (await site.until(BUNDLE, 'Failed')).message ?? '',
      /ConfigMap default\/site: not found in the cluster/,
    )
    await site.remove('ConfigMap', 'app')
    await hub.clock.advance(5000)
    assert.equal(await valueOf(site), 'blue')
  })

  it('freezes what is drawn at random in the cluster, through restart, without the hub, and forgets it with the bundle', async () => {
    const { hub, site } = await joined()
    await give(site, site1('blue'), secretObject('db', { password: 'x' }))
    const drawn = configMapTemplate('{{ randAlphaNum 20 }} {{ .Values.color }}')
    await hub.assign('store-1', app(drawn))
    await site.until(BUNDLE, 'Ready')
    const [password] = (await valueOf(site))!.split(' ')
    assert.match(password!, /^[A-Za-z0-9]{20}$/)
    hub.network.up = false
    await site.stop()
    await site.start()
    await site.remove('ConfigMap', 'app')
    await hub.clock.advance(60_000)
    assert.equal(await valueOf(site), `${password} blue`, 'repaired without the hub')
    await change(site, 'ConfigMap', { 'values.yaml': 'color: grey' })
    await hub.clock.advance(60_000)
    assert.equal(await valueOf(site), `${password} grey`, 'and rendered again')
    hub.network.up = true
    await hub.clock.advance(60_000)
    const secrets = async () =>
      (
        await site.cluster.client.list(
          { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', scope: 'Namespaced' },
          { namespace: 'flotilla-agent' },
        )
      ).items
    assert.equal((await secrets()).length, 1)
    await hub.assign('store-1', {}, { tombstones: [{ bundle: BUNDLE, generation: 1, policy: 'Delete' }] })
    await hub.clock.advance(60_000)
    assert.equal(await site.configMap('app'), undefined)
    assert.deepEqual(await secrets(), [])
  })

  it('answers lookup, of objects, lists and nothing, and sees the APIs and the version of the cluster', async () => {
    const { hub, site } = await joined()
    await give(site, secretObject('db', { password: 'p-1' }), configMap('a', { n: '1' }), configMap('b', {}))
    const template = configMapTemplate(
      [
        '{{ (lookup "v1" "Secret" "default" "db").data.password | b64dec }}',
        '{{ range (lookup "v1" "ConfigMap" "default" "").items }}{{ if .data }}{{ .metadata.name }}{{ .data.n }}{{ end }}{{ end }}',
        '{{ lookup "v1" "Secret" "default" "none" | len }}',
        '{{ lookup "x.example/v1" "None" "default" "none" | len }}',
        '{{ .Capabilities.APIVersions.Has "apps/v1/Deployment" }}',
        '{{ .Capabilities.APIVersions.Has "no.example/v1" }}',
      ].join(' '),
      'looked',
    )
    await hub.assign('store-1', app(template, 1, undefined, {}))
    await site.until(BUNDLE, 'Ready')
    assert.match((await valueOf(site, 'looked')) ?? '', /^p-1 a1\S* 0 0 true false$/)
  })

  it('F17, CVE-2026-41050, CVE-2026-44935, CVE-2026-44938: a list of all namespaces has nothing of the namespace of the agent, and no Secrets', async () => {
    const { hub, site } = await joined()
    await give(site, configMap('a', { n: '1' }))
    const namespaces =
      '{{ range (lookup "v1" "ConfigMap" "" "").items }}{{ .metadata.namespace }}/{{ .metadata.name }} {{ end }}'
    await hub.assign('store-1', app(configMapTemplate(namespaces, 'looked'), 1, undefined, {}))
    await site.until(BUNDLE, 'Ready')
    const seen = (await valueOf(site, 'looked')) ?? ''
    assert.match(seen, /default\/a /)
    assert.doesNotMatch(seen, /flotilla-agent/)
    const secrets = configMapTemplate('{{ (lookup "v1" "Secret" "" "").items | len }}', 'looked')
    await hub.assign('store-1', app(secrets, 2, undefined, {}))
    const { message = '' } = await site.until(BUNDLE, 'Failed')
    assert.match(message, /Secrets of all namespaces cannot be looked up; name a namespace/)
  })

  it('looks up what it writes itself without end, and less and less often', async () => {
    const { hub, site } = await joined()
    const flapping = configMapTemplate(
      '{{ $was := lookup "v1" "ConfigMap" "default" "app" }}{{ if $was }}{{ $was.metadata.resourceVersion }}{{ end }}',
    )
    await hub.assign('store-1', app(flapping, 1, undefined, {}))
    await hub.clock.advance(60_000)
    forget(site)
    await hub.clock.advance(900_000)
    const applied = site.door.writes.filter((write) => write.includes('configmaps/app')).length
    assert.ok(applied > 2 && applied < 10, `${applied} writes in a quarter of an hour`)
  })

  it('reads as the executor, under the ceiling, and never in the namespace of the agent', async () => {
    const { hub, site } = await joined({ ceiling: { namespaces: ['default', 'flotilla-agent'] } })
    const { client } = site.cluster
    await give(site, site1('blue'), secretObject('db', { password: 'x' }))
    await client.create(ServiceAccount, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'deployer', namespace: 'default' },
    })
    const rights = (rules: object[]) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'deployer', namespace: 'default' },
      rules,
    })
    await client.create(Role, rights([{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }]) as never)
    await client.create(RoleBinding, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'deployer', namespace: 'default' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'deployer' },
      subjects: [{ kind: 'ServiceAccount', name: 'deployer', namespace: 'default' }],
    })
    const options = { executor: { namespace: 'default', name: 'deployer' } }
    await hub.assign('store-1', app(configMapTemplate('{{ .Values.color }} {{ .Values.password }}'), 1, options))
    const row = await site.until(BUNDLE, 'Failed')
    assert.equal(
      row.message,
      'Secret default/db: denied: system:serviceaccount:default:deployer may not get secrets in namespace default',
    )
    // Reading is enough; what may not be watched is read now and then.
    await client.apply(
      Role,
      rights([
        { apiGroups: [''], resources: ['configmaps'], verbs: ['*'] },
        { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
      ]) as never,
      { fieldManager: 'test', force: true },
    )
    await site.until(BUNDLE, 'Ready', 600_000)
    await change(site, 'Secret', { password: base64(utf8('y')) })
    await hub.clock.advance(400_000)
    assert.equal(await valueOf(site), 'blue y')
    const from = (namespace: string) => ({
      valuesFrom: [{ kind: 'Secret' as const, name: 'flotilla-frozen', namespace }],
    })
    await hub.assign('store-1', app(COLORS, 2, options, from('flotilla-agent')))
    await hub.clock.advance(5000)
    assert.match(
      (await site.until(BUNDLE, 'Failed')).message ?? '',
      /namespace flotilla-agent belongs to the agent; no bundle may read there/,
    )
    await hub.assign('store-1', app(COLORS, 3, options, from('kube-system')))
    await hub.clock.advance(5000)
    assert.match(
      (await site.until(BUNDLE, 'Failed')).message ?? '',
      /this cluster's ceiling does not allow namespace kube-system/,
    )
  })

  it('tells no value that was read: not in reports, inventories, logs or on disk', async () => {
    const { log, lines } = recording()
    const { hub, site } = await joined({ log })
    await give(site, site1('blue'), secretObject('db', { password: 'correct-horse-battery' }))
    await hub.assign(
      'store-1',
      app(configMapTemplate('{{ fail (printf "no: %s %s" .Values.password (b64enc .Values.password)) }}')),
    )
    const row = await site.until(BUNDLE, 'Failed')
    assert.match(row.message ?? '', /no: \[sealed\] \[sealed\]/)
    site.door.refuses = 'configmaps/app'
    await hub.assign('store-1', app(configMapTemplate('{{ .Values.password }}'), 2))
    await hub.clock.advance(10_000)
    assert.match((await site.until(BUNDLE, 'Failed')).message ?? '', /no: .*\[sealed\]/)
    site.door.refuses = undefined
    await hub.clock.advance(120_000)
    assert.equal(await valueOf(site), 'correct-horse-battery')
    const maps = await site.cluster.client.list(
      { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' },
      { namespace: 'flotilla-agent' },
    )
    const disk = [...site.files.values()].map((bytes) => new TextDecoder().decode(bytes)).join('')
    const reports = JSON.stringify(
      await hub.client.list({
        group: 'flotilla.dev',
        version: 'v1alpha1',
        kind: 'ClusterReport',
        plural: 'clusterreports',
        scope: 'Cluster',
      }),
    )
    for (const text of [JSON.stringify(maps), disk, reports, ...lines])
      assert.doesNotMatch(text, /correct-horse|Y29ycmVjdC1ob3JzZ/)
    for await (const digest of site.blobs.list()) {
      assert.doesNotMatch(new TextDecoder().decode(await site.blobs.get(digest)), /correct-horse/)
    }
  })

  it('tells no value that was read to a user who asks for values of drifted fields, neither delivered nor live', async () => {
    const { hub, site } = await joined()
    await give(site, site1('blue'), secretObject('db', { password: 'correct-horse-battery' }))
    // The longest text that is told ends within the value of the Secret.
    const template = configMapTemplate(
      '{{ .Values.color }} {{ .Values.password }} {{ repeat 4050 "x" }}{{ .Values.password }}',
    )
    await hub.assign('store-1', app(template, 1, { drift: { mode: 'Report' } }))
    await site.until(BUNDLE, 'Ready')
    const found = (await site.configMap('app'))!
    await site.update('ConfigMap', Object.assign(found, { data: { v: 'edited: correct-horse-battery' } }))
    await site.until(BUNDLE, 'Drifted')
    const pair = generateKeyPair('x25519')
    const asked = formatTime(hub.clock.now())
    const valuesAsked = { at: asked, bundle: BUNDLE, key: base64(publicKeyDer(pair.publicKey)) }
    await hub.client.patch(Cluster, { name: 'store-1' }, { type: 'merge', body: { spec: { valuesAsked } } })
    const reported = async () => (await hub.client.get(ClusterReport, { name: 'store-1' })).spec
    await hub.clock.runUntil(async () => (await reported()).values?.asked === asked, {
      withinMs: 120_000,
      what: 'the values',
    })
    const { clusterId, values } = await reported()
    const opened = openDriftValues({ clusterId, bundle: BUNDLE, asked }, values!.sealed, new Secret(pair.privateKey))
    const [field] = opened.objects[0]?.fields ?? []
    assert.equal(field?.live, 'edited: [sealed]')
    assert.match(field.delivered ?? '', /^blue \[sealed\] x/)
    assert.doesNotMatch(JSON.stringify(opened), /corr/)
  })
})
