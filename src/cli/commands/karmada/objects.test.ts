/** `flotilla karmada get`, `describe`, `explain` and `promote` against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../core/time/system-clock.ts'
import {
  ClusterPropagationPolicy,
  OverridePolicy,
  PropagationPolicy,
  ResourceBinding,
} from '../../../dialects/karmada/served/kinds.ts'
import { installDialects } from '../../../hub/home/dialects.ts'
import { Deployment } from '../../../kinds/builtin/apps.ts'
import { Namespace } from '../../../kinds/builtin/core.ts'
import { RoleBinding } from '../../../kinds/builtin/rbac.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { ClusterSet } from '../../../kinds/native/cluster-set.ts'
import { Project } from '../../../kinds/native/project.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { buildProject } from '../../../testing/fixtures/projects.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { karmadaDescribe, karmadaExplain, karmadaGet } from './objects.ts'
import type { KarmadaFlags } from './objects.ts'
import { karmadaPromote } from './promote.ts'

const lastTransitionTime = '2026-01-01T00:00:00Z'
const { signal } = new AbortController()
const labels = { app: 'web' }
const spec = {
  replicas: 4,
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'docker.io/web:1' }] } },
}
const resourceSelectors = [{ apiVersion: 'apps/v1', kind: 'Deployment' }]

async function started(t: TestContext) {
  const hub = createCliHub(t, { namespace: 'shop', dialects: ['karmada'] })
  const { client, terminal, connection } = hub
  await installDialects(['karmada'], { client, clock: systemClock, signal })
  await client.create(Namespace, build(Namespace, 'shop', {}))
  for (const name of ['member1', 'member2', 'member3']) await client.create(Cluster, buildCluster(name))
  await client.create(Deployment, build(Deployment, 'shop/web', { spec }))
  const placement = { clusterAffinity: { clusterNames: ['member1', 'member2'] } }
  const own = build(PropagationPolicy, 'shop/web', { spec: { resourceSelectors, placement, priority: 2 } })
  const { metadata } = await client.create(PropagationPolicy, own)
  const other = [{ apiVersion: 'v1', kind: 'ConfigMap' }]
  await client.create(PropagationPolicy, build(PropagationPolicy, 'shop/other', { spec: { resourceSelectors: other } }))
  await client.create(
    ClusterPropagationPolicy,
    build(ClusterPropagationPolicy, 'all', { spec: { resourceSelectors, schedulerName: 'mine' } }),
  )
  const overriders = { imageOverrider: [{ component: 'Registry', operator: 'replace', value: 'mirror' }] }
  const overrideRules = [{ targetCluster: { clusterNames: ['member2'] }, overriders }]
  await client.create(OverridePolicy, build(OverridePolicy, 'shop/mirror', { spec: { overrideRules } }))
  const annotations = { 'propagationpolicy.karmada.io/name': 'web' }
  const claim = { 'propagationpolicy.karmada.io/permanent-id': metadata.uid! }
  const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' }
  const clusters = ['member1', 'member2'].map((name) => ({ name, replicas: 2 }))
  const made = await client.create(
    ResourceBinding,
    build(
      ResourceBinding,
      'shop/web-deployment',
      { spec: { resource, replicas: 4, placement, clusters } },
      { annotations, labels: claim },
    ),
  )
  const aggregatedStatus = [
    { clusterName: 'member1', applied: true, health: 'Healthy' as const, status: { readyReplicas: 2 } },
    { clusterName: 'member2', applied: false, appliedMessage: 'image is forbidden', health: 'Unhealthy' as const },
  ]
  const conditions = [
    { type: 'Scheduled', status: 'True' as const, reason: 'Success', message: 'Yes.', lastTransitionTime },
  ]
  await client.update(ResourceBinding, { ...made, status: { aggregatedStatus, conditions } }, { subresource: 'status' })
  const input = (flags: KarmadaFlags = {}, user?: string) => ({
    connection: user === undefined ? connection : hub.connectionOf(user),
    terminal,
    signal,
    flags,
  })
  return { hub, client, input }
}

const cells = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {3,}/))

test('get prints a row for each cluster, and describe the conditions and errors', async (t) => {
  const { hub, input } = await started(t)
  await karmadaGet('deploy', undefined, input())
  const rows = [
    ['NAME', 'CLUSTER', 'REPLICAS', 'READY', 'APPLIED', 'HEALTH'],
    ['deployment/web', 'member1', '2', '2', 'True', 'Healthy'],
    ['deployment/web', 'member2', '2', '-', 'False', 'Unhealthy'],
  ]
  assert.deepEqual(cells(hub.taken().out), rows)
  await karmadaGet(undefined, undefined, input({ allNamespaces: true }))
  assert.deepEqual(cells(hub.taken().out)[1], ['shop', ...rows[1]!])
  await karmadaGet('deployment', 'web', input({ output: 'json' }))
  assert.equal((JSON.parse(hub.taken().out) as { cluster: string }[])[1]!.cluster, 'member2')
  await karmadaGet('jobs', undefined, input())
  assert.deepEqual(hub.taken(), { out: '', err: 'no objects with a binding found in namespace shop\n' })
  assert.match(
    await expectErrorText(karmadaGet('pods', undefined, input())),
    /"pods" is not a kind of templates\n.*deployments/,
  )
  await karmadaDescribe('deployment', 'web', input())
  const { out } = hub.taken()
  assert.match(out, /Policy: +PropagationPolicy web\nScheduled: +True Success: Yes\.\n/)
  assert.match(out, /\nmember2: image is forbidden\n$/)
  assert.match(
    await expectErrorText(karmadaDescribe('deployment', 'x', input())),
    /Deployment "x" not found in namespace shop/,
  )
})

test('explain says of each policy and of each cluster why', async (t) => {
  const { hub, client, input } = await started(t)
  await karmadaExplain('deployment', 'web', input())
  const [policies = '', refused = '', clusters = ''] = hub.taken().out.split('\n\n')
  assert.match(refused, /^Not admitted: Namespace shop has no Project/)
  assert.deepEqual(cells(policies).slice(1), [
    ['PropagationPolicy web', '2', 'kind', 'claims the object'],
    [
      'ClusterPropagationPolicy all',
      '0',
      'kind',
      'has no effect: spec.schedulerName: only default-scheduler is served',
    ],
    ['PropagationPolicy other', '0', 'no', 'does not select the object'],
  ])
  assert.deepEqual(cells(clusters).slice(1), [
    ['member1', '2', '-', 'target'],
    ['member2', '2', 'mirror', 'target'],
    ['member3', '-', '-', 'cluster(s) had untolerated taint {cluster.karmada.io/unreachable:NoSchedule}'],
  ])
  const { subjects, roleRef } = {
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'vera' }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  }
  await client.create(RoleBinding, build(RoleBinding, 'shop/vera', { roleRef, subjects }))
  await systemClock.sleep(200, signal)
  await karmadaGet('deployments', undefined, input({}, 'vera'))
  assert.equal(cells(hub.taken().out).length, 3, 'a viewer of the namespace sees where objects run')
})

test('explain says which line of the Project refuses the object or a cluster, and what is held', async (t) => {
  const { hub, client, input } = await started(t)
  const explained = async () => {
    await karmadaExplain('deployment', 'web', input())
    const [policies = '', ...more] = hub.taken().out.split('\n\n')
    return { policies: cells(policies), refused: more.slice(0, -1).join(), clusters: cells(more.at(-1)!).slice(1) }
  }
  const refused = async () => (await explained()).refused
  assert.match(await refused(), /^Not admitted: Namespace shop has no Project, so nothing of it is fetched/)
  await client.create(Project, buildProject('team-a', ['shop'], { clusterSets: [] }))
  assert.equal(await refused(), 'Not admitted: Project team-a: spec.clusterSets lists no ClusterSet.')
  await limit({ clusterSets: ['eu'], kinds: ['v1/*'], executors: {} })
  const both = await refused()
  assert.match(both, /Project team-a: spec\.kinds does not list apps\/Deployment/)
  assert.match(both, /Project team-a: spec\.executors\.ownRights is not true/)
  await limit({ clusterSets: ['eu'] })
  await client.create(ClusterSet, build(ClusterSet, 'eu', { spec: { access: 'Open' } }))
  const found = await client.get(Cluster, { name: 'member1' })
  const labels = { ...found.metadata.labels, 'flotilla.dev/cluster-set': 'eu' }
  await client.update(Cluster, { ...found, metadata: { ...found.metadata, labels } })
  const { refused: none, clusters } = await explained()
  assert.equal(none, '')
  const outside = 'Project team-a: spec.clusterSets lists eu, and the cluster is in no ClusterSet'
  assert.deepEqual(
    clusters.map(([name, , , why]) => [name, why]),
    [
      ['member1', 'target'],
      ['member2', `target that keeps what it has and gets nothing new: ${outside}`],
      ['member3', outside],
    ],
  )
  const binding = await client.get(ResourceBinding, { namespace: 'shop', name: 'web-deployment' })
  const conditions = [
    { type: 'Admitted', status: 'False' as const, reason: 'ProjectRefuses', message: 'Frozen.', lastTransitionTime },
    { type: 'Scheduled', status: 'False' as const, reason: 'DropHeld', message: 'It would.', lastTransitionTime },
  ]
  await client.update(ResourceBinding, { ...binding, status: { conditions } }, { subresource: 'status' })
  const placement = { clusterAffinity: { clusterNames: ['member3'] } }
  const stored = await client.get(ResourceBinding, { namespace: 'shop', name: 'web-deployment' })
  await client.update(ResourceBinding, { ...stored, spec: { ...stored.spec, placement } })
  const held = await explained()
  assert.equal(held.refused, 'Not admitted: Frozen.')
  assert.equal(
    held.clusters[0]![3],
    'target, although cluster(s) did not match the placement cluster affinity constraint; the guard holds its removal',
  )

  async function limit(fields: object) {
    const present = await client.get(Project, { name: 'team-a' })
    await client.update(Project, { ...present, spec: buildProject('team-a', ['shop'], fields).spec })
  }
})

test('explain says of a policy that is not valid which generation of it stays in force', async (t) => {
  const { hub, client, input } = await started(t)
  const key = { namespace: 'shop', name: 'web' }
  const present = await client.get(PropagationPolicy, key)
  const lastValid = { generation: 1, spec: present.spec as never }
  const shown = await client.update(PropagationPolicy, { ...present, status: { lastValid } }, { subresource: 'status' })
  await client.update(PropagationPolicy, { ...shown, spec: { ...shown.spec, schedulerName: 'mine' } })
  await karmadaExplain('deployment', 'web', input())
  assert.match(
    hub.taken().out,
    /PropagationPolicy web +2 +kind +claims the object; it is not valid, so generation 1 of it stays in force: spec\.schedulerName/,
  )
})

test('promote creates the object and a policy that takes it over, once', async (t) => {
  const { hub, client } = await started(t)
  const member = createCliHub(t, { dialects: ['karmada'] })
  await member.client.create(Namespace, build(Namespace, 'shop', {}))
  await member.client.create(Deployment, build(Deployment, 'shop/old', { spec }))
  const input = (flags: object = {}) => ({
    connection: hub.connection,
    member: member.connection,
    terminal: hub.terminal,
    signal,
    flags: { cluster: 'member1', ...flags },
  })
  await karmadaPromote('deployment', 'old', input({ dryRun: true }))
  assert.match(hub.taken().out, /kind: PropagationPolicy[^]*conflictResolution: Overwrite[^]*---\n[^]*kind: Deployment/)
  await karmadaPromote('deployment', 'old', input())
  assert.equal(hub.taken().err, 'created PropagationPolicy old\ncreated Deployment old\n')
  const made = await client.get(Deployment, { namespace: 'shop', name: 'old' })
  assert.deepEqual([made.spec.replicas, made.status], [4, {}])
  assert.match(
    await expectErrorText(karmadaPromote('deployment', 'old', input())),
    /PropagationPolicy "old" exists on the hub/,
  )
  const again = karmadaPromote('deployment', 'none', input())
  assert.match(await expectErrorText(again), /Deployment "none" not found in cluster member1/)
  const stray = karmadaPromote('deployment', 'old', input({ cluster: 'member9' }))
  assert.match(await expectErrorText(stray), /cluster "member9" not found/)
})
