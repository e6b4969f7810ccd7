/** Rules on rendered content in a running hub: what is denied stays where it is, all else is told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { createClient } from '../../../client/create-client.ts'
import { installPolicies } from '../../../hub/home/kube-home.ts'
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../../kinds/builtin/admission.ts'
import { ClusterRole, ClusterRoleBinding } from '../../../kinds/builtin/rbac.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Override } from '../../../kinds/native/override.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Source } from '../../../kinds/native/source.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build, buildCluster, buildPlacement } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'

const web = (tag: string) =>
  `# The shop\napiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec: {containers: [{name: web, image: "shop/web${tag}"}]}\n`

const PINNED = "object.spec.containers.all(c, c.image.contains(':') && !c.image.endsWith(':latest'))"
const IN_PRODUCTION =
  "object.metadata.annotations[?'flotilla.dev/cluster-label.env'].orValue('') != 'production' || (" + PINNED + ')'

async function world(t: TestContext, clusters: Readonly<Record<string, string>> = { s1: 'staging', p1: 'production' }) {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  const { signal: never } = new AbortController()
  await installPolicies(hub.client, never)
  for (const [name, env] of Object.entries(clusters)) {
    await hub.create(buildCluster(name, { labels: { env } }), Cluster)
    await hub.report(name, 'Ready')
  }
  await hub.create(buildPlacement('default/all'), Placement)
  const settle = async () => {
    for (let round = 0; round < 3; round++) {
      await hub.clock.advance(8000)
      for (const { metadata } of (await hub.client.list(Cluster)).items) await hub.report(metadata.name, 'Ready')
    }
    await hub.clock.advance(8000)
  }
  const deliver = async (manifests: string) => {
    const spec = { placement: 'all', manifests, rollout: { concurrency: 10 } }
    const present = await hub.find(Bundle, 'default/web')
    if (present) await hub.client.update(Bundle, { ...present, spec })
    else await hub.create(build(Bundle, 'default/web', { spec }), Bundle)
    await settle()
  }
  const rule = async (expression: string, action: string, name = 'pinned') => {
    const metadata = {
      name,
      annotations: { 'policy.open-cluster-management.io/controls': 'CM-2 Baseline Configuration' },
    }
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }]
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: { matchConstraints: { resourceRules }, validations: [{ expression, message: 'name a version' }] },
    }
    const objectSelector = { matchLabels: { 'flotilla.dev/rendered': 'true' } }
    const binding = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: [action], matchResources: { objectSelector } },
    }
    await hub.client.apply(ValidatingAdmissionPolicy, policy, { fieldManager: 'test', force: true })
    await hub.client.apply(ValidatingAdmissionPolicyBinding, binding, { fieldManager: 'test', force: true })
    await settle()
  }
  /** Cluster → generation in its document. */
  const delivered = async () =>
    Object.fromEntries(
      (await hub.client.list(Assignment)).items.map(({ metadata, spec }) => [
        metadata.name,
        spec.entries.map(({ generation }) => generation).join(),
      ]),
    )
  const condition = async (type: string) => {
    const found = (await hub.find(Bundle, 'default/web'))?.status?.conditions?.find((one) => one.type === type)
    return found ? `${found.status} ${found.reason}: ${found.message}` : '-'
  }
  return { hub, settle, deliver, rule, delivered, condition }
}

test('Deny fails the Bundle with rule and line; clusters keep what they run, and corrected content goes out', async (t) => {
  const { deliver, rule, delivered, condition, hub } = await world(t)
  await rule(PINNED, 'Deny')
  await deliver(web(':1'))
  assert.deepEqual(await delivered(), { s1: '1', p1: '1' })
  assert.equal(await condition('RulesMet'), 'True Met: 1 rule is met on 2 clusters.')
  await deliver(web(':latest'))
  assert.deepEqual(await delivered(), { s1: '1', p1: '1' })
  const words =
    'Cannot render spec.manifests: spec.manifests, line 2: a rule denies Pod shop/web: name a version [policy pinned]. Clusters keep what they run.'
  assert.equal(await condition('Rendered'), `False RuleDenies: ${words}`)
  assert.equal(await condition('RulesMet'), `False Denied: ${words}`)
  await deliver(web(':2'))
  assert.deepEqual(await delivered(), { s1: '3', p1: '3' })
  assert.equal(await condition('RulesMet'), 'True Met: 1 rule is met on 2 clusters.')
  hub.writes.length = 0
  await hub.clock.advance(120_000)
  assert.deepEqual(hub.writes, [], 'nothing is written in the steady state')
})

test('a rule about production denies production alone, also for a cluster that becomes production later', async (t) => {
  const { hub, deliver, rule, delivered, condition, settle } = await world(t)
  await rule(IN_PRODUCTION, 'Deny')
  await deliver(web(''))
  assert.deepEqual(await delivered(), { s1: '1' })
  assert.match(await condition('Rendered'), /^True PartlyRendered: .* Not for p1: .*a rule denies Pod shop\/web/)
  assert.match(
    await condition('RulesMet'),
    /^False Denied: The content of 1 cluster is denied; see the condition Rendered/,
  )
  await hub.create(buildCluster('p2', { labels: { env: 'production' } }), Cluster)
  await hub.report('p2', 'Ready')
  await settle()
  assert.deepEqual(await delivered(), { s1: '1' })
  await deliver(web(':2'))
  assert.deepEqual(Object.keys(await delivered()).length, 3)
  assert.ok(
    Object.values(await delivered()).every((one) => one === '2'),
    JSON.stringify(await delivered()),
  )
  const cluster = await hub.client.get(Cluster, { name: 's1' })
  const labels = { env: 'production' }
  await hub.client.update(Cluster, { ...cluster, metadata: { ...cluster.metadata, labels } })
  await settle()
  assert.equal(await condition('RulesMet'), 'True Met: 1 rule is met on 3 clusters.')
})

test('Warn and Audit stop nothing and are told; a rule that is gone is forgotten', async (t) => {
  const { hub, deliver, rule, delivered, condition, settle } = await world(t)
  await deliver(web(''))
  assert.equal(await condition('RulesMet'), '-')
  const renders = hub.rendered()
  await rule(PINNED, 'Warn')
  await rule('false', 'Audit', 'never')
  assert.equal(hub.rendered(), renders, 'rules that do not deny render nothing again')
  assert.equal(
    await condition('RulesMet'),
    'False NotMet: Pod shop/web: name a version [policy pinned] on 2 clusters. Pod shop/web: name a version [policy never] on 2 clusters.',
  )
  assert.deepEqual(await delivered(), { s1: '1', p1: '1' })
  for (const name of ['pinned', 'never']) await hub.client.delete(ValidatingAdmissionPolicyBinding, { name })
  await settle()
  assert.equal(await condition('RulesMet'), '-')
})

test('a rule that is newer than the content withdraws nothing, and says so', async (t) => {
  const { deliver, rule, delivered, condition } = await world(t)
  await deliver(web(''))
  await rule(PINNED, 'Deny')
  assert.deepEqual(await delivered(), { s1: '1', p1: '1' })
  assert.match(await condition('RulesMet'), /^False Denied/)
})

test('an exception lets the content through until it expires', async (t) => {
  const { hub, deliver, rule, delivered, condition, settle } = await world(t)
  await rule(PINNED, 'Deny')
  const { formatTime } = await import('../../../core/time/time.ts')
  const spec = {
    bundle: 'web',
    clusters: ['s1'],
    policy: 'pinned',
    control: 'CM-2 Baseline Configuration',
    owner: 'ana',
    reason: 'vendor image',
    ticket: 'SEC-17',
    expiresAt: formatTime(hub.clock.now() + 3_600_000),
  }
  await hub.create(build(Override, 'default/vendor', { spec }), Override)
  await deliver(web(''))
  assert.deepEqual(await delivered(), { s1: '1' })
  assert.match(await condition('RulesMet'), /Denied: .*excepted by Override vendor until /)
  await hub.clock.advance(3_700_000)
  await settle()
  assert.match(await condition('Rendered'), /^False RuleDenies/)
  assert.deepEqual(await delivered(), { s1: '1' }, 'what was delivered stays')
})

test('only a caller with the verb except makes or changes an exception', async (t) => {
  const { hub } = await world(t)
  const rules = [{ apiGroups: ['flotilla.dev'], resources: ['overrides'], verbs: ['*'] }]
  const except = [
    {
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['validatingadmissionpolicies'],
      resourceNames: ['pinned'],
      verbs: ['except'],
    },
  ]
  for (const [name, given] of [
    ['tenant', rules],
    ['officer', [...rules, ...except]],
  ] as const) {
    await hub.create(build(ClusterRole, name, { rules: [...given] }), ClusterRole)
    const subjects = [{ kind: 'User', name }]
    const roleRef = { kind: 'ClusterRole', name }
    await hub.create(build(ClusterRoleBinding, name, { roleRef, subjects }), ClusterRoleBinding)
  }
  const { clock } = hub
  const [tenant, officer] = ['tenant', 'officer'].map((user) => createClient({ clock, transport: hub.as(user) }))
  const made = (policy: string, more: Partial<Override['spec']> = {}) =>
    build(Override, `default/${policy}`, {
      spec: {
        bundle: 'web',
        policy,
        owner: 'x',
        reason: 'x',
        ticket: 'T',
        expiresAt: '2036-01-01T00:00:00Z',
        ...more,
      },
    })
  await assert.rejects(tenant!.create(Override, made('pinned')), /tenant may not make an exception of policy pinned/)
  await assert.rejects(officer!.create(Override, made('other')), /officer may not make an exception of policy other/)
  const made1 = await officer!.create(Override, made('pinned'))
  const longer = { ...made1, spec: { ...made1.spec, expiresAt: '2037-01-01T00:00:00Z' } }
  await assert.rejects(tenant!.update(Override, longer), /may not make an exception/)
  const plain = build(Override, 'default/plain', { spec: { bundle: 'web', owner: 'x', reason: 'x' } })
  const own = await tenant!.create(Override, plain)
  await assert.rejects(
    tenant!.update(Override, { ...own, spec: made('pinned').spec }),
    /may not make an exception/,
    'a plain Override does not become an exception',
  )
  await assert.rejects(hub.create(made('a', { expiresAt: undefined }), Override), /needs ticket and expiresAt/)
  await assert.rejects(hub.create(made('b', { targetNamespace: 'y' }), Override), /cannot change content/)
})

test('the place of a denied object is its file and line in the Source', async (t) => {
  const { hub, rule, condition, settle } = await world(t)
  await rule(PINNED, 'Deny')
  const files = { 'app/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n', 'app/web.yaml': web('') }
  hub.serveSources(async ({ previous, spec }) => {
    if (previous) return { kind: 'Same' }
    const bytes = new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    return { kind: 'New', artifact: { ...stored, revision: 'main@sha1:c1', commit: 'c1', fetchedBytes: 1, from: 'x' } }
  })
  await hub.create(build(Source, 'default/apps', { spec: { git: { url: 'https://x/y' }, interval: '10s' } }), Source)
  const spec = { placement: 'all', source: { name: 'apps', path: 'app' } }
  await hub.create(build(Bundle, 'default/web', { spec }), Bundle)
  await settle()
  assert.match(
    await condition('Rendered'),
    /: app\/web\.yaml, line 2: a rule denies Pod shop\/web: name a version \[policy pinned\]/,
  )
})

test('content that agents render is not evaluated, and says so', async (t) => {
  const { hub, rule, condition, settle } = await world(t)
  await rule(PINNED, 'Deny')
  const chart = {
    'app/Chart.yaml': 'apiVersion: v2\nname: app\nversion: 1.0.0\n',
    'app/templates/web.yaml': web(''),
  }
  hub.serveSources(async ({ previous, spec }) => {
    if (previous) return { kind: 'Same' }
    const bytes = new Map(Object.entries(chart).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    return { kind: 'New', artifact: { ...stored, revision: 'main@sha1:c1', commit: 'c1', fetchedBytes: 1, from: 'x' } }
  })
  await hub.create(build(Source, 'default/apps', { spec: { git: { url: 'https://x/y' }, interval: '10s' } }), Source)
  const spec = { placement: 'all', source: { name: 'apps', path: 'app' }, render: { at: 'Agent' as const } }
  await hub.create(build(Bundle, 'default/web', { spec }), Bundle)
  await settle()
  assert.match(
    await condition('RulesMet'),
    /^Unknown RenderedInCluster: The content of 2 clusters is rendered there, unseen/,
  )
})
