/**
 * A hub on a kube-apiserver with the rights of docs/access.md and no more: a cluster joins, runs a bundle, leaves and
 * is forgotten, and nothing was denied.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { readYamlDocument } from '../../src/yaml/read/read-yaml.ts'
import { eventually, FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import { contentOf, startEmbeddedSite } from './keep-world.ts'

const ACCESS = resolve(import.meta.dirname, '../../docs/access.md')
const RBAC = '/apis/rbac.authorization.k8s.io/v1'

/** The role as the page has it. */
function roleOfTheDocs(): { readonly metadata: { readonly name: string } } {
  const text = /```yaml\n(apiVersion: rbac[\s\S]*?)```/.exec(readFileSync(ACCESS, 'utf8'))?.[1] ?? ''
  const role = readYamlDocument(text).value
  return role as { readonly metadata: { readonly name: string } }
}

test('the rights that are written down are enough, also to forget a cluster that left', async (t) => {
  const folder = temporaryFolder(t)
  await using home = await startControlPlane()
  const role = roleOfTheDocs()
  assert.equal((await home.call('POST', `${RBAC}/clusterroles`, role)).status, 201)
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'hub' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role.metadata.name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'the-hub' }],
  }
  assert.equal((await home.call('POST', `${RBAC}/clusterrolebindings`, binding)).status, 201)
  const own = ['--kubeconfig', home.writeKubeconfig('the-hub')]
  const hub = startFlotilla(t, ['hub', 'run', '--data', join(folder, 'hub'), ...own, ...FREE])
  await hub.says(/^flotilla hub ready/)
  const flotilla = async (...args: string[]) => {
    const ended = await runFlotilla(t, [...args, '--kubeconfig', home.kubeconfigPath])
    assert.equal(ended.code, 0, `flotilla ${args.join(' ')}: ${ended.stderr}`)
    return ended.stdout
  }
  const added = await flotilla('cluster', 'add', 'store-1', '-l', 'tier=store', '-o', 'json')
  const { code } = JSON.parse(added) as { code: string }
  const site = await startEmbeddedSite(t, folder, 'store-1')
  const agent = startFlotilla(t, [
    'agent',
    'run',
    '--join',
    code,
    '--kubeconfig',
    site,
    '--data',
    join(folder, 'agent'),
  ])
  writeFileSync(join(folder, 'content.yaml'), contentOf('here', ''))
  await flotilla('apply', '-f', join(folder, 'content.yaml'))
  const stateOf = () => flotilla('get', 'clusters', '-o', 'jsonpath={.items[*].status.state}')
  await eventually('the cluster becoming Ready', async () => ((await stateOf()) === 'Ready' ? true : undefined))
  await flotilla('cluster', 'decommission', 'store-1', '--remove', '--forget-after', '0s', '--yes')
  await eventually('the cluster being forgotten', async () => {
    const { text } = await home.call('GET', '/apis/flotilla.dev/v1alpha1/clusters')
    return (JSON.parse(text) as { items: unknown[] }).items.length === 0 ? true : undefined
  })
  assert.equal((await agent.ended).code, 0, 'it was told')
  const { code: exit, stderr } = await hub.stop()
  assert.equal(exit, 0, stderr)
  const denied = stderr
    .split('\n')
    .filter((line) => /forbidden|cannot (get|list|watch|create|update|patch|delete)/i.test(line))
  assert.deepEqual(denied, [])
})
