import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command, Option } from 'commander'
import { complete } from './completion.ts'

const LIVE = {
  kinds: async () => ['bundles', 'clusters'],
  names: async (kind: string) => (kind === 'clusters' ? ['store-1', 'store-2'] : []),
}

function tree(): Command {
  const program = new Command('flotilla').option('--kubeconfig <file>')
  program
    .command('get')
    .argument('<kind>')
    .argument('[names...]')
    .addOption(new Option('-o, --output <format>').choices(['wide', 'yaml']))
    .option('-w, --watch')
  const cluster = program.command('cluster')
  cluster.command('accept').argument('<name>').option('--yes')
  cluster.command('add').argument('[name]')
  return program
}

const TABLE: readonly (readonly [words: string, candidates: string])[] = [
  ['', 'cluster get'],
  ['g', 'get'],
  ['get ', 'bundles clusters'],
  ['get c', 'clusters'],
  ['get clusters ', 'store-1 store-2'],
  ['get clusters store-1 ', 'store-1 store-2'],
  ['get clusters -o ', 'wide yaml'],
  ['get -o wide clusters ', 'store-1 store-2'],
  ['get --watch clusters ', 'store-1 store-2'],
  ['get clusters --o', '--output'],
  ['--kubeconfig x get --', '--kubeconfig --output --watch'],
  ['--kubeconfig ', ''],
  ['cluster ', 'accept add'],
  ['cluster accept ', 'store-1 store-2'],
  ['cluster add ', ''],
  ['nothing ', ''],
]

test('candidates follow the tree, its flags and what the hub has', async () => {
  for (const [words, candidates] of TABLE) {
    assert.equal((await complete(tree(), words.split(' '), LIVE)).join(' '), candidates, JSON.stringify(words))
  }
})
