import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatTime } from '../../core/time/time.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { buildBundle, buildCluster } from '../../testing/fixtures/builders.ts'
import { declareFleetMetrics } from './fleet-metrics.ts'
import type { FleetMetricsInput } from './fleet-metrics.ts'

const NOW = 1_800_000_000_000
const SET = `sha256:${'0'.repeat(64)}` as const
const NONE: FleetMetricsInput = {
  clusters: [],
  reports: [],
  assignments: [],
  bundles: [],
  placements: [],
  rollouts: [],
}
const ago = (seconds: number): string => formatTime(NOW - seconds * 1000)

/** What a scrape would show, as `name{label} value`. */
function scrape(facts: Partial<FleetMetricsInput>): Map<string, number> {
  const values = new Map<string, number>()
  const gauge = ({ name }: { readonly name: string }) => {
    return (labels: Readonly<Record<string, string>>, value: number) =>
      void values.set(`${name}{${Object.values(labels).join()}}`, value)
  }
  declareFleetMetrics({ gauge, counter: gauge, histogram: gauge })({ ...NONE, ...facts }, NOW)
  return values
}

function cluster(name: string, status: NonNullable<Cluster['status']>, isAvailable: boolean): Cluster {
  const available = {
    type: 'Available',
    status: isAvailable ? ('True' as const) : ('False' as const),
    reason: 'Test',
    message: '',
    lastTransitionTime: ago(0),
  }
  const made = buildCluster(name)
  return { ...made, spec: { ...made.spec, accepted: true }, status: { ...status, conditions: [available] } }
}

test('clusters are counted by state and availability, and every state is there', () => {
  const values = scrape({
    clusters: [
      cluster('a', { state: 'Ready' }, true),
      cluster('b', { state: 'Offline', lastSeen: ago(300) }, false),
      cluster('c', { state: 'Offline', lastSeen: ago(9000) }, false),
      buildCluster('pending'),
    ],
    bundles: [buildBundle('default/web')],
  })
  assert.equal(values.get('flotilla_clusters{Ready}'), 1)
  assert.equal(values.get('flotilla_clusters{Offline}'), 2)
  assert.equal(values.get('flotilla_clusters{Drifted}'), 0)
  assert.equal(values.get('flotilla_clusters_available{True}'), 1)
  assert.equal(values.get('flotilla_clusters_available{False}'), 2)
  assert.equal(values.get('flotilla_cluster_last_seen_age_seconds{min}'), 300)
  assert.equal(values.get('flotilla_cluster_last_seen_age_seconds{max}'), 9000)
  assert.equal(values.get('flotilla_bundles{Unknown}'), 1)
})

test('metrics agree with states: nothing selected, turned away, offline bundles, empty objects', () => {
  const condition = (type: string) => ({
    type,
    status: 'True' as const,
    reason: 'x',
    message: '',
    lastTransitionTime: ago(0),
  })
  const revoked = cluster('r', { state: 'Pending' }, false)
  const bundle = buildBundle('default/web')
  const values = scrape({
    clusters: [
      cluster('n', { state: 'NotSelected' }, true),
      { ...revoked, spec: { ...revoked.spec, refused: { verdict: 'Revoked', at: ago(0) } } },
    ],
    bundles: [
      { ...bundle, status: { release: 'web-g2', conditions: [condition('Unplaced')] } },
      buildBundle('default/b'),
    ],
    placements: [{ metadata: { name: 'p' }, status: { conditions: [condition('Empty')] } } as unknown as Placement],
    rollouts: [
      rollout('web-g1', { total: 9, ready: 9, progressing: 0, pending: 0, failed: 0, offline: 0 }),
      rollout('web-g2', {
        total: 5,
        ready: 4,
        progressing: 0,
        pending: 1,
        failed: 0,
        offline: 0,
        states: { Ready: 2, Offline: 2, Failed: 1 },
      }),
    ],
  })
  const of = (name: string) =>
    [...values]
      .filter(([key, value]) => key.startsWith(`${name}{`) && value !== 0)
      .map(([key, value]) => `${key} ${value}`)
  assert.deepEqual(of('flotilla_clusters'), ['flotilla_clusters{NotSelected} 1'])
  assert.deepEqual(of('flotilla_clusters_apart'), ['flotilla_clusters_apart{Revoked} 1'])
  assert.deepEqual(of('flotilla_clusters_available'), ['flotilla_clusters_available{True} 1'])
  assert.deepEqual(of('flotilla_bundle_deployments'), [
    'flotilla_bundle_deployments{Ready} 2',
    'flotilla_bundle_deployments{Offline} 2',
    'flotilla_bundle_deployments{Failed} 1',
  ])
  assert.deepEqual(of('flotilla_bundles_unplaced'), ['flotilla_bundles_unplaced{} 1'])
  assert.deepEqual(of('flotilla_placements_empty'), ['flotilla_placements_empty{} 1'])
})

function rollout(name: string, counts: NonNullable<Rollout['status']>['counts']): Rollout {
  return { metadata: { name, namespace: 'default' }, spec: { release: name }, status: { counts } } as unknown as Rollout
}

test('a cluster is behind until it observed the newest document of the same timeline', () => {
  const assignment = (name: string, epoch: number, revision: number) =>
    ({
      metadata: { name },
      spec: { clusterId: `c-${name}`, epoch, revision, document: SET, entries: [] },
    }) as unknown as Assignment
  const report = (name: string, of: { clusterId?: string; epoch?: number; revision: number; age: number }) =>
    ({
      metadata: { name },
      spec: { clusterId: `c-${name}`, epoch: 1, receivedAt: ago(of.age), bundles: [], ...of },
    }) as unknown as FleetMetricsInput['reports'][number]
  const values = scrape({
    assignments: ['current', 'late', 'silent', 'reborn', 'old-epoch'].map((name) =>
      assignment(name, name === 'old-epoch' ? 2 : 1, 4),
    ),
    reports: [
      report('current', { revision: 4, age: 5000 }),
      report('late', { revision: 3, age: 60 }),
      report('reborn', { revision: 4, age: 10, clusterId: 'c-another' }),
      report('old-epoch', { revision: 9, age: 70 }),
    ],
  })
  assert.equal(values.get('flotilla_clusters_behind{}'), 4)
  assert.equal(values.get('flotilla_applied_revision_age_seconds{max}'), 70)
})

test('certificates: the nearest expiry, and how many are near; nothing to measure is NaN, not 0', () => {
  const valid = (days: number) =>
    cluster(`d${days}`, { certificate: { notAfter: ago(-days * 86_400), fingerprint: 'x' } }, true)
  const values = scrape({ clusters: [valid(3), valid(20), valid(90), valid(-1)] })
  assert.equal(values.get('flotilla_certificate_expiry_seconds{min}'), -86_400)
  assert.deepEqual(
    [1, 3].map((days) => values.get(`flotilla_certificates_expiring{${days}}`)),
    [1, 2],
  )
  const fresh = scrape({ clusters: [valid(14), valid(5)] })
  for (const days of [1, 3]) assert.equal(fresh.get(`flotilla_certificates_expiring{${days}}`), 0, 'renewed in time')
  assert.equal(values.get('flotilla_cluster_last_seen_age_seconds{max}'), Number.NaN)
  assert.equal(scrape({}).get('flotilla_certificate_expiry_seconds{min}'), Number.NaN)
})

test('ten thousand clusters have no more series than none', () => {
  const many = Array.from<Cluster>({ length: 10_000 }).fill(cluster('one', { state: 'Ready' }, true))
  assert.deepEqual([...scrape({ clusters: many }).keys()], [...scrape({}).keys()])
})

test('checks of a cluster that is not heard are Offline, and those of a cluster that is gone are not counted', () => {
  const clusters = [cluster('a', {}, true), cluster('b', {}, false)]
  const report = (clusterId: string) =>
    ({
      metadata: { name: clusterId },
      spec: { clusterId, bundles: [], checks: [{ state: 'Compliant' }, { state: 'NonCompliant' }] },
    }) as unknown as ClusterReport
  const values = scrape({ clusters, reports: [...clusters.map(({ spec }) => report(spec.id)), report('gone')] })
  assert.equal(values.get('flotilla_checks{Compliant}'), 1)
  assert.equal(values.get('flotilla_checks{NonCompliant}'), 1)
  assert.equal(values.get('flotilla_checks{Offline}'), 2)
  assert.equal(values.get('flotilla_checks{Pending}'), 0)
})

test('results of policy engines are counted by severity, of clusters that are heard only', () => {
  const clusters = [cluster('a', {}, true), cluster('b', {}, false)]
  const counts = { pass: 4, fail: 2, warn: 1, error: 0, skip: 0 }
  const policies = [
    { engine: 'kyverno', policy: 'tag', severity: 'high', ...counts },
    { engine: 'gatekeeper', policy: 'K8sLabels/x', ...counts },
  ]
  const report = (clusterId: string) =>
    ({
      metadata: { name: clusterId },
      spec: { clusterId, bundles: [], results: { policies } },
    }) as unknown as ClusterReport
  const values = scrape({ clusters, reports: [...clusters.map(({ spec }) => report(spec.id)), report('gone')] })
  assert.equal(values.get('flotilla_policy_results{high,fail}'), 2)
  assert.equal(values.get('flotilla_policy_results{none,pass}'), 4)
  assert.equal(values.get('flotilla_policy_results{low,fail}'), 0)
})
