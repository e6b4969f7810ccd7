/** The words of `clusteradm` against the real API server in memory, with the kinds of Open Cluster Management. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../../../core/time/system-clock.ts'
import { ClusterManagementAddOn, ManagedClusterAddOn } from '../../../../dialects/ocm/addons/kinds.ts'
import { ManagedCluster, ManagedClusterSet, OcmPlacement } from '../../../../dialects/ocm/kinds.ts'
import { ManifestWorkReplicaSet } from '../../../../dialects/ocm/replica-sets/kinds.ts'
import { ManifestWork } from '../../../../dialects/ocm/works/kinds.ts'
import { installDialects } from '../../../../hub/home/dialects.ts'
import { ensureNamespace, publishHubInfo, SYSTEM_NAMESPACE } from '../../../../hub/home/hub-info.ts'
import { JoinToken } from '../../../../kinds/native/join-token.ts'
import { apiVersionOf } from '../../../../kinds/meta.ts'
import { readEnvironment } from '../../../config.ts'
import { createCliHub, expectErrorText } from '../../../../testing/hub/cli-hub.ts'
import { disableAddons, enableAddons, getAddons } from './addon-words.ts'
import { clusteradmAccept, clusteradmInit, clusteradmToken } from './hub-words.ts'
import { getClusters, getPlacements, getWorks } from './get-words.ts'
import { clusteradmJoin, clusteradmUnjoin } from './spoke-words.ts'
import { bindSet, createPlacement, createWork, setClusters, unbindSet } from './write-words.ts'

const ROOT = `sha256:${'0'.repeat(64)}` as const
const signal = new AbortController().signal

async function started(t: { after(fn: () => Promise<void>): void }, isServed = true) {
  const { client, connection, terminal, said } = createCliHub(t)
  await ensureNamespace(client, SYSTEM_NAMESPACE)
  await publishHubInfo(client, { endpoints: ['https://hub.example:7444'], root: ROOT, agentBundle: ROOT })
  if (isServed) await installDialects(['ocm'], { client, clock: systemClock, signal })
  const input = (flags: Record<string, unknown>) => {
    said.out = ''
    return { connection, terminal, clock: systemClock, signal, flags, program: 'clusteradm' }
  }
  const cluster = async (name: string, hubAcceptsClient = false) => {
    await client.create(ManagedCluster, {
      apiVersion: apiVersionOf(ManagedCluster),
      kind: ManagedCluster.kind,
      metadata: { name },
      spec: { hubAcceptsClient, leaseDurationSeconds: 60 },
    })
  }
  return { client, said, input, cluster }
}

test('get token prints the line that scripts read, for clusters that a user must accept', async (t) => {
  const { client, said, input } = await started(t)
  await clusteradmToken(input({}))
  const [, token = ''] = /^token=(\S+)\n/.exec(said.out) ?? []
  assert.match(token, /^flotilla1\./)
  assert.ok(said.out.includes(`clusteradm join --hub-token ${token} --hub-apiserver memory`), said.out)
  const { items } = await client.list(JoinToken)
  assert.deepEqual(
    items.map(({ spec }) => [spec.namePattern, spec.accept, spec.uses]),
    [['*', 'Manual', 100]],
  )
  await clusteradmInit(input({ output: 'json' }))
  assert.match((JSON.parse(said.out) as Record<string, string>)['hub-token']!, /^flotilla1\./)
  await clusteradmInit(input({ output: 'text' }))
  assert.match(said.out, /initialized successfully![^]* {4}clusteradm join --hub-token \S+ --hub-apiserver \S+ --wait/)
})

test('init says when the hub does not serve Open Cluster Management', async (t) => {
  const { input } = await started(t, false)
  assert.match(await expectErrorText(clusteradmInit(input({}))), /does not serve the kinds of Open Cluster Management/)
})

test('accept sets hubAcceptsClient, and says which clusters have not asked', async (t) => {
  const { client, said, input, cluster } = await started(t)
  await cluster('one')
  await cluster('two', true)
  await clusteradmAccept(input({ clusters: ['one,two'] }))
  assert.match(
    said.out,
    /set hubAcceptsClient to true for managed cluster one\n[^]*one has joined the Hub successfully/,
  )
  assert.match(said.out, /hubAcceptsClient already set for managed cluster two\n/)
  assert.equal((await client.get(ManagedCluster, { name: 'one' })).spec.hubAcceptsClient, true)
  assert.match(
    await expectErrorText(clusteradmAccept(input({ clusters: ['three'] }))),
    /managedcluster "three" not found/,
  )
  assert.match(await expectErrorText(clusteradmAccept(input({}))), /missing --clusters/)
  const waiting = clusteradmAccept(input({ clusters: ['late'], wait: true, timeout: '60' }))
  await cluster('late')
  await waiting
  assert.match(said.out, /set hubAcceptsClient to true for managed cluster late/)
})

test('join and unjoin say what is missing before they start or stop an agent', async (t) => {
  const { terminal } = createCliHub(t)
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-clusteradm-'))
  t.after(async () => rmSync(folder, { recursive: true }))
  const environment = { ...readEnvironment({}), stateFolder: folder }
  const input = (flags: Record<string, unknown>) => ({
    flags,
    terminal,
    environment,
    signal,
    clock: systemClock,
    program: 'clusteradm',
  })
  const named = { hubToken: 'x', clusterName: 'store-1' }
  assert.match(await expectErrorText(clusteradmJoin(input({}))), /missing --hub-token/)
  assert.match(await expectErrorText(clusteradmJoin(input({ hubToken: 'x' }))), /missing --cluster-name/)
  assert.match(await expectErrorText(clusteradmJoin(input({ ...named, clusterName: 'A' }))), /invalid cluster name/)
  const kubeconfig = join(folder, 'none')
  assert.match(await expectErrorText(clusteradmJoin(input({ ...named, kubeconfig }))), /cannot read the file/)
  assert.match(await expectErrorText(clusteradmUnjoin(input(named))), /no agent of cluster "store-1" runs/)
  // A process that is not the agent is never stopped.
  mkdirSync(join(folder, 'agents', 'store-1'), { recursive: true })
  writeFileSync(join(folder, 'agents', 'store-1', 'agent.pid'), `${process.pid}\n`)
  assert.match(await expectErrorText(clusteradmUnjoin(input(named))), /no agent of cluster "store-1" runs/)
})

test('sets, Placements and works are written and shown in the words of clusteradm', async (t) => {
  const { client, said, input, cluster } = await started(t)
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-clusteradm-'))
  t.after(async () => rmSync(folder, { recursive: true }))
  await cluster('store-1', true)
  await ensureNamespace(client, 'store-1')
  await client.create(ManagedClusterSet, {
    apiVersion: apiVersionOf(ManagedClusterSet),
    kind: ManagedClusterSet.kind,
    metadata: { name: 'gold' },
    spec: {},
  })
  await bindSet('gold', input({}))
  assert.equal(said.out, 'Clusterset gold is bound to Namespace default\n')
  await bindSet('gold', input({ namespace: 'default' }))
  assert.equal(said.out, 'Clusterset gold is already bound to Namespace default\n')
  await setClusters('gold', input({ clusters: ['store-1'] }))
  assert.equal(said.out, 'Cluster store-1 is set to Clusterset gold\n')

  await createPlacement(
    'stores',
    input({ clustersets: ['gold'], labelSelectors: ['tier in (store,edge)'], count: '2' }),
  )
  assert.equal(said.out, "Placement 'stores' has been created in 'default' namespace\n")
  const { spec } = await client.get(OcmPlacement, { name: 'stores', namespace: 'default' })
  assert.equal(spec?.numberOfClusters, 2)
  assert.deepEqual(spec?.predicates?.[0]?.requiredClusterSelector?.labelSelector?.matchExpressions, [
    { key: 'tier', operator: 'In', values: ['store', 'edge'] },
  ])
  assert.match(await expectErrorText(createPlacement('stores', input({}))), /placement stores already exists/)
  await getPlacements(undefined, input({ output: 'table' }))
  assert.match(said.out, /^NAME +STATUS +REASON +SELETEDCLUSTERS\nstores +Unknown/)

  const file = join(folder, 'web.yaml')
  writeFileSync(file, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: default\n')
  await createWork('web', input({ filename: [file], clusters: ['store-1'] }))
  assert.equal(said.out, 'create work web in cluster store-1\n')
  await createWork('web', input({ filename: [file], clusters: ['store-1'] }))
  assert.equal(said.out, 'work web in cluster store-1 already exists\n')
  const work = await client.get(ManifestWork, { name: 'web', namespace: 'store-1' })
  assert.equal(work.spec.workload?.manifests?.length, 1)
  assert.match(
    await expectErrorText(createWork('web', input({ filename: [file] }))),
    /missing --clusters or --placement/,
  )
  const forAll = { filename: [file], placement: 'default/stores', replicaset: true }
  await createWork('web', input(forAll))
  assert.equal(said.out, 'create manifestworkreplicaset web in namespace default\n')
  await createWork('web', input(forAll))
  assert.equal(said.out, 'manifestworkreplicaset web in namespace default already exists\n')
  writeFileSync(file, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: default}\n')
  await createWork('web', input({ ...forAll, overwrite: true }))
  assert.equal(said.out, 'update manifestworkreplicaset web in namespace default\n')
  const set = await client.get(ManifestWorkReplicaSet, { name: 'web', namespace: 'default' })
  assert.deepEqual(set.spec?.placementRefs, [{ name: 'stores', rolloutStrategy: { type: 'All' } }])
  assert.deepEqual(
    set.spec?.manifestWorkTemplate?.workload?.manifests?.map(({ metadata }) => metadata),
    [{ name: 'other', namespace: 'default' }],
  )
  assert.match(
    await expectErrorText(createWork('web', input({ ...forAll, clusters: ['store-1'] }))),
    /--clusters and --replicaset exclude each other/,
  )
  await getWorks(undefined, input({ clusters: ['store-1'], output: 'table' }))
  assert.match(said.out, /^NAME +CLUSTER +NUMBER OF MANIFESTS +APPLIED +AVAILABLE\nweb +store-1 +1/)

  await getClusters(input({ output: 'table' }))
  assert.match(said.out, /^NAME +ACCEPTED +AVAILABLE +CLUSTERSET .*\nstore-1 +true +<none> +gold/)
  await getClusters(input({ output: 'tree' }))
  assert.match(said.out, /^<ManagedCluster>\n└── <store-1>\n {4}├── <Accepted> true\n/)
  await unbindSet('gold', input({}))
  assert.equal(said.out, 'Clusterset gold is unbind from namespace default\n')
})

test('addon enable, get addons and addon disable', async (t) => {
  const { client, said, input, cluster } = await started(t)
  await cluster('store-1', true)
  await ensureNamespace(client, 'store-1')
  const words = { names: ['web'], clusters: ['store-1'] }
  assert.match(await expectErrorText(enableAddons(input(words))), /clustermanagementaddons?.* "web" not found/)
  const head = { apiVersion: apiVersionOf(ClusterManagementAddOn), kind: ClusterManagementAddOn.kind }
  await client.create(ClusterManagementAddOn, { ...head, metadata: { name: 'web' }, spec: {} })
  await enableAddons(input({ ...words, labels: ['tier=one'] }))
  const line = 'Deploying web add-on to namespaces open-cluster-management-agent-addon of managed cluster: store-1.\n'
  assert.equal(said.out, line)
  await enableAddons(input({ ...words, namespace: 'agents' }))
  const installed = await client.get(ManagedClusterAddOn, { name: 'web', namespace: 'store-1' })
  assert.deepEqual([installed.metadata.labels, installed.spec?.installNamespace], [{ tier: 'one' }, 'agents'])
  await getAddons(undefined, input({ output: 'table' }))
  assert.match(said.out, /NAME\s+CLUSTER\s+AVAILABLE\s+DEGRADED\s+PROGRESSING\nweb\s+store-1/)
  await getAddons('other', input({ output: 'table' }))
  assert.doesNotMatch(said.out, /store-1/)
  assert.match(await expectErrorText(enableAddons(input({ ...words, labels: ['x'] }))), /invalid --labels "x"/)
  await disableAddons(input({ names: ['web'], allClusters: true }))
  assert.equal(said.out, 'Undeploying web add-on in managed cluster: store-1.\n')
  await disableAddons(input(words))
  assert.match(said.out, /No web add-on in managed cluster: store-1/)
})
