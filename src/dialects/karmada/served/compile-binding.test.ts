import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Condition } from '../../../kinds/meta.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { buildCluster } from '../../../testing/fixtures/builders.ts'
import type { Template } from '../templates/template-kinds.ts'
import { fullyApplied, showTarget } from './binding-status.ts'
import { faceOf, schedulerCluster } from './cluster-face.ts'
import { compileBinding, deliveryOptions, targetsOf } from './compile-binding.ts'
import type { ServedBinding } from './kinds.ts'
import { scheduleServed } from './schedule-served.ts'

const TEMPLATE: Template = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', uid: 'u-1' },
  spec: { replicas: 3 },
}
const binding = (spec: Partial<ServedBinding['spec']>): ServedBinding => ({
  apiVersion: 'work.karmada.io/v1alpha2',
  kind: 'ResourceBinding',
  metadata: { name: 'web-deployment', namespace: 'shop' },
  spec: {
    resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' },
    replicas: 3,
    ...spec,
  },
})
const isAway: Condition = {
  type: 'Available',
  status: 'False',
  reason: 'Offline',
  message: 'not seen',
  lastTransitionTime: '2026-01-01T00:00:00Z',
}
const isHere: Condition = { ...isAway, status: 'True', reason: 'Connected', message: '' }
const cluster = (name: string, more: Partial<Cluster['spec']> = {}, conditions = [isHere]): Cluster => {
  const built = buildCluster(name, { labels: { 'topology.kubernetes.io/region': 'eu' } })
  return { ...built, spec: { ...built.spec, ...more }, status: { ...built.status, conditions } }
}

describe('the schedule of a binding', () => {
  const placement = { clusterAffinity: { labelSelector: { matchLabels: { 'topology.kubernetes.io/region': 'eu' } } } }

  test('leaves out clusters out of reach, cordoned or tainted, and keeps what runs on them', () => {
    const fleet = [
      cluster('a'),
      cluster('b', {}, [isAway]),
      cluster('c', { cordon: { reason: 'x', since: '2026-01-01T00:00:00Z' } }),
      cluster('d', { taints: [{ key: 'x', effect: 'NoSelect' }] }),
    ].map((one) => schedulerCluster(one))
    const names = (spec: Partial<ServedBinding['spec']>) =>
      scheduleServed(binding({ placement, ...spec }), fleet).clusters.map(({ name }) => name)
    assert.deepEqual(names({}), ['a'])
    const before = ['b', 'c', 'd'].map((name) => ({ name, replicas: 3 }))
    assert.deepEqual(names({ clusters: before }), ['a', 'b', 'c', 'd'])
  })

  test('without a cluster that fits keeps the targets, and says so', () => {
    const nowhere = { clusterAffinity: { clusterNames: ['z'] } }
    const clusters = [{ name: 'a', replicas: 3 }]
    const decided = scheduleServed(binding({ placement: nowhere, clusters }), [schedulerCluster(cluster('a'))])
    assert.deepEqual(decided.clusters, clusters)
    assert.deepEqual([decided.scheduled.status, decided.scheduled.reason], ['False', 'NoClusterFit'])
    assert.match(decided.scheduled.message, /What runs stays\.$/)
    assert.equal(decided.appliedPlacement, undefined)
  })

  test('with an empty list of affinity terms keeps the targets, too', () => {
    const nowhere = { clusterAffinities: [] }
    const clusters = [{ name: 'a', replicas: 3 }]
    const decided = scheduleServed(binding({ placement: nowhere, clusters }), [schedulerCluster(cluster('a'))])
    assert.deepEqual([decided.clusters, decided.appliedPlacement], [clusters, undefined])
    assert.deepEqual([decided.scheduled.status, decided.scheduled.reason], ['False', 'NoClusterFit'])
    assert.equal(decided.scheduled.message, 'The placement names no cluster. What runs stays.')
  })

  test('moves the replicas of a cluster that left the fleet or is leaving it', () => {
    const replicaScheduling = { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Weighted' }
    const clusters = ['a', 'gone'].map((name) => ({ name, replicas: name === 'a' ? 1 : 2 }))
    const applied = { 'policy.karmada.io/applied-placement': JSON.stringify({ replicaScheduling }) }
    const before = binding({ placement: { replicaScheduling }, clusters })
    const settled = { ...before, metadata: { ...before.metadata, annotations: applied } }
    assert.deepEqual(scheduleServed(settled, [schedulerCluster(cluster('a'))]).clusters, [{ name: 'a', replicas: 3 }])
    const leaving = cluster('gone', { decommission: { policy: 'Orphan', at: '2026-01-01T00:00:00Z' } as never })
    const fleet = [cluster('a'), leaving].map((one) => schedulerCluster(one))
    assert.deepEqual(scheduleServed(settled, fleet).clusters, [{ name: 'a', replicas: 3 }])
  })

  test('says that a cluster without reported resources has no room', () => {
    const dynamic = {
      replicaSchedulingType: 'Divided',
      replicaDivisionPreference: 'Weighted',
      weightPreference: { dynamicWeight: 'AvailableReplicas' },
    }
    const decided = scheduleServed(binding({ placement: { replicaScheduling: dynamic } }), [
      schedulerCluster(cluster('a')),
    ])
    assert.match(
      `${decided.scheduled.reason} ${decided.scheduled.message}`,
      /^Unschedulable .*has reported none has no room/,
    )
  })
})

describe('the content of a binding', () => {
  test('has the replicas of each cluster, on clusters that it leaves, too', () => {
    const shared = binding({
      clusters: [
        { name: 'b', replicas: 1 },
        { name: 'a', replicas: 2 },
      ],
      gracefulEvictionTasks: [{ fromCluster: 'c', replicas: 3 }],
      requiredBy: [{ name: 'x', clusters: [{ name: 'd' }] }],
    })
    assert.deepEqual(
      targetsOf(shared).map(({ name, replicas }) => [name, replicas]),
      [
        ['a', 2],
        ['b', 1],
        ['c', 3],
        ['d', undefined],
      ],
    )
    const contents = compileBinding({ binding: shared, template: TEMPLATE, clusterOf: () => undefined, overrides: [] })
    assert.deepEqual(
      contents.map((one) => ('object' in one ? one.object.spec?.replicas : one.problem)),
      [2, 1, 3, 0],
    )
  })

  test('aborts on foreign objects unless it overwrites, and keeps what a policy preserves', () => {
    const options = (spec: Partial<ServedBinding['spec']>) => deliveryOptions(binding(spec), TEMPLATE)
    assert.deepEqual(options({}).apply, { method: 'ServerSideApply', force: false, takeover: 'Never' })
    assert.deepEqual(options({ conflictResolution: 'Overwrite' }).apply, {
      method: 'ServerSideApply',
      force: true,
      takeover: 'Always',
    })
    assert.equal(options({}).delete?.bundleDeleted, 'Delete')
    assert.equal(options({ preserveResourcesOnDeletion: true }).delete?.bundleDeleted, 'Orphan')
    const claim = { ...TEMPLATE, apiVersion: 'v1', kind: 'PersistentVolumeClaim' }
    assert.equal(deliveryOptions(binding({}), claim).delete?.named?.[0]?.kind, 'PersistentVolumeClaim')
    const label = { 'resourcetemplate.karmada.io/retain-replicas': 'true' }
    const retained = { ...TEMPLATE, metadata: { ...TEMPLATE.metadata, labels: label } }
    assert.deepEqual(deliveryOptions(binding({}), retained).ignore?.[0]?.pointers, ['/spec/replicas'])
  })
})

describe('override policies', () => {
  const containers = (path: 'CronJob' | 'Deployment') => {
    const pod = {
      containers: [{ name: 'a', image: 'r.example/a:1' }],
      initContainers: [{ name: 'i', image: 'r.example/i:1' }],
    }
    const spec =
      path === 'CronJob' ? { jobTemplate: { spec: { template: { spec: pod } } } } : { template: { spec: pod } }
    return { ...TEMPLATE, kind: path, apiVersion: path === 'CronJob' ? 'batch/v1' : 'apps/v1', spec } as Template
  }
  const rule = (name: string, overriders: object) => ({
    kind: 'OverridePolicy',
    metadata: { name, namespace: 'shop' },
    spec: { overrideRules: [{ overriders }] },
  })
  const compile = (template: Template, overrides: Parameters<typeof compileBinding>[0]['overrides']) =>
    compileBinding({
      binding: binding({ clusters: [{ name: 'a', replicas: 3 }] }),
      template,
      clusterOf: () => ({ metadata: { name: 'a' } }),
      overrides,
      findsShadowed: true,
    })[0]!

  test('change images and commands of init containers and of CronJobs, too', () => {
    const rules = [
      rule('mirror', {
        imageOverrider: [{ component: 'Registry', operator: 'replace', value: 'm.example' }],
        argsOverrider: [{ containerName: 'i', operator: 'add', value: ['--x'] }],
      }),
    ]
    for (const kind of ['CronJob', 'Deployment'] as const) {
      const text = JSON.stringify(compile(containers(kind), rules))
      assert.match(text, /m\.example\/a:1.*m\.example\/i:1.*--x/, kind)
    }
  })

  test('that later ones overwrite as a whole are found, and those that are needed or do not apply are not', () => {
    const label = (name: string, value: Record<string, string>) =>
      rule(name, { labelsOverrider: [{ operator: 'add', value }] })
    const made = compile(TEMPLATE, [
      label('a', { tier: 'x' }),
      label('b', { tier: 'y', zone: 'z' }),
      label('c', { tier: 'y' }),
      {
        ...label('d', { tier: 'q' }),
        spec: { overrideRules: [{ targetCluster: { clusterNames: ['other'] }, overriders: {} }] },
      },
    ])
    assert.ok('shadowed' in made)
    assert.deepEqual(made.overrides, ['a', 'b', 'c'])
    assert.deepEqual(made.shadowed, ['a', 'c'], 'without the one or the other the object is the same')
  })
})

describe('the status of a cluster', () => {
  const entry = 'shop/delivery:web-deployment'
  const report = (state: string, set: string, generation = 2) => ({
    spec: {
      bundles: [{ bundle: entry, generation, set, state, message: 'cannot' }],
      feedback: [
        {
          bundle: entry,
          generation: 2,
          objects: [
            {
              apiVersion: 'apps/v1',
              kind: 'Deployment',
              name: 'web',
              applied: true,
              values: [{ name: 'readyReplicas', type: 'Integer', value: '2' }],
            },
          ],
        },
      ],
    },
  })
  const show = (seen: object) =>
    showTarget(TEMPLATE, entry, {
      cluster: 'a',
      report: undefined,
      isUnreachable: false,
      wanted: { generation: 2, set: 'new' },
      ...seen,
    })

  test('is applied only for the content that the cluster should have', () => {
    assert.equal(show({}).item.applied, false)
    const now = show({ report: report('Ready', 'new') })
    assert.deepEqual([now.item.applied, now.item.health, now.item.status], [true, 'Healthy', { readyReplicas: 2 }])
    assert.equal(show({ report: report('Ready', 'old') }).item.applied, false)
    assert.equal(show({ report: report('Ready', 'new', 3) }).item.applied, false, 'the feedback is older')
    const failed = show({ report: report('Failed', 'new') }).item
    assert.deepEqual([failed.applied, failed.health, failed.appliedMessage], [false, 'Unhealthy', 'cannot'])
    assert.equal(show({ report: report('Ready', 'new'), isUnreachable: true }).item.health, 'Unknown')
  })

  test('makes FullyApplied true when all clusters have it, and never for none', () => {
    const item = (applied: boolean) => ({ clusterName: 'a', applied })
    assert.equal(fullyApplied([]).status, 'False')
    assert.equal(fullyApplied([item(true), item(false)]).status, 'False')
    assert.equal(fullyApplied([item(true)]).reason, 'FullyAppliedSuccess')
  })
})

test('a cluster is shown in the words of Karmada', () => {
  const face = faceOf(cluster('a', { taints: [{ key: 'x', effect: 'NoSelect' }] }))
  assert.deepEqual(
    [face.spec.syncMode, face.spec.region, face.spec.taints],
    ['Pull', 'eu', [{ key: 'x', effect: 'NoSchedule' }]],
  )
  assert.equal(face.status?.conditions?.[0]?.reason, 'ClusterReady')
  const away = faceOf(cluster('a', {}, [isAway]))
  assert.deepEqual(away.spec.taints, [{ key: 'cluster.karmada.io/unreachable', effect: 'NoSchedule' }])
  assert.equal(away.status?.conditions?.[0]?.status, 'False')
})
