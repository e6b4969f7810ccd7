/** The real kubectl against a running demo: what people already know works here too. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { needBinary } from '../../src/testing/testenv.ts'
import { runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const execute = promisify(execFile)
const BIN = join(import.meta.dirname, '../../bin')

const bundleOf = (text: string) => `apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata:
  name: hello
spec:
  placement: stores
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: hello
      namespace: default
    data:
      text: ${text}
`

test('kubectl gets, applies, waits, explains and deletes', async (t) => {
  const folder = temporaryFolder(t)
  const demo = startFlotilla(t, ['demo', '--clusters', '3'])
  const [, kubeconfig = ''] = await demo.says(/kubeconfig +(\S+)\n/)
  const kubectl = async (...args: string[]) => {
    const env = { ...process.env, HOME: folder, KUBECONFIG: kubeconfig }
    const { stdout, stderr } = await execute(needBinary('kubectl'), args, { env, timeout: 60_000 })
    assert.equal(stderr, '', `kubectl ${args.join(' ')}`)
    return stdout
  }

  const plugin = async (...args: string[]) => {
    const env = { ...process.env, HOME: folder, KUBECONFIG: kubeconfig, PATH: `${BIN}:${process.env['PATH']}` }
    return (await execute(needBinary('kubectl'), args, { env, timeout: 60_000 })).stdout
  }
  assert.match(await plugin('flotilla', 'version'), /^flotilla \d/)
  assert.equal(await plugin('__complete', 'flotilla', 'get', 'clusters', 'store-01', 'store-02'), 'store-02\n:4\n')
  assert.match(await plugin('flotilla', 'check', 'store-01', '--wait', '60s'), /0 failed, \d+ warnings?, \d+ passed\n$/)

  const clusters = ['store-01', 'store-02', 'store-03'].map((name) => `clusters.flotilla.dev/${name}`)
  // What the demo brings must be through, or states change between two calls.
  await kubectl('wait', 'bundle/baseline', 'bundle/shop', '--for=condition=Ready', '--timeout=60s')
  await kubectl('wait', ...clusters, '--for=jsonpath={.status.state}=Ready', '--timeout=60s')
  // Ages move between two calls, and nothing is <none> here and blank there; everything else must be the same text.
  const still = (text: string) => text.replace(/<none>|\b(\d+[smhd])+\b/g, '').replace(/ +/g, ' ')
  const flotilla = await runFlotilla(t, ['get', 'clusters', '--kubeconfig', kubeconfig])
  assert.equal(still(flotilla.stdout), still(await kubectl('get', 'clusters')))
  assert.match(
    await kubectl('get', 'fcl', '-o', 'wide'),
    /^NAME +STATE +SINCE +BADGES +READY +BUNDLES +AGE +VERSION .*ACCEPTED +MESSAGE/,
  )

  const file = join(folder, 'bundle.yaml')
  writeFileSync(file, bundleOf('one'))
  assert.equal(await kubectl('apply', '-f', file), 'bundle.flotilla.dev/hello created\n')
  await kubectl('wait', 'bundle/hello', '--for=condition=Ready', '--timeout=60s')
  assert.equal(await kubectl('get', 'rollout', 'hello-g1', '-o', 'jsonpath={.status.counts.ready}'), '3')

  writeFileSync(file, bundleOf('two'))
  assert.equal(await kubectl('apply', '-f', file), 'bundle.flotilla.dev/hello configured\n')
  await kubectl('wait', 'bundle/hello', '--for=jsonpath={.status.release}=hello-g2', '--timeout=60s')
  await kubectl('wait', 'bundle/hello', '--for=condition=Ready', '--timeout=60s')
  assert.equal(await kubectl('apply', '-f', file), 'bundle.flotilla.dev/hello unchanged\n')
  assert.equal(
    await kubectl('apply', '--server-side', '--force-conflicts', '-f', file),
    'bundle.flotilla.dev/hello serverside-applied\n',
  )

  assert.match(await kubectl('explain', 'bundle.spec.placement'), /Name of the Placement in this namespace/)
  await assert.rejects(
    kubectl('patch', 'bundle', 'hello', '--type=merge', '-p', '{"spec":{"placement":7}}'),
    /spec\.placement: Invalid value: "integer"/,
  )
  assert.equal(
    await kubectl('delete', 'bundle', 'hello'),
    'bundle.flotilla.dev "hello" deleted from default namespace\n',
  )
  assert.equal((await demo.stop()).code, 0)
})
