/**
 * What the controllers ask of the hub's API, as their own user, while a fleet lives through everything that makes them
 * write. A right that they use and do not have breaks a feature; a right that they have and never use is one too many.
 * The home of each other sim test checks the first half, too.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { CONTROLLER_RULES, CONTROLLER_SYSTEM_RULES } from '../../apiserver/rbac/controller-rules.ts'
import { HUB_BINDINGS, HUB_LOCALS, HUB_ROLES } from '../../apiserver/rbac/bootstrap-roles.ts'
import { BUNDLE_SECRET_MAKER } from '../../controllers/secrets/bundle-secrets.ts'
import { ARGO_CONTROLLER_RULES } from '../../dialects/argo/controller-rules.ts'
import { Application, ApplicationSet } from '../../dialects/argo/kinds.ts'
import { FLEET_CONTROLLER_RULES } from '../../dialects/fleet/controller-rules.ts'
import { ClusterRegistration, ClusterRegistrationToken } from '../../dialects/fleet/registration-kinds.ts'
import { publishHubInfo } from './hub-info.ts'
import { ClusterGroup, FleetBundle, FleetCluster, GitRepo, HelmOp } from '../../dialects/fleet/kinds.ts'
import { FLUX_CONTROLLER_RULES } from '../../dialects/flux/controller-rules.ts'
import { GitRepository, Kustomization } from '../../dialects/flux/kinds.ts'
import { KARMADA_CONTROLLER_RULES } from '../../dialects/karmada/controller-rules.ts'
import {
  ClusterOverridePolicy,
  ClusterPropagationPolicy,
  OverridePolicy,
  PropagationPolicy,
  ResourceBinding,
} from '../../dialects/karmada/served/kinds.ts'
import { WorkloadRebalancer } from '../../dialects/karmada/rebalance/kinds.ts'
import { TEMPLATE_KINDS } from '../../dialects/karmada/templates/template-kinds.ts'
import { OCM_CONTROLLER_RULES } from '../../dialects/ocm/controller-rules.ts'
import {
  CLUSTER_SET_LABEL,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  OcmPlacement,
  OcmPlacementDecision,
} from '../../dialects/ocm/kinds.ts'
import { PLACEMENT_LABEL } from '../../dialects/ocm/placement/read-objects.ts'
import { AddOnTemplate, ClusterManagementAddOn } from '../../dialects/ocm/addons/kinds.ts'
import { ManifestWorkReplicaSet } from '../../dialects/ocm/replica-sets/kinds.ts'
import { PlacementBinding, PlacementRule, Policy, PolicySet } from '../../dialects/ocm/policy/served/kinds.ts'
import { ManifestWork } from '../../dialects/ocm/works/kinds.ts'
import { utf8 } from '../../core/bytes.ts'
import { silentLogger } from '../../core/log.ts'
import { systemIds } from '../../core/system-ids.ts'
import { formatTime } from '../../core/time/time.ts'
import { ConfigMap, Secret } from '../../kinds/builtin/core.ts'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import { Approval } from '../../kinds/native/approval.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle, REMOVAL_FINALIZER } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import { Delivery } from '../../kinds/native/delivery.ts'
import { JoinToken } from '../../kinds/native/join-token.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { Source } from '../../kinds/native/source.ts'
import { Window } from '../../kinds/native/window.ts'
import { storeFiles } from '../../source/store-files.ts'
import { build, buildBundle, buildCluster, buildPlacement, configMapManifest } from '../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../../testing/hub/controllers-home.ts'
import { grantedRights } from '../../testing/hub/used-rights.ts'
import { shopObjects, storeObjects } from '../../testing/simulation/shop-delivery.ts'
import { HUB_USERS } from '../ports.ts'
import type { DialectName } from './dialect-names.ts'
import { installPolicies } from './kube-home.ts'
import { publishHealth } from './publish-health.ts'

const DAY = 86_400_000
const SECRET_MANIFEST = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: default}\nstringData: {a: b}\n'

/** Rights that this walk does not show, each with the part that uses it. */
const UNSEEN: Readonly<Record<string, string>> = {
  'delete assignments.flotilla.dev':
    'a cluster that joins with the name of a former one: src/controllers/controllers.sim.test.ts',
  'delete placementdecisions.flotilla.dev': 'a Placement selects fewer clusters and needs fewer pages',
  'get releases.flotilla.dev': 'a Release is created that exists already: a repetition after a crash',
  'get rollouts.flotilla.dev': 'a Rollout is created that exists already: a repetition after a crash',
  'patch sources.flotilla.dev': 'a webhook asks for a fetch: src/hub/http/webhook-listener.contract.test.ts',
}

const UNSEEN_OF_OCM: Readonly<Record<string, string>> = {
  'accept clusters.flotilla.dev': 'a policy asks for it when the controllers accept a Cluster',
  'create managedclustersets/join.cluster.open-cluster-management.io':
    'a policy asks for it when the controllers write the face of a cluster in a set',
  'delete managedclusteraddons.addon.open-cluster-management.io':
    'a reachable cluster leaves a Placement: src/dialects/ocm/addons/addons.sim.test.ts',
  'execute-as manifestworks.work.open-cluster-management.io':
    'a policy asks for it when the controllers write the work of an add-on with an executor',
  'delete manifestworks.work.open-cluster-management.io': 'a finished work whose ttlSecondsAfterFinished is over',
}

/** Statuses are written with the numbers that agents report, which this test does not play. */
const UNSEEN_OF_KARMADA: Readonly<Record<string, string>> = {
  'patch daemonsets/status.apps': 'as for Deployments',
  'patch deployments/status.apps': 'src/dialects/karmada/served/karmada.sim.test.ts',
  'patch jobs/status.batch': 'as for Deployments',
  'patch poddisruptionbudgets/status.policy': 'as for Deployments',
}

type Files = Readonly<Record<string, string>>

async function walkedHome(
  t: TestContext,
  dialects: readonly DialectName[] = [],
  files: (commit: number) => Files = (commit) => ({ 'web/cm.yaml': configMapManifest('app', { v: `${commit}` }) }),
): Promise<ControllersHome> {
  const hub = await startControllersHome(dialects)
  t.after(() => hub.close())
  await installPolicies(hub.client, new AbortController().signal)
  let commit = 0
  hub.serveSources(async ({ spec }) => {
    commit += 1
    const bytes = new Map(Object.entries(files(commit)).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    return {
      kind: 'New',
      artifact: { ...stored, revision: `main@sha1:c${commit}`, commit: `c${commit}`, fetchedBytes: 1, from: 'x' },
    }
  })
  return hub
}

async function settle(hub: ControllersHome, rounds = 4): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await hub.clock.advance(20_000)
    for (const { metadata, spec } of (await hub.client.list(Cluster)).items) {
      if (spec.id === '') continue
      const tombstones = (await hub.find(Assignment, metadata.name))?.spec.tombstones ?? []
      const receipts = tombstones.map(({ bundle, generation }) => ({ bundle, generation, state: 'Removed' as const }))
      await hub.report(metadata.name, 'Ready', undefined, receipts)
    }
  }
  await hub.clock.advance(20_000)
}

async function join(hub: ControllersHome, name: string): Promise<void> {
  await hub.create(buildCluster(name, { labels: { tier: 'store' } }), Cluster)
  await hub.report(name, 'Ready')
}

function unusedOf(rules: readonly PolicyRule[], used: ReadonlySet<string>): string[] {
  return [...grantedRights(rules)].filter((right) => !used.has(right)).sort()
}

const patch = (body: object) => ({ type: 'merge', body }) as const

/** A fleet with content from objects and from a repository, and what makes each kind's status change. */
async function deliver(hub: ControllersHome): Promise<void> {
  for (const name of ['a', 'b', 'c']) await join(hub, name)
  const placement = buildPlacement('default/stores', { tier: 'store' })
  placement.spec.guard = { maxDropped: '100%' }
  await hub.create(placement, Placement)
  await hub.create(build(ConfigMap, 'default/settings', { data: { a: 'blue' } }), ConfigMap)
  await hub.create(
    buildBundle('default/hello', {
      placement: 'stores',
      manifests: SECRET_MANIFEST,
      templating: 'Enabled',
      inputs: [{ name: 'a', configMap: { name: 'settings', key: 'a' } }],
      rollout: { concurrency: 5, history: 1 },
    }),
    Bundle,
  )
  await hub.create(build(Source, 'default/repo', { spec: { git: { url: 'https://git.example.com/r' } } }), Source)
  const { manifests: _manifests, ...fromSource } = buildBundle('default/web', { placement: 'stores' }).spec
  await hub.create(
    build(Bundle, 'default/web', { spec: { ...fromSource, source: { name: 'repo', path: 'web' } } }),
    Bundle,
  )
  const from = formatTime(hub.clock.now() - DAY)
  const window = {
    spec: { mode: 'Freeze' as const, times: [{ from, until: formatTime(hub.clock.now() - DAY / 2) }], reason: 'x' },
  }
  await hub.create(build(Window, 'default/night', window), Window)
  await hub.create(build(ClusterWindow, 'night', window), ClusterWindow)
  const token = {
    tokenHash: 'a'.repeat(64),
    clusterName: 'x',
    expiresAt: formatTime(hub.clock.now() + 60_000),
    uses: 1,
  }
  await hub.create(build(JoinToken, 'x', { spec: { ...token, labels: {}, accept: 'Auto' } }), JoinToken)
  const set = await storeObjects(hub.blobs, shopObjects())
  await hub.create(
    build(Delivery, 'default/d', { spec: { set, clusters: ['a'] } }, { finalizers: [REMOVAL_FINALIZER] }),
    Delivery,
  )
  await settle(hub)
}

/** Everything that deletes, after changes that make a history. */
async function remove(hub: ControllersHome): Promise<void> {
  const rollout = (await hub.client.list(Rollout, { namespace: 'default' })).items.find(({ metadata }) =>
    metadata.name.startsWith('hello-g'),
  )!
  const spec = { rollout: rollout.metadata.name, ring: 'all', decision: 'Approve', author: 'admin' } as const
  await hub.create(build(Approval, 'default/said', { spec }), Approval)
  for (const tier of ['lab', 'store', 'lab']) {
    await hub.client.patch(Cluster, { name: 'c' }, patch({ metadata: { labels: { tier } } }))
    await settle(hub)
  }
  await hub.client.patch(
    Cluster,
    { name: 'b' },
    patch({ spec: { decommission: { policy: 'Orphan', at: formatTime(hub.clock.now()), forgetAfter: '1h' } } }),
  )
  await hub.client.delete(Delivery, { namespace: 'default', name: 'd' })
  await hub.client.delete(Bundle, { namespace: 'default', name: 'hello' })
  // A Secret of a Bundle from before Secrets of Bundles had labels.
  const old = build(Secret, 'default/gone-values-key', { data: { key: 'QUFB' } })
  await hub.client.create(Secret, old, { fieldManager: BUNDLE_SECRET_MAKER })
  await settle(hub)
  await hub.client.delete(Placement, { namespace: 'default', name: 'stores' })
  for (let week = 0; week < 3; week++) {
    hub.clock.jumpWall(8 * DAY)
    await hub.restart()
    await settle(hub)
  }
}

const NO_STORAGE = { current: () => undefined, onChange: () => {} }

test('the controllers have every right that they use, and no other', async (t) => {
  const hub = await walkedHome(t)
  await deliver(hub)
  await remove(hub)
  const parts = [{ name: 'render', restarts: 1, last: { at: formatTime(hub.clock.now()), message: 'x' } }]
  const supervisor = { health: () => parts as never, onChange: () => () => {} }
  const ports = { clock: hub.clock, ids: systemIds, log: silentLogger }
  const ending = new AbortController()
  const publishing = publishHealth(
    { ...ports, client: hub.self, name: '0', supervisor, storage: NO_STORAGE, authorities: () => [] },
    ending.signal,
  )
  await hub.clock.advance(5000)
  ending.abort()
  await publishing
  const { used, denied } = hub.rights
  assert.deepEqual(denied, [])
  const unused = unusedOf([...CONTROLLER_RULES, ...CONTROLLER_SYSTEM_RULES], used)
  assert.deepEqual(unused, Object.keys(UNSEEN).sort(), 'granted and never used: revoke it, or say why in UNSEEN')
})

test('the controllers of the Fleet dialect have every right that they use, and no other', async (t) => {
  const app = (name: string, yaml = '{}') => ({
    [`${name}/fleet.yaml`]: yaml,
    [`${name}/cm.yaml`]: configMapManifest(name, {}),
  })
  // What an app needs for itself goes with the app.
  const own =
    'overrideTargets: [{clusterSelector: {}}]\nhelm: {repo: "https://charts.example.com/x", chart: c, version: 1.0.0}\n'
  let isWhole = true
  const hub = await walkedHome(t, ['fleet'], () => ({
    ...app('a'),
    ...app('b'),
    ...app('c'),
    ...(isWhole ? app('d', own) : {}),
  }))
  const kubeconfig = JSON.stringify({ 'current-context': '' })
  const value = Buffer.from(kubeconfig).toString('base64')
  await hub.create(build(Secret, 'fleet-default/x-kubeconfig', { data: { value } }), Secret)
  await hub.create(build(FleetCluster, 'fleet-default/x', { spec: { kubeConfigSecret: 'x-kubeconfig' } }), FleetCluster)
  await join(hub, 'a')
  await hub.create(build(ClusterGroup, 'fleet-default/all', { spec: { selector: {} } }), ClusterGroup)
  const spec = { repo: 'https://git.example.com/apps', branch: 'main', targets: [{ clusterSelector: {} }] }
  await hub.create(build(GitRepo, 'fleet-default/apps', { spec }), GitRepo)
  const helm = { repo: 'https://charts.example.com/x', chart: 'c', version: '1.0.0' }
  await hub.create(build(HelmOp, 'fleet-default/op', { spec: { helm } }), HelmOp)
  const resources = [{ name: 'a/cm.yaml', content: configMapManifest('a', {}) }]
  const written = { resources, paused: true, targets: [{ clusterSelector: {} }] }
  await hub.create(build(FleetBundle, 'fleet-default/own', { spec: written }), FleetBundle)
  await publishHubInfo(hub.client, { endpoints: ['https://hub.example.com'], root: `sha256:${'a'.repeat(64)}` })
  const brief = build(ClusterRegistrationToken, 'fleet-default/brief', { spec: { ttl: '1s' } })
  await hub.create(brief, ClusterRegistrationToken)
  await hub.create(build(ClusterRegistrationToken, 'fleet-default/join', { spec: {} }), ClusterRegistrationToken)
  await hub.create(build(ClusterRegistration, 'fleet-default/request', { spec: {} }), ClusterRegistration)
  await settle(hub)
  isWhole = false
  await settle(hub)
  // Without `paused`, the rollout that waits goes on.
  await hub.client.patch(FleetBundle, { namespace: 'fleet-default', name: 'own' }, patch({ spec: { paused: false } }))
  await settle(hub)
  await hub.client.delete(GitRepo, { namespace: 'fleet-default', name: 'apps' })
  await hub.client.delete(ClusterRegistrationToken, { namespace: 'fleet-default', name: 'join' })
  await hub.client.delete(FleetCluster, { namespace: 'fleet-default', name: 'x' })
  await settle(hub)
  const { used, denied } = hub.rights
  assert.deepEqual(denied, [])
  assert.deepEqual(unusedOf(FLEET_CONTROLLER_RULES, used), ['accept clusters.flotilla.dev'], 'a policy asks for it')
})

const SOURCE_SPECS: Readonly<Record<string, string>> = {
  HelmRepository: '{interval: INTERVAL, url: "https://charts.example.com"}',
  HelmChart: '{interval: INTERVAL, chart: web, sourceRef: {kind: HelmRepository, name: nested}}',
  OCIRepository: '{interval: INTERVAL, url: "oci://registry.example.com/web"}',
  Bucket: '{interval: INTERVAL, bucketName: web, endpoint: s3.example.com}',
}

test('the controllers of the Flux dialect have every right that they use, and no other', async (t) => {
  const nested = (group: string, kind: string, spec: string) =>
    `apiVersion: ${group}.toolkit.fluxcd.io/v1\nkind: ${kind}\nmetadata: {name: nested, namespace: flux-system}\nspec: ${spec}\n`
  const hub = await walkedHome(t, ['flux'], (commit) => ({
    'web/cm.yaml': configMapManifest('app', { v: `${commit}` }),
    'web/repository.yaml': nested(
      'source',
      'GitRepository',
      `{interval: ${commit}m, url: "https://git.example.com/n"}`,
    ),
    'web/helm.yaml': ['HelmRepository', 'HelmChart', 'OCIRepository', 'Bucket']
      .map((kind) => nested('source', kind, SOURCE_SPECS[kind]!.replace('INTERVAL', `${commit}m`)))
      .join('---\n'),
    'web/release.yaml': nested(
      'helm',
      'HelmRelease',
      `{interval: ${commit}m, chartRef: {kind: HelmChart, name: nested}}`,
    ).replace('/v1', '/v2'),
    'web/nested.yaml': nested('kustomize', 'Kustomization', `{interval: ${commit}m, prune: true, sourceRef: {}}`),
  }))
  await join(hub, 'a')
  const secret = { namespace: 'flux-system', name: 'b-kubeconfig', key: 'value' }
  await hub.client.patch(Cluster, { name: 'a' }, patch({ spec: { kubeconfigSecret: secret } }))
  const source = { interval: '1m', url: 'https://git.example.com/apps' }
  await hub.create(build(GitRepository, 'flux-system/apps', { spec: source }), GitRepository)
  const spec = {
    interval: '1m',
    prune: true,
    path: './web',
    sourceRef: { kind: 'GitRepository', name: 'apps' },
    kubeConfig: { secretRef: { name: secret.name } },
  }
  await hub.create(build(Kustomization, 'flux-system/web', { spec }), Kustomization)
  await settle(hub)
  assert.equal((await hub.find(Bundle, 'flux-system/kustomization-web'))?.spec.placement, 'kustomization-web')
  await hub.client.delete(Kustomization, { namespace: 'flux-system', name: 'web' })
  await settle(hub)
  assert.equal(await hub.find(Bundle, 'flux-system/kustomization-web'), undefined, 'it goes with its owner')
  const { used, denied } = hub.rights
  assert.deepEqual(denied, [])
  assert.deepEqual(unusedOf(FLUX_CONTROLLER_RULES, used), [])
})

test('the controllers of the OCM dialect have every right that they use, and no other', async (t) => {
  const hub = await walkedHome(t, ['ocm'])
  await hub.create(build(ManagedClusterSet, 'gold', { spec: {} }), ManagedClusterSet)
  await join(hub, 'a')
  await hub.create(
    build(ManagedClusterSetBinding, 'default/global', { spec: { clusterSet: 'global' } }),
    ManagedClusterSetBinding,
  )
  await hub.create(build(OcmPlacement, 'default/all', { spec: {} }), OcmPlacement)
  await settle(hub)
  // Accepted and put into a set on the face, which a Cluster without either follows.
  const { spec: accepted, ...other } = buildCluster('b', { labels: { [CLUSTER_SET_LABEL]: 'gold' } })
  await hub.create({ ...other, spec: { ...accepted, accepted: false } }, Cluster)
  await settle(hub, 1)
  await hub.client.patch(ManagedCluster, { name: 'b' }, patch({ spec: { hubAcceptsClient: true } }))
  await settle(hub)
  assert.equal((await hub.find(Cluster, 'b'))?.spec.accepted, true, 'the controllers accept for the user who may')
  const page = build(OcmPlacementDecision, 'default/all-decision-9', {}, { labels: { [PLACEMENT_LABEL]: 'all' } })
  await hub.create(page, OcmPlacementDecision)
  const [first] = (await hub.client.list(OcmPlacementDecision, { namespace: 'default' })).items
  const group = { 'cluster.open-cluster-management.io/decision-group-index': null }
  await hub.client.patch(OcmPlacementDecision, first!.metadata, patch({ metadata: { labels: group } }))
  await hub.client.patch(ManagedClusterSet, { name: 'global' }, patch({ spec: { clusterSelector: null } }))
  const manifests = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'default' } }]
  await hub.create(build(ManifestWork, 'a/web', { spec: { workload: { manifests } } }), ManifestWork)
  await settle(hub)
  await walkPolicies(hub)
  await hub.client.delete(ManifestWork, { namespace: 'a', name: 'web' })
  const template = { workload: { manifests } }
  const refs = (...names: string[]) => ({
    manifestWorkTemplate: template,
    placementRefs: names.map((name) => ({ name })),
  })
  await hub.create(build(OcmPlacement, 'default/other', { spec: {} }), OcmPlacement)
  await settle(hub)
  const replicas = build(ManifestWorkReplicaSet, 'default/web', { spec: refs('all', 'other') as never })
  await hub.create(replicas, ManifestWorkReplicaSet)
  await settle(hub)
  assert.ok(await hub.find(Bundle, 'default/web.other'))
  const key = { namespace: 'default', name: 'web' }
  await hub.client.patch(ManifestWorkReplicaSet, key, patch({ spec: refs('all') }))
  await settle(hub)
  await hub.client.delete(ManifestWorkReplicaSet, key)
  await settle(hub)
  assert.equal(await hub.find(ManifestWorkReplicaSet, 'default/web'), undefined)
  // The clusters of this test are not seen again, and have the taint of an unreachable cluster.
  const tolerant = { spec: { tolerations: [{ operator: 'Exists' }] } }
  await hub.client.patch(OcmPlacement, { namespace: 'default', name: 'all' }, patch(tolerant))
  const agentSpec = { workload: { manifests } }
  await hub.create(build(AddOnTemplate, 'logs', { spec: { addonName: 'logs', agentSpec } }), AddOnTemplate)
  const supportedConfigs = [{ resource: 'addontemplates', defaultConfig: { name: 'logs' } }]
  const placement = { namespace: 'default', name: 'all', rolloutStrategy: { type: 'Progressive' as const } }
  const installStrategy = { type: 'Placements' as const, placements: [placement] }
  const addon = build(ClusterManagementAddOn, 'logs', { spec: { supportedConfigs, installStrategy } })
  await hub.create(addon, ClusterManagementAddOn)
  await settle(hub)
  assert.ok(await hub.find(ManifestWork, 'a/addon-logs-deploy-0'))
  await hub.client.delete(OcmPlacement, { namespace: 'default', name: 'all' })
  await settle(hub)
  await hub.client.delete(ManagedCluster, { name: 'a' })
  await hub.client.delete(Cluster, { name: 'b' })
  await settle(hub)
  const { used, denied } = hub.rights
  assert.deepEqual(denied, [])
  assert.deepEqual(unusedOf(OCM_CONTROLLER_RULES, used), Object.keys(UNSEEN_OF_OCM).sort())
})

/** A Policy that is bound, becomes a Bundle, and is disabled. */
async function walkPolicies(hub: ControllersHome): Promise<void> {
  const group = 'policy.open-cluster-management.io'
  const objectDefinition = {
    apiVersion: `${group}/v1`,
    kind: 'ConfigurationPolicy',
    metadata: { name: 'quota' },
    spec: { remediationAction: 'inform', severity: '{{hub fromConfigMap "" "settings" "severity" hub}}' },
  }
  await hub.create(build(ConfigMap, 'default/settings', { data: { severity: 'low' } }), ConfigMap)
  await hub.create(build(Policy, 'default/quota', { spec: { disabled: false, 'policy-templates': [{ objectDefinition }] } }), Policy) // prettier-ignore
  const account = { hubTemplateOptions: { serviceAccountName: 'reader' } }
  await hub.create(build(Policy, 'default/other', { spec: { disabled: false, 'policy-templates': [{ objectDefinition }], ...account } }), Policy) // prettier-ignore
  await hub.create(build(PolicySet, 'default/set', { spec: { policies: ['quota', 'other'] } }), PolicySet)
  await hub.create(build(PlacementRule, 'default/rule', { spec: { clusterSelector: {} } }), PlacementRule)
  const binding = {
    placementRef: { apiGroup: 'cluster.open-cluster-management.io', kind: 'Placement', name: 'all' },
    subjects: [{ apiGroup: group, kind: 'PolicySet', name: 'set' }],
  }
  await hub.create(build(PlacementBinding, 'default/bind', binding), PlacementBinding)
  await settle(hub)
  assert.notEqual(await hub.find(Bundle, 'default/policy-quota'), undefined)
  await hub.client.patch(Policy, { namespace: 'default', name: 'quota' }, patch({ spec: { disabled: true } }))
  await settle(hub)
}

/** A cluster Secret that registers a cluster, with a window that comes and goes. */
async function walkClusterSecret(hub: ControllersHome): Promise<void> {
  const fields = { name: 'b', server: 'https://10.0.0.9', config: JSON.stringify({ bearerToken: 't' }) }
  const data = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, btoa(value)]))
  const secret = build(Secret, 'argocd/b', { data })
  const labels = { 'argocd.argoproj.io/secret-type': 'cluster' }
  const annotations = { 'flotilla.dev/maintenance-window': '@daily 1h' }
  await hub.create({ ...secret, metadata: { ...secret.metadata, labels, annotations } }, Secret)
  await settle(hub)
  assert.notEqual(await hub.find(Cluster, 'b'), undefined)
  const closed = { metadata: { annotations: { 'flotilla.dev/maintenance-window': null } } }
  await hub.client.patch(Secret, { namespace: 'argocd', name: 'b' }, patch(closed))
  await settle(hub)
}

/** An Application of Applications that comes and goes. */
async function walkNested(hub: ControllersHome, source: object): Promise<void> {
  const destination = { name: 'in-cluster', namespace: 'argocd' }
  const spec = { project: 'default', source, destination, syncPolicy: { automated: {} } }
  const root = build(Application, 'argocd/root', { spec })
  const finalizers = ['resources-finalizer.argocd.argoproj.io']
  await hub.create({ ...root, metadata: { ...root.metadata, finalizers } }, Application)
  await settle(hub)
  assert.notEqual(await hub.find(ApplicationSet, 'argocd/nested'), undefined)
  await hub.client.delete(Application, { namespace: 'argocd', name: 'root' })
  await settle(hub)
  assert.equal(await hub.find(ApplicationSet, 'argocd/nested'), undefined)
}

test('the controllers of the Argo CD dialect have every right that they use, and no other', async (t) => {
  const hub = await walkedHome(t, ['argo'], () => ({
    'apps/web/cm.yaml': configMapManifest('web', {}),
    'root/set.yaml':
      'apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: nested}\nspec: {generators: []}\n',
  }))
  await join(hub, 'a')
  const repoURL = 'https://git.example.com/apps'
  const spec = {
    generators: [{ git: { repoURL, revision: 'main', directories: [{ path: 'apps/*' }] } }],
    template: {
      metadata: { name: '{{path.basename}}' },
      spec: {
        project: 'default',
        source: { repoURL, path: '{{path}}', targetRevision: 'main' },
        destination: { name: 'a', namespace: 'web' },
        syncPolicy: { automated: {} },
      },
    },
  }
  await hub.create(build(ApplicationSet, 'argocd/apps', { spec }), ApplicationSet)
  await settle(hub)
  assert.notEqual(await hub.find(Application, 'argocd/web'), undefined)
  const asked = { metadata: { annotations: { 'argocd.argoproj.io/application-set-refresh': 'true' } } }
  await hub.client.patch(ApplicationSet, { namespace: 'argocd', name: 'apps' }, patch(asked))
  await settle(hub)
  const found = (await hub.find(ApplicationSet, 'argocd/apps'))!
  const generators = [{ list: { elements: [{ path: 'apps/web', 'path.basename': 'site' }] } }]
  const { template } = spec
  const other = { ...template.spec, source: { ...template.spec.source, targetRevision: 'next' } }
  const next = { ...spec, generators, template: { ...template, spec: other } }
  await hub.client.update(ApplicationSet, { ...found, spec: next })
  await settle(hub)
  const token = /token (\S+)\)/.exec(
    (await hub.find(ApplicationSet, 'argocd/apps'))?.status?.conditions?.find(({ type }) => type === 'Held')?.message ??
      '',
  )
  if (token) {
    const released = { metadata: { annotations: { 'flotilla.dev/release-drop': token[1] } } }
    await hub.client.patch(ApplicationSet, { namespace: 'argocd', name: 'apps' }, patch(released))
  }
  await settle(hub)
  await walkClusterSecret(hub)
  await walkNested(hub, { repoURL, path: 'root', targetRevision: 'main' })
  const { used, denied } = hub.rights
  assert.deepEqual(denied, [])
  assert.deepEqual(
    unusedOf(ARGO_CONTROLLER_RULES, used),
    ['accept clusters.flotilla.dev', 'list placementdecisions.cluster.open-cluster-management.io'],
    'a policy asks for the one, only a generator of the kind for the other',
  )
})

/** The least fields with which each kind is accepted. */
const TEMPLATE_FIELDS: Readonly<Record<string, object>> = (() => {
  const labels = { app: 'x' }
  const pods = { metadata: { labels }, spec: { containers: [{ name: 'x', image: 'x' }] } }
  const workload = { spec: { selector: { matchLabels: labels }, template: pods } }
  const job = { ...pods, spec: { ...pods.spec, restartPolicy: 'Never' } }
  const crd = {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'X', plural: 'xs' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  }
  return {
    Deployment: workload,
    StatefulSet: workload,
    DaemonSet: workload,
    Job: { spec: { template: job } },
    CronJob: { spec: { schedule: '@daily', jobTemplate: { spec: { template: job } } } },
    Service: { spec: { ports: [{ port: 80 }] } },
    PersistentVolumeClaim: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    Ingress: { spec: { defaultBackend: { service: { name: 'x', port: { number: 80 } } } } },
    PodDisruptionBudget: { spec: { minAvailable: 1, selector: { matchLabels: labels } } },
    CustomResourceDefinition: { spec: crd },
  }
})()

test('the controllers of the Karmada dialect have every right that they use, and no other', async (t) => {
  const hub = await walkedHome(t, ['karmada'])
  await join(hub, 'a')
  await settle(hub)
  const resourceSelectors = TEMPLATE_KINDS.map(({ group, version, kind }) => ({
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    name: kind === 'CustomResourceDefinition' ? 'xs.example.com' : 'x',
  }))
  await hub.create(build(ClusterPropagationPolicy, 'all', { spec: { resourceSelectors } }), ClusterPropagationPolicy)
  await hub.create(build(ClusterOverridePolicy, 'none', { spec: {} }), ClusterOverridePolicy)
  await hub.create(build(OverridePolicy, 'default/none', { spec: {} }), OverridePolicy)
  const own = { resourceSelectors: [{ apiVersion: 'v1', kind: 'Pod' }] }
  await hub.create(build(PropagationPolicy, 'default/own', { spec: own }), PropagationPolicy)
  const keys = TEMPLATE_KINDS.map((kind) => ({
    kind,
    key: kind.scope === 'Cluster' ? { name: 'xs.example.com' } : { namespace: 'default', name: 'x' },
  }))
  for (const { kind, key } of keys) {
    const object = { ...build(kind, Object.values(key).join('/'), {}), ...TEMPLATE_FIELDS[kind.kind] }
    await hub.create(object, kind)
  }
  await settle(hub)
  assert.ok(await hub.find(Delivery, 'default/x-deployment'))
  const workloads = [{ apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'x' }]
  const once = { workloads, ttlSecondsAfterFinished: 1 }
  await hub.create(build(WorkloadRebalancer, 'once', { spec: once }), WorkloadRebalancer)
  await settle(hub)
  assert.equal(await hub.find(WorkloadRebalancer, 'once'), undefined)
  assert.ok(await hub.find(Delivery, 'karmada-system/xs.example.com-customresourcedefinition'))
  // One by one: the guard of the cluster holds the removal of all at once.
  for (const { kind, key } of keys) {
    await hub.client.delete(kind, key)
    await settle(hub, 2)
  }
  await settle(hub)
  const left = (await hub.client.list(ResourceBinding)).items.map(({ metadata }) => metadata.name)
  assert.deepEqual(left, [])
  const refusal = { accepted: false, refused: { verdict: 'Revoked', at: formatTime(hub.clock.now()) } }
  await hub.client.patch(Cluster, { name: 'a' }, patch({ metadata: { labels: { x: 'y' } } }))
  await settle(hub)
  await hub.client.patch(Cluster, { name: 'a' }, patch({ spec: refusal }))
  await settle(hub)
  const { used, denied } = hub.rights
  assert.deepEqual(denied, [])
  assert.deepEqual(unusedOf(KARMADA_CONTROLLER_RULES, used), Object.keys(UNSEEN_OF_KARMADA).sort())
})

test('neither the controllers nor the gateway are in a group, and both have the roles of their names alone', () => {
  for (const { commonName, organizations } of [HUB_USERS.controllers, HUB_USERS.gateway]) {
    assert.deepEqual(organizations, [])
    const bound = [...HUB_BINDINGS, ...HUB_LOCALS].filter(({ subjects }) =>
      subjects.some(({ name }) => name === commonName),
    )
    assert.deepEqual([...new Set(bound.map(({ role }) => role))], [commonName])
    assert.ok(HUB_ROLES.some(({ name }) => name === commonName))
  }
  const dangerous = ['*', 'bind', 'escalate', 'impersonate']
  for (const { verbs, apiGroups = [], resources = [] } of CONTROLLER_RULES) {
    assert.deepEqual(
      [...verbs, ...apiGroups, ...resources].filter((word) => dangerous.includes(word)),
      [],
    )
  }
})
