/**
 * The lab of three stores, typed with kubectl as its course has it: clusters registered by kubeconfig, labelled into
 * rings, one frozen. The hub runs the agents. The only set-up besides the lab is `flotilla project add`.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { serveGit, startContentServer } from '../../src/testing/fixtures/content-server.ts'
import { createTestRepository } from '../../src/testing/fixtures/git-repository.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { runFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'
import { startFleetHub } from './fleet-flow.ts'
import { settles } from './pushed-sites.ts'

const execute = promisify(execFile)

const LAB = resolve(import.meta.dirname, '../labs/three-stores')
const FILES = [
  'baseline/fleet.yaml',
  'baseline/config.yaml',
  'baseline/namespace.yaml',
  'baseline/overlays/constrained-network/config_patch.yaml',
] as const
export const STORES = ['store-budapest', 'store-prague', 'store-lisbon'] as const
type Store = (typeof STORES)[number]

const CENTRAL = 'registry.central.example/platform'
const EDGE = 'registry.edge.local/platform'

/** A workload that is not ready before its status says so: no controller of Deployments runs in these clusters. */
const TILL = `apiVersion: apps/v1
kind: Deployment
metadata: { name: till, namespace: store-platform }
spec:
  replicas: 1
  selector: { matchLabels: { app: till } }
  template:
    metadata: { labels: { app: till } }
    spec: { containers: [{ name: till, image: registry.example/till:1 }] }
`
const AVAILABLE = {
  observedGeneration: 1,
  replicas: 1,
  updatedReplicas: 1,
  readyReplicas: 1,
  availableReplicas: 1,
}

/** Runs the lab; `kubeconfigs` are those of the three stores, in the order of STORES. */
export async function threeStores(t: Cleanup, kubeconfigs: readonly string[]): Promise<void> {
  const folder = temporaryFolder(t)
  const repository = createTestRepository()
  t.after(() => repository.remove())
  const git = await startContentServer([serveGit(repository.path)], { plain: true })
  t.after(() => git.close())
  let files: Record<string, string> = Object.fromEntries(
    FILES.map((file) => [file, readFileSync(join(LAB, 'repo', file), 'utf8')]),
  )
  const commit = (changes: Readonly<Record<string, string>>): void => {
    files = { ...files, ...changes }
    repository.commit(files, { branch: 'main' })
  }
  const release = (version: string) => ({
    'baseline/config.yaml': readFileSync(join(LAB, 'repo/baseline/config.yaml'), 'utf8').replace('2026.05.25', version),
  })
  commit({})
  const { kubectl, kubeconfig } = await startFleetHub(t, '--dialects', 'fleet', '--push-hosts', '127.0.0.1')
  const mirrors = `- { from: "https://github.com/YOUR_ORG/edge-fleet-lab.git", to: "${git.url}/repo.git" }\n`
  await kubectl(
    'create',
    'configmap',
    'source-mirrors',
    '-n',
    'flotilla-system',
    `--from-literal=mirrors.yaml=${mirrors}`,
  )
  const site = async (store: Store, ...args: string[]): Promise<string> => {
    const words = ['--kubeconfig', join(folder, store), ...args]
    return (await execute(needBinary('kubectl'), words, { timeout: 60_000 })).stdout
  }
  const config = async (store: Store) => {
    const at = 'jsonpath={.data.release} {.data.registry}'
    return await site(store, 'get', 'configmap', '-n', 'store-platform', 'store-baseline', '-o', at)
  }
  const has = async (expected: Readonly<Record<Store, string>>) =>
    await settles(async () => {
      const found = await Promise.all(STORES.map(async (store) => [store, await config(store)] as const))
      assert.deepEqual(Object.fromEntries(found), expected)
    })
  const fleetGet = async (...args: string[]) => await kubectl('-n', 'clusters', 'get', ...args)

  // Three clusters by their kubeconfig.
  await kubectl('create', 'namespace', 'clusters')
  const added = await runFlotilla(t, [
    'project',
    'add',
    'stores',
    '--namespace',
    'clusters',
    '--kubeconfig',
    kubeconfig,
  ])
  assert.equal(added.code, 0, added.stderr)
  for (const [at, store] of STORES.entries()) {
    writeFileSync(join(folder, store), kubeconfigs[at]!, { mode: 0o600 })
    const from = `--from-file=value=${join(folder, store)}`
    await kubectl('-n', 'clusters', 'create', 'secret', 'generic', `${store}-kubeconfig`, from)
  }
  await kubectl('apply', '-f', join(LAB, 'stores.yaml'))
  const labelled = await fleetGet('clusters.fleet.cattle.io', '--show-labels')
  assert.match(labelled, /store-budapest .*country=hu.*rollout-ring=retail-region-1/)

  // The overlay is for Budapest alone.
  await kubectl('apply', '-f', join(LAB, 'gitrepo-example.yaml'))
  await has({
    'store-budapest': `2026.05.25 ${EDGE}`,
    'store-prague': `2026.05.25 ${CENTRAL}`,
    'store-lisbon': `2026.05.25 ${CENTRAL}`,
  })
  await settles(async () => {
    assert.match(await fleetGet('gitrepos.fleet.cattle.io'), /store-baseline .* 3\/3 +1 bundle ready on 3 clusters/)
    assert.match(await fleetGet('bundles.fleet.cattle.io'), /store-baseline-baseline +3\/3/)
    for (const store of STORES)
      assert.match(await fleetGet('clusters.fleet.cattle.io', store, '--no-headers'), new RegExp(`${store} +1/1 `))
  })

  // A second release stays in the first partition while Budapest is not ready.
  commit({ ...release('2026.06.01'), 'baseline/till.yaml': TILL })
  await settles(async () => assert.equal(await config('store-budapest'), `2026.06.01 ${EDGE}`))
  const prague = await site('store-prague', 'get', 'configmap', '-n', 'store-platform', 'store-baseline', '-o', 'yaml')
  await kubectl(
    '-n',
    'clusters',
    'label',
    'clusters.fleet.cattle.io',
    'store-prague',
    'rollout-ring=all',
    '--overwrite',
  )
  await settles(async () => {
    const ours = await kubectl('get', 'clusters.flotilla.dev', 'store-prague', '--show-labels')
    assert.match(ours, /rollout-ring=all/)
    assert.match(await fleetGet('bundles.fleet.cattle.io', '--no-headers'), /store-baseline-baseline +[01]\/3/)
  })
  const uid = /^ {2}uid: \S+$/m
  const still = await site('store-prague', 'get', 'configmap', '-n', 'store-platform', 'store-baseline', '-o', 'yaml')
  assert.equal(uid.exec(still)?.[0], uid.exec(prague)?.[0], 'relabelling removes nothing')
  assert.match(still, /release: 2026\.05\.25/)
  assert.equal(await config('store-lisbon'), `2026.05.25 ${CENTRAL}`)
  const available = async (store: Store) =>
    await settles(async () => {
      const body = JSON.stringify({ status: AVAILABLE })
      const words = ['patch', 'deployment', '-n', 'store-platform', 'till', '--subresource=status', '--type=merge']
      await site(store, ...words, '-p', body)
    })
  await Promise.all(STORES.map(available))
  await has({
    'store-budapest': `2026.06.01 ${EDGE}`,
    'store-prague': `2026.06.01 ${CENTRAL}`,
    'store-lisbon': `2026.06.01 ${CENTRAL}`,
  })

  // A frozen store is held and shown as held. Its partition has no other cluster, so that all later partitions wait.
  const label = async (value: string) =>
    await kubectl('-n', 'clusters', 'label', 'clusters.fleet.cattle.io', 'store-budapest', value, '--overwrite')
  await label('maintenance=frozen')
  const frozen = /The cluster is frozen by its label maintenance=frozen/
  await settles(async () => {
    assert.match(await kubectl('get', 'clusters.flotilla.dev', 'store-budapest', '--no-headers'), /Frozen/)
    assert.match(await fleetGet('clusters.fleet.cattle.io', 'store-budapest', '--no-headers'), frozen)
  })
  commit(release('2026.07.01'))
  await settles(async () => {
    const held = 'jsonpath={.items[*].status.conditions[?(@.type=="Held")].message}'
    const message = await fleetGet('rollouts.flotilla.dev', '-o', held)
    assert.match(message, /No cluster of ring "retail-region-1" can change now: store-budapest/)
    assert.match(message, frozen)
  })
  await has({
    'store-budapest': `2026.06.01 ${EDGE}`,
    'store-prague': `2026.06.01 ${CENTRAL}`,
    'store-lisbon': `2026.06.01 ${CENTRAL}`,
  })
  await label('maintenance-')
  await has({
    'store-budapest': `2026.07.01 ${EDGE}`,
    'store-prague': `2026.07.01 ${CENTRAL}`,
    'store-lisbon': `2026.07.01 ${CENTRAL}`,
  })

  // The first partition passed before the second one, in each rollout.
  const rollouts = JSON.parse(await fleetGet('rollouts.flotilla.dev', '-o', 'json')) as {
    items: { metadata: { name: string }; status?: { rings?: { name: string; passedAt?: string }[] } }[]
  }
  for (const { metadata, status } of rollouts.items) {
    const passed = (status?.rings ?? []).flatMap(({ passedAt }) => passedAt ?? [])
    assert.deepEqual(passed, passed.toSorted(), `partitions of ${metadata.name} in order`)
  }
}
