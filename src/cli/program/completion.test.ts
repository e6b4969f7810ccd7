import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Argument, Command, Option } from 'commander'
import { complete } from './completion.ts'

const NAMES: Readonly<Record<string, readonly string[]>> = {
  clusters: ['store-1', 'store-2'],
  bundles: ['shop'],
  rollouts: ['shop-g1'],
  clusterwindows: ['audit'],
  windows: ['lunch'],
}
const LIVE = {
  kinds: async () => ['bundles', 'clusters'],
  names: async (kind: string) => NAMES[kind] ?? [],
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
  program.command('rollback').argument('<bundle|rollout>').option('--cluster <cluster>').option('--reason <text>')
  program.command('rollout').command('watch').argument('<rollout>')
  const freeze = program.command('freeze')
  freeze.command('create').argument('<name>')
  freeze.command('lift').argument('<name>')
  const guard = program.command('guard')
  guard
    .command('release')
    .addArgument(new Argument('<kind>').choices(['placement', 'rollout']))
    .argument('<name>')
  return program
}

const TABLE: readonly (readonly [words: string, candidates: string])[] = [
  ['', 'cluster freeze get guard rollback rollout'],
  ['g', 'get guard'],
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
  ['rollback ', 'shop shop-g1'],
  ['rollback shop --cluster ', 'store-1 store-2'],
  ['rollback shop --reason ', ''],
  ['rollout watch ', 'shop-g1'],
  ['freeze lift ', 'audit lunch'],
  ['freeze lift ""', 'audit lunch'],
  ['freeze create ', ''],
  ['guard release ', 'placement rollout'],
  ['guard release rollout ', 'shop-g1'],
  ['nothing ', ''],
]

test('candidates follow the tree, its flags and what the hub has', async () => {
  for (const [words, candidates] of TABLE) {
    assert.equal((await complete(tree(), words.split(' '), LIVE)).join(' '), candidates, JSON.stringify(words))
  }
})
