/** A real kube-apiserver, registered by its kubeconfig: the account, its rights and its content. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { startControlPlane } from '../../testing/control-plane/control-plane.ts'
import { clientByKubeconfig } from '../../testing/control-plane/kubeconfig-client.ts'
import { buildBundle, buildPlacement, configMapManifest } from '../../testing/fixtures/builders.ts'
import {
  eventually,
  FREE,
  lastFirst,
  runFlotilla,
  startFlotilla,
  temporaryFolder,
} from '../../../test/e2e/flotilla-process.ts'

const KEY = { namespace: 'default', name: 'hello' }

test('content reaches a real cluster by an account of the agent, and drift is corrected', async (context) => {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  const plane = await startControlPlane()
  t.after(() => plane.stop())
  const site = await clientByKubeconfig(plane.kubeconfigPath)
  t.after(site.close)
  const data = join(folder, 'hub')
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE])
  await hub.says(/flotilla hub ready/)
  const env = { FLOTILLA_KUBECONFIG: join(data, 'admin.kubeconfig') }
  const home = await clientByKubeconfig(env.FLOTILLA_KUBECONFIG)
  t.after(home.close)

  const words = ['cluster', 'add', 'store-1', '--kubeconfig', plane.kubeconfigPath, '-l', 'tier=store']
  const added = await runFlotilla(t, words, { env })
  assert.equal(added.code, 0, added.stderr)
  await home.client.create(Placement, buildPlacement('default/everywhere', { tier: 'store' }))
  const manifests = configMapManifest('hello', { greeting: 'hi' })
  await home.client.create(Bundle, buildBundle('default/hello', { manifests }))
  const greeting = async () => (await site.client.get(ConfigMap, KEY).catch(() => undefined))?.data?.['greeting']
  await eventually('the content', async () => ((await greeting()) === 'hi' ? true : undefined))

  await site.client.patch(ConfigMap, KEY, { type: 'merge', body: { data: { greeting: 'changed' } } })
  await eventually('the correction', async () => ((await greeting()) === 'hi' ? true : undefined))
  const review = await plane.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: 'system:serviceaccount:flotilla-agent:flotilla-agent',
      resourceAttributes: { namespace: 'default', verb: 'patch', resource: 'configmaps' },
    },
  })
  assert.match(review.text, /"allowed":true/)
  // The report comes after the content.
  await eventually('a Ready cluster', async () => {
    const { stdout } = await runFlotilla(t, ['get', 'clusters'], { env })
    return /store-1 +Ready .*Pushed/.test(stdout) ? true : undefined
  })

  // A credential without rights says in the cluster's own words what it lacks.
  const second = await runFlotilla(t, ['cluster', 'add', 'store-2', '--kubeconfig', plane.writeKubeconfig('clerk')], {
    env,
  })
  assert.equal(second.code, 0, second.stderr)
  const message = await eventually('the refusal', async () => {
    const shown = await runFlotilla(t, ['get', 'cluster', 'store-2', '-o', 'yaml'], { env })
    return shown.stdout.includes('reason: NotAllowed') ? shown.stdout : undefined
  })
  assert.match(message, /User "clerk" cannot patch\s+resource "namespaces"/)
})
