/** What users of Open Cluster Management type, from a join to a Placement; the same on both homes. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startFleetHub } from './fleet-flow.ts'
import type { Site } from './fleet-flow.ts'
import { eventually, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'

const LABS = resolve(import.meta.dirname, '../labs')

/** Joins a cluster to a hub started with these arguments, and places on it. */
export async function ocmFlow(t: Cleanup, hub: readonly string[], site: Site): Promise<void> {
  const { kubeconfig, kubectl } = await startFleetHub(t, '--dialects', 'ocm', ...hub)
  const add = ['cluster', 'add', 'spoke-1', '--accept=manual', '-o', 'json', '--kubeconfig', kubeconfig]
  const { code } = JSON.parse((await runFlotilla(t, add)).stdout) as { code: string }
  const data = join(temporaryFolder(t), 'agent')
  startFlotilla(t, ['agent', 'run', '--join', code, '--kubeconfig', site.kubeconfig, '--data', data])
  const rows = async () => (await kubectl('get', 'managedclusters')).trimEnd().split('\n')
  const pending = await eventually('the cluster waiting to be accepted', async () => {
    const lines = await rows().catch(() => [])
    return lines[1]?.startsWith('spoke-1') ? lines : undefined
  })
  assert.deepEqual(pending[0]?.split(/ {2,}/), [
    'NAME',
    'HUB ACCEPTED',
    'MANAGED CLUSTER URLS',
    'JOINED',
    'AVAILABLE',
    'AGE',
  ])
  assert.match(pending[1]!, /^spoke-1 +false +\d+s$/)
  await kubectl('patch', 'managedcluster', 'spoke-1', '--type=merge', '-p', '{"spec":{"hubAcceptsClient":true}}')
  await eventually('the cluster being available', async () =>
    /^spoke-1 +true +True +True +\S+$/.test((await rows())[1] ?? '') ? true : undefined,
  )
  await kubectl('get', 'namespace', 'spoke-1')

  await kubectl('label', 'managedcluster', 'spoke-1', 'environment=production')
  await eventually('the label on the Cluster', async () => {
    const labels = await kubectl('get', 'clusters.flotilla.dev', 'spoke-1', '-o', 'jsonpath={.metadata.labels}')
    return labels.includes('"environment":"production"') ? true : undefined
  })
  const placement = '{.items[0].spec.predicates[0].requiredClusterSelector.labelSelector.matchLabels.environment}'
  await kubectl('create', 'namespace', 'policies')
  await kubectl('apply', '-f', join(LABS, '002-policy-placement.yaml'))
  await eventually('what is missing in the Policy of the lab', async () => {
    const path = '{.status.conditions[?(@.type=="Compiled")].message}'
    const message = await kubectl('get', 'policies', 'require-nonroot', '-n', 'policies', '-o', `jsonpath=${path}`)
    return /^No PlacementBinding binds .* spec\.policy-templates is empty/.test(message) ? true : undefined
  })
  const ours = ['get', 'placements.cluster.open-cluster-management.io', '-n', 'default']
  assert.equal(await kubectl(...ours, '-o', `jsonpath=${placement}`), 'production')
  await eventually('the reason why there is no decision', async () =>
    (await kubectl(...ours)).includes('NoManagedClusterSetBindings') ? true : undefined,
  )
  const binding = {
    apiVersion: 'cluster.open-cluster-management.io/v1beta2',
    kind: 'ManagedClusterSetBinding',
    metadata: { name: 'global', namespace: 'default' },
    spec: { clusterSet: 'global' },
  }
  const file = join(temporaryFolder(t), 'binding.json')
  writeFileSync(file, JSON.stringify(binding))
  await kubectl('apply', '-f', file)
  await eventually('the decision', async () => {
    const pages = ['get', 'placementdecisions.cluster.open-cluster-management.io', '-n', 'default']
    const names = await kubectl(...pages, '-o', 'jsonpath={.items[*].status.decisions[*].clusterName}')
    return names === 'spoke-1' ? true : undefined
  })
}
