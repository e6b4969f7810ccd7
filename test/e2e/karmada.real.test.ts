/** The Deployment of docs/dialects/karmada.md with kubectl, on three real control planes; then one of them is cut off. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Deployment } from '../../src/kinds/builtin/apps.ts'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { clientByKubeconfig } from '../../src/testing/control-plane/kubeconfig-client.ts'
import type { KubeconfigClient } from '../../src/testing/control-plane/kubeconfig-client.ts'
import { startFleetHub } from './fleet-flow.ts'
import { eventually, lastFirst, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const KEY = { namespace: 'shop', name: 'web' }
const NAMES = ['member1', 'member2', 'member3'] as const

/** Plays the Deployment controller, which these control planes do not have. */
async function progress({ client }: KubeconfigClient): Promise<number | undefined> {
  const found = await client.get(Deployment, KEY).catch(() => undefined)
  if (!found) return undefined
  const { replicas = 1 } = found.spec
  if (found.status?.observedGeneration === found.metadata.generation) return replicas
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas }
  const status = { observedGeneration: found.metadata.generation, ...counts }
  await client.patch(Deployment, KEY, { type: 'merge', body: { status } }, { subresource: 'status' }).catch(() => {})
  return replicas
}

test('10 replicas are divided 2:1:1 over real clusters, leave one that is cut off, and return', async (context) => {
  const t = lastFirst(context)
  const planes = await Promise.all(NAMES.map((_name, nth) => startControlPlane({ third: nth === 2 })))
  for (const plane of planes) t.after(() => plane.stop())
  const sites = await Promise.all(planes.map(({ kubeconfigPath }) => clientByKubeconfig(kubeconfigPath)))
  for (const site of sites) t.after(site.close)
  const { kubeconfig, kubectl } = await startFleetHub(t, '--dialects', 'karmada', '--hub-templates')
  const folders = NAMES.map(() => join(temporaryFolder(t), 'agent'))
  const agents = await Promise.all(
    NAMES.map(async (name, nth) => {
      const added = await runFlotilla(t, ['cluster', 'add', name, '-o', 'json', '--kubeconfig', kubeconfig])
      const { code } = JSON.parse(added.stdout) as { code: string }
      const words = [
        'agent',
        'run',
        '--join',
        code,
        '--kubeconfig',
        planes[nth]!.kubeconfigPath,
        '--data',
        folders[nth]!,
      ]
      return { words, process: startFlotilla(t, words) }
    }),
  )
  for (const name of NAMES) {
    await kubectl('wait', `clusters.cluster.karmada.io/${name}`, '--for=create', '--timeout=110s')
    await kubectl('wait', `clusters.cluster.karmada.io/${name}`, '--for=condition=Ready', '--timeout=110s')
  }
  await kubectl('create', 'namespace', 'shop')
  const project = await runFlotilla(t, ['project', 'add', 'shop', '--namespace', 'shop', '--kubeconfig', kubeconfig])
  assert.equal(project.code, 0, project.stderr)
  const page = readFileSync(join(import.meta.dirname, '../../docs/dialects/karmada.md'), 'utf8')
  const file = join(temporaryFolder(t), 'web.yaml')
  const text = page.slice(page.indexOf('<!-- karmada-tutorial -->')).split('```')[1]!.replace('yaml', '')
  writeFileSync(file, text)
  await kubectl('apply', '-f', file)

  const replicas = async () => await Promise.all(sites.map(progress))
  const runs = async (what: string, isSo: (counts: readonly (number | undefined)[]) => boolean) =>
    await eventually(what, async () => {
      const counts = await replicas()
      return isSo(counts) ? counts : undefined
    })
  const divided = await runs('the replicas', ([a, b = 0, c = 0]) => a === 5 && b + c === 5 && b > 0 && c > 0)
  const isSummed = async () => {
    await replicas()
    return /web +10\/10 +10 +10 /.test(await kubectl('get', 'deployments', '-n', 'shop')) ? true : undefined
  }
  await eventually('the sum', isSummed)
  await kubectl('rollout', 'status', '-n', 'shop', 'deployment/web', '--timeout=60s')
  await kubectl('wait', '-n', 'shop', 'rb/web-deployment', '--for=condition=FullyApplied', '--timeout=60s')

  const annotations = { 'karmada.flotilla.dev/fail-back-after': '2s' }
  const clusterTolerations = [{ key: 'cluster.karmada.io/unreachable', operator: 'Exists', tolerationSeconds: 1 }]
  const spec = { failover: { cluster: { purgeMode: 'Gracefully' } }, placement: { clusterTolerations } }
  const body = JSON.stringify({ metadata: { annotations }, spec })
  await kubectl('patch', 'pp', 'web', '-n', 'shop', '--type=merge', '-p', body)
  const tolerate = (seconds: number) =>
    kubectl('patch', 'fcl', 'member1', '--type=merge', '-p', `{"spec":{"offlineAfterSeconds":${seconds}}}`)
  await agents[0]!.process.stop('SIGKILL')
  await tolerate(10)
  await runs('the replicas elsewhere', ([, b, c]) => b === 5 && c === 5)
  await tolerate(120)
  startFlotilla(t, agents[0]!.words)
  await runs('the replicas again', (counts) => counts.join() === divided.join())
  await eventually('the sum again', isSummed)
})
