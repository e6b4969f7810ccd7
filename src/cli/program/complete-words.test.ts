import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { digestOf } from '../../core/crypto/digest.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Release } from '../../kinds/native/release.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { build, buildCluster } from '../../testing/fixtures/builders.ts'
import { createCliHub } from '../../testing/hub/cli-hub.ts'
import { completeWords } from './complete-words.ts'

test('names are completed also where they cannot be remembered', async (t) => {
  const { client, connection } = createCliHub(t)
  await client.create(Cluster, buildCluster('store-1'))
  const program = new Command('flotilla')
  program.command('get').argument('<kind>').argument('[names...]')
  const input = { connect: async () => connection, cacheFile: '/dev/null/state/completion.json' }
  assert.equal(await completeWords(program, ['get', 'clusters', 's'], input), 'store-1\n')
})

test('D38: values of objects complete a word', async (t) => {
  const { client, connection } = createCliHub(t)
  await client.create(Cluster, buildCluster('store-1', { labels: { region: 'north' } }))
  await client.create(Cluster, buildCluster('store-2', { labels: { region: 'south' } }))
  const since = '2026-11-16T00:00:00Z'
  const drift = [{ object: 'ConfigMap a/b', fields: ['.data.a'], since }]
  const row = { bundle: 'default/shop', generation: 1, set: digestOf('s'), state: 'Drifted' as const, drift }
  const spec = { clusterId: 'c-1', epoch: 1, revision: 1, receivedAt: since, bundles: [row] }
  await client.create(ClusterReport, build(ClusterReport, 'store-2', { spec }))
  const release = (name: string) => ({ bundles: [{ name, generation: 1, set: digestOf('s'), placement: 'p' }] })
  await client.create(Release, build(Release, 'default/shop-g1', { spec: release('shop') }))
  await client.create(Release, build(Release, 'default/till-g1', { spec: release('till') }))
  const rings = [{ name: 'canary', concurrency: 1 }]
  await client.create(
    Rollout,
    build(Rollout, 'default/shop-g1', { spec: { release: 'shop-g1', rings, paused: false } }),
  )
  const program = new Command('flotilla')
  program.command('get').argument('<kind>').option('-l, --selector <labels>')
  program.command('drift').command('show').argument('<cluster>')
  program.command('rollback').argument('<bundle>').option('--to-release <release>').option('--ring <ring>')
  const input = { connect: async () => connection, cacheFile: '/dev/null/state/completion.json' }
  const of = async (words: string) => (await completeWords(program, words.split(' '), input)).trim()
  assert.equal(await of('get clusters -l region='), 'region=north\nregion=south')
  assert.equal(await of('drift show '), 'store-2')
  assert.equal(await of('rollback shop --to-release '), 'shop-g1')
  assert.equal(await of('rollback shop --ring '), 'canary')
  assert.equal(await of('get rolloutp'), 'rolloutplans')
})
