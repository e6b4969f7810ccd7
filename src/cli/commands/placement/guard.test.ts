/** guard list and release, and explain while a change is held, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../core/time/system-clock.ts'
import { ClusterResourceBinding, ResourceBinding } from '../../../dialects/karmada/served/kinds.ts'
import { installDialects } from '../../../hub/home/dialects.ts'
import { Deployment } from '../../../kinds/builtin/apps.ts'
import { digestOf } from '../../../core/crypto/digest.ts'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { RoleBinding } from '../../../kinds/builtin/rbac.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { PlacementDecision } from '../../../kinds/native/placement-decision.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { build, buildBundle, buildCluster, buildPlacement } from '../../../testing/fixtures/builders.ts'
import { allowNamespaces } from '../../../testing/fixtures/projects.ts'
import { createCliHub, expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import { guardList, guardRelease } from './guard.ts'
import type { GuardInput } from './guard.ts'
import { heldChangesIn } from './held-changes.ts'
import { explain } from './placement.ts'

const AT = '2026-01-01T00:00:00Z'
const held = (token: string, message: string) => ({ token, dropping: 2, of: 2, allowed: 1, since: AT, message })

/** A hub with two stores; the selector of their Placement has a wrong letter, and the change is held. */
async function started(t: { after(fn: () => Promise<void>): void }) {
  const hub = createCliHub(t, { namespace: 'retail' })
  const { client, connection, connectionOf, terminal } = hub
  await ensureNamespace(client, 'retail')
  await allowNamespaces(client, 'retail')
  const decisions = []
  for (const name of ['store-1', 'store-2']) {
    await client.create(Cluster, buildCluster(name, { labels: { tier: 'store' } }))
    const entries = [{ bundle: 'retail/shop', generation: 1, set: digestOf('x'), rollout: 'retail/shop-g1' }]
    const spec = { clusterId: `c-${name}`, epoch: 1, revision: 1, document: digestOf(name), entries }
    await client.create(Assignment, build(Assignment, name, { spec }))
    decisions.push({ cluster: name, reason: 'labels match', state: 'Selected' as const })
  }
  const page = { placement: 'stores', placementGeneration: 1, page: 0, pages: 1, decisions }
  await client.create(PlacementDecision, build(PlacementDecision, 'retail/stores-0', { spec: page }))
  await client.create(Bundle, buildBundle('retail/shop', { placement: 'stores' }))
  const placement = await client.create(Placement, buildPlacement('retail/stores', { tier: 'stroe' }))
  const status = { held: held('g1-drop2-0a1b2c3d', 'The change would drop 2 of 2 clusters.') }
  await client.update(Placement, { ...placement, status }, { subresource: 'status' })
  const input = (flags: GuardInput['flags'] = {}, user?: string) => ({
    connection: user === undefined ? connection : connectionOf(user),
    terminal,
    flags,
    confirm: async () => false,
  })
  for (const [user, role] of Object.entries({ vera: 'view', ed: 'edit' })) {
    await client.create(
      RoleBinding,
      build(RoleBinding, `retail/${user}`, {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
      }),
    )
  }
  const written = async () =>
    (await client.get(Placement, { namespace: 'retail', name: 'stores' })).metadata.annotations?.[
      'flotilla.dev/release-drop'
    ]
  return { ...hub, input, written }
}

/** Removals and clusters whose changes are held, too. */
async function heldElsewhere({ client }: Awaited<ReturnType<typeof started>>): Promise<void> {
  const bundle = await client.get(Bundle, { namespace: 'retail', name: 'shop' })
  const status = { held: held('g2-drop8-11111111', 'The change would drop 8 of 12 objects.') }
  await client.update(Bundle, { ...bundle, status }, { subresource: 'status' })
  const rings = [{ name: 'all', concurrency: 1 }]
  const removal = {
    bundle: 'till',
    cause: 'unplaced' as const,
    policy: 'Delete' as const,
    clusters: ['store-1'],
    reason: 'The Bundle moved.',
    asks: 'The change would drop 1 of 1 clusters.',
  }
  const spec = { release: 'till-g1', rings, paused: true, removal }
  await client.create(Rollout, build(Rollout, 'retail/till-removal-1', { spec }))
  const cluster = await client.get(Cluster, { name: 'store-2' })
  const message =
    'The change would drop 7 of 12 bundles. Its document keeps a. Let them go with: flotilla guard release cluster store-2 (token g1-drop7-22222222)'
  const conditions = [
    { type: 'Assigned', status: 'False' as const, reason: 'DropHeld', message, lastTransitionTime: AT },
  ]
  await client.update(Cluster, { ...cluster, status: { conditions } }, { subresource: 'status' })
}

test('a held change is listed with what it would do, and released by exactly its token', async (t) => {
  const { taken, input, written } = await started(t)
  await guardList(input())
  const listed = taken()
  assert.match(
    listed.out,
    /^KIND +NAMESPACE +NAME +SINCE +CHANGE\nplacement +retail +stores +\S+ ago +The change would drop 2 of 2 clusters\.\n$/,
  )
  assert.match(listed.err, /flotilla guard release placement stores -n retail/)

  const asked = await expectErrorReport(guardRelease('placement', 'stores', input()))
  assert.deepEqual([asked.exitCode, asked.todo], [2, 'pass --yes to confirm'])
  assert.equal(await written(), undefined, 'not before it is confirmed')
  assert.deepEqual(taken().err.split('\n').slice(0, 3), [
    'The change would drop 2 of 2 clusters.',
    '  - store-1  the selector wants tier=stroe, but tier is "store"; loses retail/shop',
    '  - store-2  the selector wants tier=stroe, but tier is "store"; loses retail/shop',
  ])
  await guardRelease('placement', 'stores', input({ yes: true }))
  assert.equal(await written(), 'g1-drop2-0a1b2c3d')
  assert.match(taken().err, /change of placement "stores" released; the Bundles are removed ring by ring/)
})

test('changes of Bundles, clusters and moved Bundles are listed and released as well', async (t) => {
  const hub = await started(t)
  const { client, taken, input } = hub
  await heldElsewhere(hub)
  await guardList(input({ output: 'json' }))
  const listed = JSON.parse(taken().out) as Record<string, string>[]
  assert.deepEqual(
    listed.map(({ kind, name, token }) => [kind, name, token]),
    [
      ['placement', 'stores', 'g1-drop2-0a1b2c3d'],
      ['bundle', 'shop', 'g2-drop8-11111111'],
      ['rollout', 'till-removal-1', undefined],
      ['cluster', 'store-2', 'g1-drop7-22222222'],
    ],
  )
  assert.equal(listed[3]?.['message'], 'The change would drop 7 of 12 bundles. Its document keeps a.')
  const annotation = 'flotilla.dev/release-drop'
  await guardRelease('bundle', 'shop', input({ yes: true }))
  const bundle = await client.get(Bundle, { namespace: 'retail', name: 'shop' })
  assert.equal(bundle.metadata.annotations?.[annotation], 'g2-drop8-11111111')
  await guardRelease('cluster', 'store-2', input({ yes: true }))
  const cluster = await client.get(Cluster, { name: 'store-2' })
  assert.equal(cluster.metadata.annotations?.[annotation], 'g1-drop7-22222222')
  // The Bundle that moved, by its own name: its removal is resumed.
  await guardRelease('bundle', 'till', input({ yes: true }))
  const rollout = { namespace: 'retail', name: 'till-removal-1' }
  assert.equal((await client.get(Rollout, rollout)).spec.paused, false)
  const again = await expectErrorReport(guardRelease('rollout', 'till-removal-1', input({ yes: true })))
  assert.deepEqual([again.exitCode, again.what], [3, 'no change of rollout "till-removal-1" waits for a release'])
})

test('a held change of a binding of Karmada is released on its object, by a person who may edit that', async (t) => {
  const hub = createCliHub(t, { namespace: 'retail', dialects: ['karmada'] })
  const { client, terminal, taken } = hub
  await ensureNamespace(client, 'retail')
  await installDialects(['karmada'], { client, clock: systemClock, signal: new AbortController().signal })
  for (const role of ['view', 'edit']) {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role }
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: role }]
    await client.create(RoleBinding, build(RoleBinding, `retail/${role}`, { roleRef, subjects }))
  }
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }
  const spec = { selector: { matchLabels: labels }, template }
  await client.create(Deployment, build(Deployment, 'retail/web', { spec }))
  const token = 'g4-drop3-0a1b2c3d'
  const message = `The change would drop 3 of 20 clusters. Let it through with: flotilla guard release resourcebinding web-deployment -n retail (token ${token})`
  const held = async (type: typeof ResourceBinding, key: string, resource: object) => {
    const made = await client.create(type, build(type, key, { spec: { resource: resource as never } }))
    const condition = {
      type: 'Scheduled',
      status: 'False' as const,
      reason: 'DropHeld',
      message,
      lastTransitionTime: AT,
    }
    await client.update(type, { ...made, status: { conditions: [condition] } }, { subresource: 'status' })
  }
  const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'mice.example.com' }
  await held(ResourceBinding, 'retail/web-deployment', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace: 'retail',
    name: 'web',
  })
  await held(ClusterResourceBinding, 'mice', crd)
  const as = (user: string | undefined, flags: GuardInput['flags'] = {}) => ({
    connection: user === undefined ? hub.connection : hub.connectionOf(user),
    terminal,
    flags: { yes: true, ...flags },
    confirm: async () => false,
  })
  await guardList(as(undefined, { output: 'json' }))
  const listed = JSON.parse(taken().out) as Record<string, string>[]
  assert.deepEqual(
    listed.map(({ kind, namespace, name, message: told }) => [kind, namespace, name, told]),
    [
      ['resourcebinding', 'retail', 'web-deployment', 'The change would drop 3 of 20 clusters.'],
      ['clusterresourcebinding', undefined, 'mice', 'The change would drop 3 of 20 clusters.'],
    ],
  )
  const written = async () =>
    (await client.get(Deployment, { namespace: 'retail', name: 'web' })).metadata.annotations?.[
      'flotilla.dev/release-drop'
    ]
  const refused = await expectErrorReport(guardRelease('resourcebinding', 'web-deployment', as('view')))
  assert.deepEqual([refused.exitCode, await written()], [4, undefined])
  await guardRelease('resourcebinding', 'web-deployment', as('edit'))
  assert.equal(await written(), token)
  assert.match(taken().err, /change of resourcebinding "web-deployment" released; the clusters lose the object/)
  const missing = await expectErrorReport(guardRelease('clusterresourcebinding', 'mice', as(undefined)))
  assert.equal(missing.exitCode, 3, 'its object is not on the hub')
})

test('what does not wait or does not exist is said, and an empty list is no empty table', async (t) => {
  const { client, taken, input } = await started(t)
  const wrong = await expectErrorReport(guardRelease('placement', 'store', input({ yes: true })))
  assert.deepEqual([wrong.exitCode, wrong.todo], [3, 'did you mean "stores"?'])
  const placement = await client.get(Placement, { namespace: 'retail', name: 'stores' })
  await client.update(Placement, { ...placement, status: {} }, { subresource: 'status' })
  const none = await expectErrorReport(guardRelease('placement', 'stores', input({ yes: true })))
  assert.deepEqual([none.exitCode, none.what], [3, 'no change of placement "stores" waits for a release'])
  taken()
  await guardList(input())
  assert.deepEqual(taken(), { out: '', err: 'No change waits for a release.\n' })
})

test('a person who may edit the namespace releases; a person who may only read it does not', async (t) => {
  const { taken, input, written } = await started(t)
  for (const user of ['vera', 'ed']) {
    await guardList(input({ namespace: 'retail' }, user))
    assert.match(taken().out, /^placement +retail +stores/m, user)
  }
  const refused = await expectErrorReport(guardRelease('placement', 'stores', input({ yes: true }, 'vera')))
  assert.equal(refused.exitCode, 4)
  assert.equal(await written(), undefined)
  assert.equal((await expectErrorReport(guardList(input({}, 'vera')))).exitCode, 4, 'not an empty list')
  await guardRelease('placement', 'stores', input({ yes: true }, 'ed'))
  assert.equal(await written(), 'g1-drop2-0a1b2c3d')
})

test('explain says that the guard keeps a cluster selected, and how to release the change', async (t) => {
  const { taken, input } = await started(t)
  await explain(['stores', 'store-1'], input())
  const { out } = taken()
  assert.match(out, /^HELD {3}placement stores, generation 1: the selector wants tier=stroe, but tier is "store"$/m)
  assert.match(
    out,
    /stays selected until the change is released:\n {2}flotilla guard release placement stores -n retail$/m,
  )
  assert.match(out, /shop {2}generation 1 stays: the guard stopped the change that drops the cluster/)
  await explain(['stores'], input())
  assert.match(taken().out, /^store-1 {2}Held {9}the selector wants/m)
  await explain(['stores', 'store-1'], input({ output: 'json' }))
  const verdict = JSON.parse(taken().out) as { selected: boolean; held?: { token: string } }
  assert.deepEqual([verdict.selected, verdict.held?.token], [false, 'g1-drop2-0a1b2c3d'])
})

test('a held change of a GitRepo is listed once, with the token of what the guard stopped', () => {
  const condition = (status: 'True' | 'False', token: string) => ({
    type: 'Held',
    status,
    reason: 'DropHeld',
    message: `Placement apps: It would drop 2 of 2. Let it through with: flotilla guard release gitrepo apps (token ${token})`,
    lastTransitionTime: AT,
  })
  const repo = (name: string, ...conditions: ReturnType<typeof condition>[]) => ({
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'GitRepo',
    metadata: { name, namespace: 'retail' },
    status: { conditions },
  })
  const placement = {
    ...buildPlacement('retail/apps'),
    status: { held: held('g1-drop2-0a1b2c3d', 'It would drop 2 of 2.') },
  }
  const repos = [
    repo('apps', condition('True', 'g1-drop2-0a1b2c3d')),
    repo('wide', condition('True', 'g2-grow-11111111')),
    repo('free', condition('False', 'g2-grow-22222222')),
    repo('new'),
  ]
  const found = heldChangesIn({ placements: [placement], bundles: [], rollouts: [], clusters: [], repos })
  assert.deepEqual(
    found.map(({ kind, name, token, message }) => [kind, name, token, message]),
    [
      ['gitrepo', 'apps', 'g1-drop2-0a1b2c3d', 'Placement apps: It would drop 2 of 2.'],
      ['gitrepo', 'wide', 'g2-grow-11111111', 'Placement apps: It would drop 2 of 2.'],
    ],
  )
})

test('a held change of an ApplicationSet is listed with its token', () => {
  const message =
    'The change would drop 3 of 20 bundles. Let it through with: flotilla guard release applicationset shops -n argocd (token g1-drop3-0a1b2c3d)'
  const held = { type: 'Held', status: 'True' as const, reason: 'DropHeld', message, lastTransitionTime: AT }
  const set = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'ApplicationSet',
    metadata: { name: 'shops', namespace: 'argocd' },
    status: { conditions: [held] },
  }
  const found = heldChangesIn({ placements: [], bundles: [], rollouts: [], clusters: [], repos: [], sets: [set] })
  assert.deepEqual(found, [
    {
      kind: 'applicationset',
      name: 'shops',
      namespace: 'argocd',
      since: AT,
      message: 'The change would drop 3 of 20 bundles.',
      token: 'g1-drop3-0a1b2c3d',
    },
  ])
})
