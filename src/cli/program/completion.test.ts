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
const VALUES: Readonly<Record<string, readonly string[]>> = {
  rings: ['canary', 'rest'],
  labels: ['region=north', 'region=south'],
  driftedClusters: ['store-2'],
  'releasesOf shop': ['shop-g1', 'shop-g2'],
}
const LIVE = {
  kinds: async () => ['bundles', 'clusters'],
  names: async (kind: string) => NAMES[kind] ?? [],
  values: async (what: string) => VALUES[what] ?? [],
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
  program.command('release').argument('<bundle>').option('--to-release <release>').option('--ring <ring>')
  program.command('events').option('--for <kind/name>')
  program.command('list').option('--state <states>').option('-l, --selector <labels>').option('--for <duration>')
  program.command('drift').command('show').argument('<cluster>')
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
  ['', 'cluster drift events freeze get guard list release rollback rollout'],
  ['g', 'get guard'],
  ['get ', 'bundles clusters'],
  ['get c', 'clusters'],
  ['get clusters ', 'store-1 store-2'],
  ['get clusters store-1 ', 'store-1 store-2'],
  ['get clusters -o ', 'wide yaml'],
  ['get -o wide clusters ', 'store-1 store-2'],
  ['get --watch clusters ', 'store-1 store-2'],
  ['get clusters --o', '--output'],
  ['--kubeconfig x get --', '--help --kubeconfig --output --watch'],
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
  // D38
  ['-', '--help --kubeconfig'],
  ['release shop --ring ', 'canary rest'],
  ['release shop --to-release ', 'shop-g1 shop-g2'],
  ['list --state F', 'Failed'],
  ['list --state Failed,O', 'Failed,Offline'],
  ['list -l region=s', 'region=south'],
  ['list -l a=b,region=n', 'a=b,region=north'],
  ['list --for ', ''],
  ['events --for b', 'bundles/'],
  ['events --for bundles/', 'bundles/shop'],
  ['drift show ', 'store-2'],
  ['nothing ', ''],
]

test('candidates follow the tree, its flags and what the hub has', async () => {
  for (const [words, candidates] of TABLE) {
    assert.equal((await complete(tree(), words.split(' '), LIVE)).join(' '), candidates, JSON.stringify(words))
  }
})
