import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LabelSelector } from '../core/text/label-selector.ts'
import { Cluster } from './native/cluster.ts'
import type { KubeObject, ResourceType } from './meta.ts'
import { NATIVE_KINDS } from './native/native-kinds.ts'
import { Placement } from './native/placement.ts'
import { Rollout } from './native/rollout.ts'

// What a typed client does: the kind decides the type of the answer.
function read<T extends KubeObject>(_type: ResourceType<T>, text: string): T {
  return JSON.parse(text) as T
}

test('types of objects come from the definition, mutable and with an optional status', () => {
  const cluster: Cluster = read(Cluster, '{"spec":{"accepted":false}}')
  cluster.spec.accepted = true
  cluster.status = { state: 'Ready', bundles: { total: 1, ready: 1 }, claims: [{ name: 'a', value: 'b' }] }
  cluster.status.conditions = []
  // @ts-expect-error an unknown state is refused by the compiler
  cluster.status.state = 'Sunny'
  assert.equal(cluster.spec.accepted, true)
  const placement = read(Placement, '{"spec":{"clusterSelector":{"matchLabels":{"a":"b"}}}}')
  const selector: LabelSelector = placement.spec.clusterSelector
  assert.deepEqual(selector.matchLabels, { a: 'b' })
  const rollout = read(Rollout, '{"spec":{"rings":[{"name":"all","concurrency":"25%"}]},"status":{}}')
  const concurrency: readonly (string | number)[] = rollout.spec.rings.map((ring) => ring.concurrency)
  assert.deepEqual(concurrency, ['25%'])
  const phase: string | undefined = rollout.status?.phase
  assert.equal(phase, undefined)
})

test('names are derived and examples completed', () => {
  assert.equal(Cluster.singular, 'cluster')
  assert.equal(Cluster.listKind, 'ClusterList')
  assert.deepEqual(Cluster.categories, ['flotilla'])
  for (const kind of NATIVE_KINDS) {
    assert.ok(kind.examples.length > 0, `${kind.kind} has an example`)
    for (const example of kind.examples) assert.equal(example.apiVersion, 'flotilla.dev/v1alpha1')
  }
})
