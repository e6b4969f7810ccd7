/** Repositories in the layouts people have: the objects that each cluster gets. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { FLEET_EXAMPLES } from '../../../testing/fixtures/rancher-fleet/examples.ts'
import {
  EXAMPLE_CLUSTERS,
  expectedObjects,
  shownObjects,
} from '../../../testing/fixtures/rancher-fleet/expected-objects.ts'
import { readFleetTree } from '../../../testing/fixtures/rancher-fleet/repository.ts'

const groups = ['dev', 'test', 'prod'].map((name) => ({
  name,
  labels: {},
  selector: { matchLabels: { env: name } },
}))

const read = (name: string) =>
  readFleetTree(FLEET_EXAMPLES[name]!, { clusters: EXAMPLE_CLUSTERS, gitRepo: 'counter', groups })

/** Where Fleet would deploy a kustomization's files raw, or its layout says nothing for a cluster. */
const NOT_FOR_OTHERS = ['multi/kustomize', 'teams/platform']

test('every layout gives every cluster its objects', () => {
  for (const name of Object.keys(FLEET_EXAMPLES)) {
    const example = read(name)
    assert.deepEqual(example.findings, [], name)
    for (const cluster of Object.keys(EXAMPLE_CLUSTERS)) {
      if (cluster === 'other' && NOT_FOR_OTHERS.includes(name)) continue
      const objects = example.bundles.flatMap(({ name: bundle }) => {
        const made = example.objects(cluster, bundle)
        return typeof made === 'string' ? [] : made
      })
      assert.deepEqual(shownObjects(objects), expectedObjects(name, cluster), `${name} on ${cluster}`)
    }
  }
})

test('what a kustomization adds to a chart is there', () => {
  const annotations = (name: string, cluster: string) =>
    (read(name).objects(cluster) as UnknownObject[]).map(({ metadata }) => metadata.annotations)
  assert.ok(annotations('single/helm-kustomize', 'other').every((one) => one?.['team'] === 'tills'))
  assert.ok(annotations('multi/helm-kustomize', 'prod-1').every((one) => one?.['environment'] === 'prod'))
})

test('who is not meant is not reached, and says why', () => {
  assert.equal(
    read('multi/kustomize').objects('other'),
    '"." holds no .yaml, .yml or .json file of its own; what is in "base" counts for those whose kustomize.dir names it',
  )
  assert.equal(read('multi/regions').objects('shut'), 'skipped by closed')
  assert.equal(read('teams/platform').objects('test-1', 'counter-apps-shop'), 'skipped by test')
})

test('bundles have their names and wait for each other', () => {
  const names = (name: string) => read(name).bundles.map((one) => one.name)
  assert.deepEqual(names('single/helm-multi-chart').toSorted(), ['counter-front', 'counter-store'])
  assert.deepEqual(read('single/helm-multi-chart').bundle('counter-front').spec.dependsOn, [
    { bundle: 'counter-store' },
  ])
  assert.deepEqual(names('teams/platform'), [
    'counter-apps-shop',
    'counter-apps-shop-jobs',
    'gateway',
    'counter-platform-metrics',
  ])
  assert.deepEqual(read('teams/platform').bundle('counter-platform-metrics').spec.dependsOn, [{ bundle: 'gateway' }])
})

test('what a render read is its key: clusters of one kind share one content as far as they do not name themselves', () => {
  assert.deepEqual(Object.keys(read('multi/regions').variant('other').reads).sort(), [
    'labels.env',
    'labels.network',
    'labels.region',
    'labels.state',
    'name',
  ])
})
