/** The guards of drops and of growth on a hub whose home is a real kube-apiserver, with the rights of the hub's parts. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { buildCluster } from '../../src/testing/fixtures/builders.ts'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { eventually, FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const content = (tier: string) => `apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: stores}
spec:
  clusterSelector: {matchLabels: {tier: ${tier}}}
  guard: {maxDropped: 1}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: shop}
spec:
  placement: stores
  guard: {maxAdded: 0}
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: shop, namespace: default}
    data: {text: hello}
`

test('a drop and a growth wait on a kube-apiserver home until a person releases exactly this change', async (t) => {
  const folder = temporaryFolder(t)
  await using home = await startControlPlane()
  const data = join(folder, 'hub')
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, '--kubeconfig', home.kubeconfigPath, ...FREE])
  const [, kubeconfig = ''] = await hub.says(/^flotilla hub ready: .* kubeconfig (\S+)\n/)
  const flotilla = async (...args: string[]) => {
    const ended = await runFlotilla(t, [...args, '--kubeconfig', kubeconfig])
    assert.equal(ended.code, 0, `flotilla ${args.join(' ')}: ${ended.stderr}`)
    return ended.stdout
  }
  const apply = async (text: string) => {
    writeFileSync(join(folder, 'content.yaml'), text)
    await flotilla('apply', '-f', join(folder, 'content.yaml'))
  }
  const heldKinds = async () =>
    (JSON.parse(await flotilla('guard', 'list', '-o', 'json')) as { kind: string; token: string }[]).map(
      ({ kind, token }) => `${kind} ${token.replace(/-[0-9a-f]{8}$/, '')}`,
    )
  const clusters = ['store-1', 'store-2'].map((name) => buildCluster(name, { labels: { tier: 'store' } }))
  await apply(clusters.map((cluster) => JSON.stringify(cluster)).join('\n---\n'))
  await apply(content('store'))
  await eventually('the growth being held', async () => {
    const held = await heldKinds()
    return held.join() === 'bundle g1-grow' ? held : undefined
  })
  assert.equal(await flotilla('get', 'releases', '-o', 'jsonpath={.items[*].metadata.name}'), '')
  await flotilla('guard', 'release', 'bundle', 'shop', '--yes')
  await eventually('the Release', async () => {
    const found = await flotilla('get', 'releases', '-o', 'jsonpath={.items[*].metadata.name}')
    return found === 'shop-g1' ? found : undefined
  })
  await apply(content('stroe'))
  await eventually('the drop being held', async () => {
    const held = await heldKinds()
    return held[0] === 'placement g2-drop2' ? held : undefined
  })
  assert.equal(await flotilla('get', 'placement', 'stores', '-o', 'jsonpath={.status.selected}'), '2')
  await flotilla('guard', 'release', 'placement', 'stores', '--yes')
  await eventually('the Placement selecting nothing', async () => {
    const found = await flotilla('get', 'placement', 'stores', '-o', 'jsonpath={.status.selected}')
    return found === '0' ? found : undefined
  })
  assert.deepEqual(await heldKinds(), [])
  assert.equal((await hub.stop()).code, 0)
})
