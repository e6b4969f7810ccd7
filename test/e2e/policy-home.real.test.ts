/**
 * A Policy on a hub whose home is a real kube-apiserver: it reads a ConfigMap of the hub as its ServiceAccount, is
 * enforced in the cluster, and counted by `flotilla compliance`.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { configMapPolicy } from '../../src/testing/agents/policies-contract.ts'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { startFleetHub } from './fleet-flow.ts'
import { eventually, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const execute = promisify(execFile)
const GROUP = 'policy.open-cluster-management.io'
const CLUSTER = 'cluster.open-cluster-management.io'
const metadata = (name: string) => ({ name, namespace: 'default' })

const CHECK = configMapPolicy(
  'own',
  { region: '{{hub fromConfigMap "default" "regions" .ManagedClusterName hub}}' },
  { remediationAction: 'enforce' },
)
const OBJECTS = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('regions'), data: { 'store-1': 'north' } },
  {
    apiVersion: `${GROUP}/v1`,
    kind: 'Policy',
    metadata: metadata('own'),
    spec: {
      disabled: false,
      hubTemplateOptions: { serviceAccountName: 'reader' },
      'policy-templates': [{ objectDefinition: CHECK }],
    },
  },
  {
    apiVersion: `${CLUSTER}/v1beta2`,
    kind: 'ManagedClusterSetBinding',
    metadata: metadata('global'),
    spec: { clusterSet: 'global' },
  },
  { apiVersion: `${CLUSTER}/v1beta1`, kind: 'Placement', metadata: metadata('all'), spec: {} },
  {
    apiVersion: `${GROUP}/v1`,
    kind: 'PlacementBinding',
    metadata: metadata('all'),
    placementRef: { apiGroup: CLUSTER, kind: 'Placement', name: 'all' },
    subjects: [{ apiGroup: GROUP, kind: 'Policy', name: 'own' }],
  },
]

test('a Policy of a hub on a kube-apiserver', async (t) => {
  const plane = await startControlPlane()
  t.after(() => plane.stop())
  const { kubeconfig, kubectl } = await startFleetHub(t, '--dialects', 'ocm', '--kubeconfig', plane.kubeconfigPath)
  const site = async (...args: string[]): Promise<string> =>
    (await execute(needBinary('kubectl'), ['--kubeconfig', plane.kubeconfigPath, ...args], { timeout: 60_000 })).stdout
  const added = await runFlotilla(t, ['cluster', 'add', 'store-1', '-o', 'json', '--kubeconfig', kubeconfig])
  const { code } = JSON.parse(added.stdout) as { code: string }
  const data = join(temporaryFolder(t), 'agent')
  startFlotilla(t, ['agent', 'run', '--join', code, '--kubeconfig', plane.kubeconfigPath, '--data', data])
  const file = join(temporaryFolder(t), 'objects.json')
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: OBJECTS }))
  await kubectl('apply', '-f', file)
  const told = (path: string) => kubectl('get', 'policies', 'own', '-n', 'default', '-o', `jsonpath=${path}`)
  await eventually('the account being refused', async () => {
    const message = await told('{.status.conditions[?(@.type=="Compiled")].message}')
    const words = 'ServiceAccount default/reader may not get ConfigMap regions in namespace default'
    return message.includes(words) ? true : undefined
  })
  await site('create', 'role', 'reader', '--verb=get', '--resource=configmaps', '-n', 'default')
  await site('create', 'rolebinding', 'reader', '--role=reader', '--serviceaccount=default:reader', '-n', 'default')
  const compliant = async () => ((await told('{.status.compliant}')) === 'Compliant' ? true : undefined)
  await eventually('the cluster that complies', compliant, 110_000)
  const region = await site('get', 'configmap', 'own', '-n', 'default', '-o', 'jsonpath={.data.region}')
  assert.equal(region, 'north')
  const counts = await runFlotilla(t, ['compliance', '--kubeconfig', kubeconfig])
  assert.match(counts.stdout, /^default\/own +1 +0 +0 +0 +0 /m)
})
