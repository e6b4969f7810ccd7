/**
 * The lab of a hub and a spoke of Open Cluster Management, as it is typed: `clusteradm` is a link to the CLI, and a real
 * control plane is the spoke.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { startFleetHub } from './fleet-flow.ts'
import { temporaryFolder } from './flotilla-process.ts'

const execute = promisify(execFile)
const LAB = join(import.meta.dirname, '../labs/000-lab1-manifestwork-nginx.yaml')

let plane: Awaited<ReturnType<typeof startControlPlane>>
before(async () => {
  plane = await startControlPlane()
})
after(() => plane.stop())

test('init, get token, join, accept and unjoin of a spoke, and the work of the lab', async (t) => {
  const folder = temporaryFolder(t)
  const program = join(folder, 'clusteradm')
  symlinkSync(join(import.meta.dirname, '../../bin/flotilla'), program)
  const { kubeconfig, kubectl } = await startFleetHub(t)
  const run = async (config: string, ...args: string[]) => {
    const env = { ...process.env, KUBECONFIG: config, FLOTILLA_STATE_DIR: join(folder, 'state') }
    return (await execute(program, args, { env, timeout: 110_000 })).stdout
  }
  const hub = (...args: string[]) => run(kubeconfig, ...args)
  const spoke = (...args: string[]) => run(plane.kubeconfigPath, ...args)

  assert.match(await hub('init', '--wait'), /initialized successfully/)
  const [, token = '', url = ''] =
    /^token=(\S+)\n[^]*--hub-apiserver (\S+) --cluster-name/.exec(await hub('get', 'token')) ?? []
  const join1 = ['join', '--hub-token', token, '--hub-apiserver', url, '--cluster-name', 'fleet-spoke', '--wait']
  const joined = await spoke(...join1, '--force-internal-endpoint-lookup')
  t.after(() => spoke('unjoin', '--cluster-name', 'fleet-spoke').catch(() => ''))
  assert.match(joined, / {4}clusteradm accept --clusters fleet-spoke\n/)
  assert.match(await hub('get', 'clusters', '-o', 'table'), /fleet-spoke +false/)
  await assert.rejects(spoke(...join1), /already runs with the data directory/)

  assert.match(
    await hub('accept', '--clusters', 'fleet-spoke', '--wait'),
    /fleet-spoke has joined the Hub successfully/,
  )
  for (const type of ['ManagedClusterJoined', 'ManagedClusterConditionAvailable']) {
    await kubectl('wait', 'managedcluster/fleet-spoke', `--for=condition=${type}`, '--timeout=100s')
  }
  assert.match(await kubectl('get', 'managedclusters'), /fleet-spoke +true +True +True/)
  await kubectl('wait', '--for=create', 'namespace/fleet-spoke', '--timeout=100s')
  await kubectl('apply', '-f', LAB)
  await kubectl('wait', '-n', 'fleet-spoke', 'manifestwork/lab-nginx', '--for=condition=Available', '--timeout=100s')
  assert.match(
    await hub('get', 'works', '--clusters', 'fleet-spoke', '-o', 'table'),
    /lab-nginx +fleet-spoke +1 +True +True/,
  )
  const site = ['--kubeconfig', plane.kubeconfigPath, 'get', 'deployment', '-n', 'default', '-o', 'name']
  const deployments = async () => (await execute(needBinary('kubectl'), site, { timeout: 60_000 })).stdout
  assert.match(await deployments(), /nginx-fleet-lab/)

  assert.match(await spoke('unjoin', '--cluster-name', 'fleet-spoke'), /everything it applied stays/)
  await assert.rejects(spoke('unjoin', '--cluster-name', 'fleet-spoke'), /no agent of cluster "fleet-spoke" runs/)
  assert.match(await deployments(), /nginx-fleet-lab/)
})
