import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { Cluster } from '../../kinds/native/cluster.ts'
import { buildCluster } from '../../testing/fixtures/builders.ts'
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
