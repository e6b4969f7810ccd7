/** The rows of `view.flotilla.dev` through a real kube-apiserver, with the real kubectl. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { everythingAllowed } from '../../src/plan/projects/project-of.ts'
import { eventually, FREE, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const execute = promisify(execFile)
const OWN = '/apis/flotilla.dev/v1alpha1'
const VIEWS = '/apis/view.flotilla.dev/v1alpha1'
const API_SERVICE = '/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.view.flotilla.dev'

async function made(home: ControlPlane, path: string, kind: string, object: object): Promise<void> {
  const { status, text } = await home.call('POST', path, { apiVersion: 'flotilla.dev/v1alpha1', kind, ...object })
  assert.equal(status, 201, text)
}

const cluster = (home: ControlPlane, name: string): Promise<void> =>
  made(home, `${OWN}/clusters`, 'Cluster', {
    metadata: { name, labels: { tier: 'store' } },
    spec: { id: `c-${name}`, accepted: true, identityKey: 'x'.repeat(60), sealingKey: 'y'.repeat(60) },
  })

test('kubectl gets and watches rows on a home that is a kube-apiserver, as far as RBAC there lets it', async (t) => {
  const folder = temporaryFolder(t)
  await using home = await startControlPlane()
  const data = join(folder, 'hub')
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, '--kubeconfig', home.kubeconfigPath, ...FREE])
  await hub.says(/^flotilla hub ready: /)
  const kubectlAs = (kubeconfig: string) => async (args: string) => {
    const env = { ...process.env, HOME: folder, KUBECONFIG: kubeconfig }
    return (await execute(needBinary('kubectl'), args.split(' '), { env, timeout: 60_000 })).stdout
  }
  const kubectl = kubectlAs(home.kubeconfigPath)
  await eventually('the group becoming available', async () => {
    const { status, text } = await home.call('GET', API_SERVICE)
    return status === 200 && /"type":"Available","status":"True"/.test(text.replaceAll(/\s/g, '')) ? true : undefined
  })
  await cluster(home, 'store-1')
  for (const name of ['shop', 'other']) {
    assert.equal((await home.call('POST', '/api/v1/namespaces', { metadata: { name } })).status, 201)
  }
  await made(home, `${OWN}/projects`, 'Project', { metadata: { name: 'shop' }, spec: everythingAllowed(['shop']) })
  const shop = `${OWN}/namespaces/shop`
  const clusterSelector = { matchLabels: { tier: 'store' } }
  await made(home, `${shop}/placements`, 'Placement', { metadata: { name: 'stores' }, spec: { clusterSelector } })
  const manifests = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hello, namespace: default}\n'
  await made(home, `${shop}/bundles`, 'Bundle', {
    metadata: { name: 'web' },
    spec: { placement: 'stores', manifests },
  })

  const table = await eventually('the first row', async () => {
    const text = await kubectl('get bundlestates -n shop')
    return text.includes('store-1') ? text : undefined
  })
  assert.match(
    table,
    /^NAME +BUNDLE +CLUSTER +STATE +WAITS +GENERATION +TARGET +REVISION\nweb\.store-1 +web +store-1 +Pending /,
  )
  assert.match(await kubectl('get fbs -A --field-selector cluster=store-1 -o wide'), /MESSAGE\nshop +web\.store-1 /)
  assert.match(await kubectl('get bundlecounts -n shop web -o jsonpath={.bundle}'), /^web$/)
  // A kube-apiserver reads the schemas of a group some time after the group is available.
  const explained = await eventually('the schemas being read', () =>
    kubectl('explain bundlestates.waitsFor').catch(() => undefined),
  )
  assert.match(explained, /Event that the next generation of the bundle waits for/)
  assert.match(
    await kubectl('api-resources --api-group=view.flotilla.dev'),
    /bundlestates +fbs +view\.flotilla\.dev\/v1alpha1 +true +BundleState/,
  )
  await assert.rejects(kubectl('delete fbs -n shop web.store-1'), /does not allow this method/)
  await assert.rejects(
    kubectl('get fbs -n shop missing.store-1'),
    /bundlestates\.view\.flotilla\.dev "missing\.store-1" not found/,
  )

  const watching = spawn(needBinary('kubectl'), ['get', 'fbs', '-n', 'shop', '-w', '--output-watch-events'], {
    env: { ...process.env, HOME: folder, KUBECONFIG: home.kubeconfigPath },
  })
  t.after(() => void watching.kill('SIGKILL'))
  let seen = ''
  watching.stdout.setEncoding('utf8').on('data', (piece: string) => (seen += piece))
  await eventually('the watch beginning', async () => (seen.includes('store-1') ? true : undefined))
  await cluster(home, 'store-2')
  await eventually('the new row', async () => (/ADDED +web\.store-2 /.test(seen) ? true : undefined))
  assert.equal((await home.call('DELETE', `${shop}/bundles/web`)).status, 200)
  await eventually('the rows going', async () => (/DELETED +web\.store-2 /.test(seen) ? true : undefined))
  watching.kill('SIGTERM')

  const ann = kubectlAs(home.writeKubeconfig('ann'))
  await assert.rejects(
    ann('get fbs -n shop'),
    /User "ann" cannot list resource "bundlestates" in API group "view\.flotilla\.dev" in the namespace "shop"/,
  )
  await kubectl('create rolebinding ann -n shop --clusterrole=view --user=ann')
  await eventually('the role counting', async () => {
    // Without the controller manager, roles are not aggregated: the part of `view` is bound directly.
    await kubectl('create rolebinding ann-rows -n shop --clusterrole=flotilla:aggregate-to-view --user=ann').catch(
      () => {},
    )
    return await ann('get fbs -n shop').then(
      () => true,
      () => undefined,
    )
  })
  await assert.rejects(ann('get fbs -n other'), /cannot list resource/)

  const ended = await hub.stop()
  assert.equal(ended.code, 0, ended.stderr)
  assert.equal((await home.call('GET', API_SERVICE)).status, 404, 'a group that is not served is withdrawn')
  assert.equal((await home.call('GET', VIEWS)).status, 404)
})
