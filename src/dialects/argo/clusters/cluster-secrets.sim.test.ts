/** Cluster Secrets as users of Argo CD have them, on the real controllers in virtual time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Secret } from '../../../kinds/builtin/core.ts'
import { ClusterWindow } from '../../../kinds/native/cluster-window.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { Application, ApplicationSet } from '../kinds.ts'

const server = 'https://10.0.0.7:6443'

async function world(t: TestContext) {
  const running = new Map<string, string>()
  const hub = await startControllersHome(['argo'], undefined, {
    keysOf: async (name) => {
      const { identityKey, sealingKey } = buildCluster(name).spec
      return { identityKey, sealingKey }
    },
    run: ({ name, credential }) => void running.set(name, `${credential.server} ${credential.token?.reveal()}`),
    stop: (name) => void running.delete(name),
    forget: (name) => void running.delete(name),
    stateOf: () => ({ reason: 'Running', message: 'Runs.' }),
    onChange: () => () => {},
  })
  t.after(async () => {
    await hub.close()
    assert.deepEqual(hub.rights.denied, [], 'the controllers have every right that they use')
  })
  const settle = async () => {
    for (let round = 0; round < 4; round++) await hub.clock.advance(5000)
  }
  const face = async (name: string) => (await hub.find(Secret, `argocd/${name}`))?.metadata
  const patch = async (name: string, metadata: object) => {
    await hub.client.patch(Secret, { namespace: 'argocd', name }, { type: 'merge', body: { metadata } })
    await settle()
  }
  return { hub, running, settle, face, patch }
}

function clusterSecret(name: string, config: object, metadata: object = {}): Secret {
  const data = { name: btoa(name), server: btoa(server), config: btoa(JSON.stringify(config)) }
  const made = build(Secret, `argocd/${name}`, { data })
  return {
    ...made,
    metadata: {
      ...made.metadata,
      ...metadata,
      labels: { 'argocd.argoproj.io/secret-type': 'cluster', env: 'prod' },
    },
  }
}

test('a cluster Secret registers a cluster; labels, generators and the window follow it', async (t) => {
  const { hub, running, settle, face, patch } = await world(t)
  const annotations = { 'addons.example/repo': 'x', 'flotilla.dev/maintenance-window': '0 22 * * 6 8h Europe/Berlin' }
  await hub.create(clusterSecret('store-1', { bearerToken: 'sesame' }, { annotations }), Secret)
  await settle()
  const cluster = (await hub.find(Cluster, 'store-1'))!
  assert.deepEqual(
    [cluster.spec.accepted, cluster.metadata.labels, cluster.metadata.annotations?.['addons.example/repo']],
    [true, { env: 'prod' }, 'x'],
  )
  assert.deepEqual([...running], [['store-1', `${server} sesame`]])
  const [window] = (await hub.client.list(ClusterWindow)).items
  assert.deepEqual(
    [window?.spec.times, window?.spec.zone, window?.spec.clusters],
    [[{ schedule: '0 22 * * 6', duration: '8h' }], 'Europe/Berlin', ['store-1']],
  )
  const spec = {
    project: 'default',
    source: { repoURL: 'https://git.example/apps.git', path: 'web' },
    destination: { server: '{{server}}', namespace: 'web' },
  }
  const generators = [{ clusters: { selector: { matchLabels: { env: 'prod' } } } }]
  const template = { metadata: { name: 'web-{{name}}-{{metadata.annotations.addons.example/repo}}' }, spec }
  await hub.create(build(ApplicationSet, 'argocd/web', { spec: { generators, template } }), ApplicationSet)
  await settle()
  const made = (await hub.find(Application, 'argocd/web-store-1-x'))!
  assert.equal(made.spec.destination?.server, server)
  assert.ok(!made.status?.conditions?.some(({ type }) => type === 'InvalidSpecError'))

  await patch('store-1', { labels: { tier: '1' } })
  assert.deepEqual((await hub.find(Cluster, 'store-1'))?.metadata.labels, { env: 'prod', tier: '1' })
  const body = { metadata: { labels: { env: 'dev', tier: null } } }
  await hub.client.patch(Cluster, { name: 'store-1' }, { type: 'merge', body })
  await settle()
  assert.deepEqual((await face('store-1'))?.labels, { 'argocd.argoproj.io/secret-type': 'cluster', env: 'dev' })
  hub.writes.length = 0
  await hub.clock.advance(30_000)
  assert.deepEqual(
    hub.writes.filter((write) => /secrets|clusters\/|clusterwindows/.test(write)),
    [],
    'nothing is written while nothing changes',
  )

  await patch('store-1', { annotations: { 'flotilla.dev/maintenance-window': 'whenever' } })
  assert.equal((await hub.client.list(ClusterWindow)).items.length, 1, 'a broken annotation opens nothing')
  assert.match((await face('store-1'))?.annotations?.['flotilla.dev/argo-findings'] ?? '', /the window is not changed/)
  await patch('store-1', { annotations: { 'flotilla.dev/maintenance-window': null } })
  assert.equal((await hub.client.list(ClusterWindow)).items.length, 0)
})

test('a changed token is used; a deleted Secret ends the management and removes nothing', async (t) => {
  const { hub, running, settle } = await world(t)
  await hub.create(clusterSecret('store-1', { bearerToken: 'one' }), Secret)
  await settle()
  const found = (await hub.find(Secret, 'argocd/store-1'))!
  const config = btoa(JSON.stringify({ bearerToken: 'two' }))
  await hub.client.update(Secret, { ...found, data: { ...found.data, config } })
  await settle()
  assert.deepEqual([...running], [['store-1', `${server} two`]])
  await hub.client.delete(Secret, { namespace: 'argocd', name: 'store-1' })
  await settle()
  const left = await hub.find(Cluster, 'store-1')
  assert.equal(left?.spec.decommission?.policy, 'Orphan')
})

test('a cluster with an agent of its own is labelled and found by its address, and not registered', async (t) => {
  const { hub, running, settle, face } = await world(t)
  await hub.create(buildCluster('store-1', { labels: { zone: 'a' } }), Cluster)
  await hub.create(clusterSecret('store-1', { bearerToken: 'sesame' }), Secret)
  await settle()
  const cluster = (await hub.find(Cluster, 'store-1'))!
  assert.deepEqual(cluster.metadata.labels, { env: 'prod', zone: 'a' })
  assert.deepEqual(cluster.spec.aliases, [{ dialect: 'argo', name: server }])
  assert.deepEqual([cluster.spec.kubeconfigSecret, running.size], [undefined, 0])
  assert.match(
    (await face('store-1'))?.annotations?.['flotilla.dev/argo-findings'] ?? '',
    /the credentials have no effect: Cluster store-1 has an agent in the cluster/,
  )
  await hub.client.delete(Secret, { namespace: 'argocd', name: 'store-1' })
  await settle()
  const kept = (await hub.find(Cluster, 'store-1'))!
  assert.deepEqual(
    [kept.spec.decommission, kept.spec.aliases?.length, kept.metadata.annotations?.['flotilla.dev/argo-secret']],
    [undefined, 1, undefined],
  )
})

test('Secrets of other namespaces, and notes on Clusters, are not believed', async (t) => {
  const { hub, running, settle } = await world(t)
  const elsewhere = clusterSecret('store-1', { bearerToken: 'sesame' })
  await hub.create({ ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'default' } }, Secret)
  await settle()
  assert.equal(await hub.find(Cluster, 'store-1'), undefined)
  await hub.create(clusterSecret('prod', { bearerToken: 'sesame' }), Secret)
  const mine = buildCluster('mine')
  mine.metadata.annotations = { 'flotilla.dev/argo-secret': 'argocd/prod' }
  await hub.create(mine, Cluster)
  await settle()
  const found = (await hub.find(Cluster, 'mine'))!
  assert.deepEqual(
    [found.spec.kubeconfigSecret, found.spec.decommission, found.metadata.annotations?.['flotilla.dev/argo-secret']],
    [undefined, undefined, undefined],
  )
  assert.deepEqual([...running.keys()], ['prod'])
  const window = { 'flotilla.dev/maintenance-window': '@daily 1h' }
  await hub.client.patch(
    Secret,
    { namespace: 'argocd', name: 'prod' },
    { type: 'merge', body: { metadata: { annotations: window } } },
  )
  await settle()
  const lie = { metadata: { annotations: { 'flotilla.dev/argo-secret': 'argocd/none' } } }
  await hub.client.patch(Cluster, { name: 'prod' }, { type: 'merge', body: lie })
  await settle()
  assert.equal((await hub.client.list(ClusterWindow)).items.length, 1, 'a note on a Cluster removes no window')
})
