/**
 * A hub on a kube-apiserver with the rights of docs/access.md and no more, also those of its dialects: a cluster joins,
 * runs a bundle, leaves and is forgotten. Nothing is denied, and each right that installs and serves is used.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { HUB_ROLES } from '../../src/apiserver/rbac/bootstrap-roles.ts'
import { kubeHomeRules, kubeHomeSystemRules } from '../../src/hub/home/kube-home-rules.ts'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { grantedRights } from '../../src/testing/hub/used-rights.ts'
import { eventually, FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import { grantHubRoles, HUB_USER } from './hub-user.ts'
import { contentOf, startEmbeddedSite } from './keep-world.ts'

const DIALECTS = ['fleet', 'flux', 'ocm', 'argo']
/** Groups in which the hub installs and serves; the rights in other groups are those of the controllers and the gateway. */
const INSTALLS = /\.(apiextensions|admissionregistration|rbac\.authorization|apiregistration|authorization)\.k8s\.io$/

interface AuditEvent {
  readonly verb: string
  readonly user: { readonly username: string }
  readonly objectRef?: { readonly apiGroup?: string; readonly resource: string; readonly subresource?: string }
  readonly responseStatus?: { readonly code?: number }
}

/** Rights that requests of the hub used, by the audit log of the kube-apiserver. */
function usedRights(auditLog: string): { readonly used: Set<string>; readonly denied: string[] } {
  const used = new Set<string>()
  const denied: string[] = []
  for (const line of readFileSync(auditLog, 'utf8').split('\n')) {
    if (line === '') continue
    const { verb, user, objectRef, responseStatus } = JSON.parse(line) as AuditEvent
    if (user.username !== HUB_USER || !objectRef) continue
    const { apiGroup = '', resource, subresource } = objectRef
    const object = `${resource}${subresource === undefined ? '' : `/${subresource}`}.${apiGroup}`
    used.add(`${verb} ${object}`)
    if (verb === 'patch' && responseStatus?.code === 201) used.add(`create ${object}`)
    if (responseStatus?.code === 403) denied.push(`${verb} ${object}`)
  }
  return { used, denied }
}

async function liveAndLeave(t: TestContext, home: ControlPlane, folder: string): Promise<void> {
  const flotilla = async (...args: string[]) => {
    const ended = await runFlotilla(t, [...args, '--kubeconfig', home.kubeconfigPath])
    assert.equal(ended.code, 0, `flotilla ${args.join(' ')}: ${ended.stderr}`)
    return ended.stdout
  }
  const added = await flotilla('cluster', 'add', 'store-1', '-l', 'tier=store', '-o', 'json')
  const { code } = JSON.parse(added) as { code: string }
  const site = await startEmbeddedSite(t, folder, 'store-1')
  const data = ['--kubeconfig', site, '--data', join(folder, 'agent')]
  const agent = startFlotilla(t, ['agent', 'run', '--join', code, ...data])
  writeFileSync(join(folder, 'content.yaml'), contentOf('here', ''))
  await flotilla('apply', '-f', join(folder, 'content.yaml'))
  const stateOf = () => flotilla('get', 'clusters.flotilla.dev', '-o', 'jsonpath={.items[*].status.state}')
  await eventually('the cluster becoming Ready', async () => ((await stateOf()) === 'Ready' ? true : undefined))
  await flotilla('cluster', 'decommission', 'store-1', '--remove', '--forget-after', '0s', '--yes')
  await eventually('the cluster being forgotten', async () => {
    const { text } = await home.call('GET', '/apis/flotilla.dev/v1alpha1/clusters')
    return (JSON.parse(text) as { items: unknown[] }).items.length === 0 ? true : undefined
  })
  assert.equal((await agent.ended).code, 0, 'it was told')
}

test('the rights that are written down are enough, also to forget a cluster that left', async (t) => {
  const folder = temporaryFolder(t)
  const auditLog = join(folder, 'audit.log')
  await using home = await startControlPlane({ auditLog })
  await grantHubRoles(home, DIALECTS)
  const own = ['--kubeconfig', home.writeKubeconfig(HUB_USER), '--dialects', DIALECTS.join(',')]
  const hub = startFlotilla(t, ['hub', 'run', '--data', join(folder, 'hub'), ...own, ...FREE])
  await hub.says(/^flotilla hub ready/)
  await liveAndLeave(t, home, folder)
  const { code: exit, stderr } = await hub.stop()
  assert.equal(exit, 0, stderr)
  const said = stderr
    .split('\n')
    .filter((line) => /forbidden|cannot (get|list|watch|create|update|patch|delete)/i.test(line))
  assert.deepEqual(said, [])
  const { used, denied } = usedRights(auditLog)
  assert.deepEqual(denied, [])
  const isInstall = (right: string) => INSTALLS.test(right)
  const installs = [...grantedRights([...kubeHomeRules(), ...kubeHomeSystemRules()])].filter(isInstall)
  const unused = installs.filter((right) => !used.has(right)).sort()
  // The check of escalation is inside the kube-apiserver and is no request.
  assert.deepEqual(unused, ['escalate clusterroles.rbac.authorization.k8s.io'])
  // The hub may write its own roles and no other.
  const may = (name: string, verb: string) =>
    mayOn(home, { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', name, verb })
  for (const { name } of HUB_ROLES.filter((role) => !role.name.startsWith('system:')))
    assert.ok(await may(name, 'patch'))
  for (const verb of ['patch', 'escalate', 'bind']) assert.equal(await may('cluster-admin', verb), false)
})

async function mayOn(home: ControlPlane, resourceAttributes: object): Promise<boolean> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: HUB_USER, resourceAttributes },
  }
  const { text } = await home.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review)
  return (JSON.parse(text) as { status: { allowed: boolean } }).status.allowed
}

test('the controllers of a dialect wait while those of the other system run, and begin when they are scaled to zero', async (t) => {
  const folder = temporaryFolder(t)
  await using home = await startControlPlane()
  await grantHubRoles(home, DIALECTS)
  const ok = async (method: string, path: string, body: object): Promise<void> => {
    const { status, text } = await home.call(method, path, body)
    assert.ok(status < 300, text)
  }
  const labels = { 'app.kubernetes.io/part-of': 'flux', 'app.kubernetes.io/component': 'kustomize-controller' }
  const metadata = { name: 'kustomize-controller', namespace: 'flux-system', labels }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'manager', image: 'controller:v1' }] } }
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  await ok('POST', '/api/v1/namespaces', { metadata: { name: 'flux-system' } })
  const deployments = '/apis/apps/v1/namespaces/flux-system/deployments'
  await ok('POST', deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec })
  const own = ['--kubeconfig', home.writeKubeconfig(HUB_USER), '--dialects', 'flux']
  const hub = startFlotilla(t, ['hub', 'run', '--data', join(folder, 'hub'), ...own, ...FREE])
  await hub.says(/^flotilla hub ready/)
  const repositories = '/apis/source.toolkit.fluxcd.io/v1/namespaces/flux-system/gitrepositories'
  await ok('POST', repositories, {
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind: 'GitRepository',
    metadata: { name: 'fleet', namespace: 'flux-system' },
    spec: { interval: '1m', url: 'https://git.example/fleet', ref: { branch: 'main' } },
  })
  const warning = await eventually('the check naming the controller', async () => {
    const { stdout } = await runFlotilla(t, ['check', '-o', 'short', '--kubeconfig', home.kubeconfigPath])
    return stdout.includes('dialect flux waits') ? stdout : undefined
  })
  assert.match(warning, /Deployment kustomize-controller in namespace flux-system; scale them to zero/)
  const written = async (): Promise<boolean> => {
    const { text } = await home.call('GET', `${repositories}/fleet`)
    return 'status' in (JSON.parse(text) as object)
  }
  assert.equal(await written(), false, 'the dialect writes nothing while it waits')
  await ok('PUT', `${deployments}/kustomize-controller/scale`, {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'kustomize-controller', namespace: 'flux-system' },
    spec: { replicas: 0 },
  })
  await eventually('the dialect writing its status', async () => ((await written()) ? true : undefined))
  await eventually('the check being quiet', async () => {
    const { stdout } = await runFlotilla(t, ['check', '-o', 'short', '--kubeconfig', home.kubeconfigPath])
    return stdout.includes('dialect flux waits') ? undefined : true
  })
})
