/** Repositories in the layouts people have: the objects that each cluster gets. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UnknownObject } from '../../kinds/meta.ts'
import { FLEET_EXAMPLES } from '../../testing/fleet-examples.ts'
import { readFleetTree } from '../../testing/fleet-repository.ts'

const CLUSTERS = {
  'dev-1': { env: 'dev' },
  'test-1': { env: 'test' },
  'prod-1': { env: 'prod', region: 'eu' },
  'prod-2': { env: 'prod', region: 'us', network: 'satellite' },
  other: {},
  shut: { env: 'prod', state: 'closed' },
}

/** One line per object with what the cases differ in. */
function shown(objects: UnknownObject[] | string): string[] {
  if (typeof objects === 'string') return [objects]
  return objects
    .map(({ kind, metadata, ...rest }) => {
      const spec = (rest['spec'] ?? {}) as { replicas?: number; type?: string; selector?: { role?: string } }
      const more =
        kind === 'Deployment'
          ? spec.replicas
          : kind === 'Service'
            ? `${spec.type} ${spec.selector?.role}`
            : JSON.stringify(rest['data'])
      return `${kind} ${metadata.namespace}/${metadata.name} ${more}`
    })
    .sort()
}

const SINGLE = [
  'Deployment counter/copy 2',
  'Deployment counter/front 1',
  'Deployment counter/store 1',
  'Service counter/copy ClusterIP copy',
  'Service counter/front ClusterIP front',
  'Service counter/store ClusterIP store',
]

const instead = (changes: Readonly<Record<string, string | undefined>>): string[] =>
  SINGLE.flatMap((line) => (Object.hasOwn(changes, line) ? (changes[line] ?? []) : line)).sort()

const EXPECTED: Readonly<Record<string, string[]>> = {
  'dev-1': instead({
    'Deployment counter/copy 2': undefined,
    'Service counter/copy ClusterIP copy': 'Service counter/copy ClusterIP store',
  }),
  'test-1': instead({ 'Deployment counter/front 1': 'Deployment counter/front 3' }),
  'prod-1': instead({
    'Deployment counter/front 1': 'Deployment counter/front 3',
    'Service counter/front ClusterIP front': 'Service counter/front LoadBalancer front',
  }),
}

const read = (name: string) => readFleetTree(FLEET_EXAMPLES[name]!, { clusters: CLUSTERS, gitRepo: 'counter' })

test('one cluster: manifests, kustomization, chart, both', () => {
  for (const name of ['single/manifests', 'single/kustomize', 'single/helm']) {
    assert.deepEqual(shown(read(name).objects('other')), SINGLE, name)
    assert.deepEqual(read(name).findings, [], name)
  }
  const both = read('single/helm-kustomize')
  assert.deepEqual(
    shown(both.objects('other')),
    instead({ 'Deployment counter/front 1': 'Deployment counter/front 4' }),
  )
  assert.ok(
    (both.objects('other') as UnknownObject[]).every(({ metadata }) => metadata.annotations?.['team'] === 'tills'),
  )
})

test('several charts are several bundles, one after the other', () => {
  const several = read('single/helm-multi-chart')
  assert.deepEqual(several.bundles.map(({ name }) => name).sort(), ['counter-front', 'counter-store'])
  assert.deepEqual(several.bundle('counter-front').spec.dependsOn, [{ bundle: 'counter-store' }])
  assert.deepEqual(shown(several.objects('other', 'counter-front')), ['Deployment counter/front 1'])
  const multi = read('multi/helm-multi-chart')
  for (const [cluster, lines] of Object.entries(EXPECTED)) {
    assert.deepEqual(shown(multi.objects(cluster, 'counter-counter')), lines)
    assert.deepEqual(shown(multi.objects(cluster, 'counter-notes')), [
      `ConfigMap counter/notes {"env":"${cluster.split('-')[0]}"}`,
    ])
  }
})

test('dev, test and prod: manifests with overlays, kustomizations, charts, both', () => {
  for (const name of ['multi/manifests', 'multi/kustomize', 'multi/helm', 'multi/helm-kustomize']) {
    const example = read(name)
    assert.deepEqual(example.findings, [], name)
    for (const [cluster, lines] of Object.entries(EXPECTED)) {
      assert.deepEqual(shown(example.objects(cluster)), lines, `${name} on ${cluster}`)
    }
  }
  const annotated = read('multi/helm-kustomize').objects('prod-1') as UnknownObject[]
  assert.ok(annotated.every(({ metadata }) => metadata.annotations?.['environment'] === 'prod'))
  for (const name of ['multi/manifests', 'multi/helm'])
    assert.deepEqual(shown(read(name).objects('other')), SINGLE, 'who is in no environment')
})

test('settings of environment, region and thin lines add up', () => {
  const till = read('multi/regions')
  const image = (cluster: string): string => {
    const objects = till.objects(cluster) as UnknownObject[]
    const spec = objects.find(({ kind }) => kind === 'Deployment')!['spec'] as {
      replicas: number
      template: { spec: { containers: { image: string }[] } }
    }
    const { data } = objects.find(({ kind }) => kind === 'ConfigMap') as unknown as {
      data: { language: string; sync: string; site: string }
    }
    return `${spec.replicas} ${spec.template.spec.containers[0]!.image} ${data.language} ${data.sync} ${data.site}`
  }
  assert.equal(image('other'), '1 docker.io/till:2 en 30s other')
  assert.equal(image('prod-1'), '4 eu.mirror.example.com/till:2 de 30s prod-1')
  assert.equal(image('prod-2'), '4 localhost:5000/till:2 en 15m prod-2')
  assert.equal(till.objects('shut'), 'skipped by closed')
  // What a render read is its key: clusters of one kind share one content as far as they do not name themselves.
  assert.deepEqual(Object.keys(till.variant('other').reads).sort(), [
    'labels.env',
    'labels.network',
    'labels.region',
    'labels.state',
    'name',
  ])
})
