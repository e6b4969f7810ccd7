/**
 * The flow of a GitRepo, applied with kubectl, from a git commit to the objects in a cluster; the same on both homes.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createTestRepository } from '../../src/testing/fixtures/git-repository.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'

const execute = promisify(execFile)

const gitRepo = (repo: string) => `kind: ClusterGroup
apiVersion: fleet.cattle.io/v1alpha1
metadata:
  name: shops
  namespace: fleet-default
spec:
  selector:
    matchLabels:
      tier: shop
---
kind: GitRepo
apiVersion: fleet.cattle.io/v1alpha1
metadata:
  name: sample
  namespace: fleet-default
spec:
  repo: ${repo}
  branch: main
  paths:
  - apps
  targets:
  - name: shops
    clusterGroup: shops
`

const FILES = {
  'apps/greeting/fleet.yaml':
    'defaultNamespace: greetings\ntargetCustomizations:\n- name: prod\n  clusterSelector:\n    matchLabels:\n      env: prod\n  yaml:\n    overlays:\n    - prod\n',
  'apps/greeting/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: greeting\ndata:\n  text: hello\n',
  'apps/greeting/overlays/prod/cm_patch.yaml': 'data:\n  text: good morning\n',
}

/** Starts a hub and gives kubectl for it. */
export async function startFleetHub(t: Cleanup, ...more: readonly string[]) {
  const hub = startFlotilla(t, ['hub', 'run', '--data', join(temporaryFolder(t), 'hub'), ...FREE, ...more])
  const [, kubeconfig = ''] = await hub.says(/^flotilla hub ready: .* kubeconfig (\S+)\n/)
  const folder = temporaryFolder(t)
  const kubectl = async (...args: string[]): Promise<string> => {
    const env = { ...process.env, HOME: folder, KUBECONFIG: kubeconfig }
    return (await execute(needBinary('kubectl'), args, { env, timeout: 120_000 })).stdout
  }
  return { hub, kubeconfig, kubectl }
}

/** A cluster for an agent. */
export interface Site {
  readonly kubeconfig: string
  kubectl(...args: string[]): Promise<string>
}

/** Applies a GitRepo to a hub started with these arguments, and looks for its objects on the site. */
export async function fleetFlow(t: Cleanup, hub: readonly string[], site: Site): Promise<Site> {
  const repository = createTestRepository()
  t.after(() => repository.remove())
  const commit = repository.commit(FILES, { branch: 'main' })
  const { kubeconfig, kubectl } = await startFleetHub(
    t,
    '--dialects',
    'fleet',
    '--source-paths',
    repository.path,
    ...hub,
  )
  const added = await runFlotilla(t, [
    'cluster',
    'add',
    'shop-1',
    '--label',
    'tier=shop',
    '--label',
    'env=prod',
    '-o',
    'json',
    '--kubeconfig',
    kubeconfig,
  ])
  const { code } = JSON.parse(added.stdout) as { code: string }
  startFlotilla(t, [
    'agent',
    'run',
    '--join',
    code,
    '--kubeconfig',
    site.kubeconfig,
    '--data',
    join(temporaryFolder(t), 'agent'),
  ])

  const file = join(temporaryFolder(t), 'gitrepo.yaml')
  writeFileSync(file, gitRepo(repository.path))
  await kubectl('apply', '-f', file)
  await kubectl('wait', '-n', 'fleet-default', 'gitrepo/sample', '--for=condition=Ready', '--timeout=110s')
  assert.equal(
    await site.kubectl('get', 'configmap', '-n', 'greetings', 'greeting', '-o', 'jsonpath={.data.text}'),
    'good morning',
  )

  const table = await kubectl('get', 'gitrepo,bundles.fleet.cattle.io,clustergroup', '-A')
  const rows = table
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(/ {2,}/))
  assert.deepEqual(rows[0], ['NAMESPACE', 'NAME', 'REPO', 'COMMIT', 'BUNDLEDEPLOYMENTS-READY', 'STATUS'])
  assert.deepEqual(rows[1], [
    'fleet-default',
    'gitrepo.fleet.cattle.io/sample',
    repository.path,
    commit,
    '1/1',
    '1 bundle ready on 1 clusters.',
  ])
  assert.deepEqual(rows[2], ['NAMESPACE', 'NAME', 'BUNDLEDEPLOYMENTS-READY', 'STATUS'])
  assert.deepEqual(rows[3], [
    'fleet-default',
    'bundle.fleet.cattle.io/sample-apps-greeting',
    '1/1',
    'Ready on every cluster.',
  ])
  assert.deepEqual(rows[4], ['NAMESPACE', 'NAME', 'CLUSTERS-READY', 'BUNDLES-READY', 'STATUS'])
  assert.equal(rows[5]?.[1], 'clustergroup.fleet.cattle.io/shops')
  return { kubeconfig, kubectl }
}
