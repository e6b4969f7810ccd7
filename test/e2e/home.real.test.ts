/** The same thin flow with the hub's home on a real kube-apiserver and a real control plane as the cluster. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { eventually, FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const CONTENT = `apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata:
  name: stores
spec:
  clusterSelector:
    matchLabels:
      tier: store
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata:
  name: shop
spec:
  placement: stores
  manifests: |
    apiVersion: v1
    kind: Namespace
    metadata:
      name: shop
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: shop
      namespace: shop
    spec:
      replicas: 2
      selector:
        matchLabels:
          app: shop
      template:
        metadata:
          labels:
            app: shop
        spec:
          containers:
            - name: shop
              image: registry.example/shop:1.0
`

interface Deployment {
  metadata: { managedFields: { manager: string; operation: string }[] }
  status?: { availableReplicas?: number; conditions?: { type: string; status: string }[] }
}

test('a bundle reaches a real cluster through a hub whose home is a real kube-apiserver', async (t) => {
  const folder = temporaryFolder(t)
  await using home = await startControlPlane()
  await using spoke = await startControlPlane({ controllers: true, nodes: 1 })

  const data = join(folder, 'hub')
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, '--kubeconfig', home.kubeconfigPath, ...FREE])
  const [, api, kubeconfig = ''] = await hub.says(/^flotilla hub ready: api (\S+) .* kubeconfig (\S+)\n/)
  assert.equal(api, home.url)
  const flotilla = async (...args: string[]) => {
    const ended = await runFlotilla(t, [...args, '--kubeconfig', kubeconfig])
    assert.equal(ended.code, 0, `flotilla ${args.join(' ')}: ${ended.stderr}`)
    return ended.stdout
  }

  const added = JSON.parse(await flotilla('cluster', 'add', 'store-1', '--label', 'tier=store', '-o', 'json')) as {
    code: string
    command: string
  }
  assert.equal(
    added.command,
    `flotilla agent run --join ${added.code} --kubeconfig ~/.kube/config --data ./agent-store-1`,
  )
  const agentData = ['--kubeconfig', spoke.kubeconfigPath, '--data', join(folder, 'agent')]
  const agent = startFlotilla(t, ['agent', 'run', '--join', added.code, ...agentData])

  writeFileSync(join(folder, 'content.yaml'), CONTENT)
  assert.equal(
    await flotilla('apply', '-f', join(folder, 'content.yaml')),
    'placement.flotilla.dev/stores created\nbundle.flotilla.dev/shop created\n',
  )

  const deployment = await eventually('the Deployment becoming Available', async () => {
    const { status, text } = await spoke.call('GET', '/apis/apps/v1/namespaces/shop/deployments/shop')
    if (status !== 200) return undefined
    const found = JSON.parse(text) as Deployment
    const isAvailable = found.status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True')
    return isAvailable && found.status?.availableReplicas === 2 ? found : undefined
  })
  assert.ok(
    deployment.metadata.managedFields.some(
      ({ manager, operation }) => manager === 'flotilla:default/shop' && operation === 'Apply',
    ),
  )
  await eventually('the cluster becoming Ready', async () => {
    const state = await flotilla('get', 'cluster', 'store-1', '-o', 'jsonpath={.status.state} {.status.bundles.ready}')
    return state === 'Ready 1' ? state : undefined
  })
  assert.equal(await flotilla('get', 'rollouts', '-o', 'jsonpath={.items[*].status.phase}'), 'Completed')
  assert.match(
    await flotilla('get', 'clusters'),
    /^NAME +STATE +SINCE +BADGES +READY +BUNDLES +AGE\nstore-1 +Ready +\w+ +<none> +1 +1 +\w+\n/,
  )
  assert.match(await flotilla('get', 'clusters', '-o', 'wide'), /^store-1 .* v1\.\d+/m)

  assert.equal((await agent.stop()).code, 0)
  const ended = await hub.stop()
  assert.equal(ended.code, 0, ended.stderr)
  assert.doesNotMatch(ended.stderr, /"level":50/)
})
