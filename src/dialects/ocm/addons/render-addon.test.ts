import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from '../../../testing/fixtures/builders.ts'
import { AddOnTemplate } from './kinds.ts'
import type { AddOnDeploymentConfig } from './kinds.ts'
import { renderAddon } from './render-addon.ts'

type Loose = any // oxlint-disable-line typescript/no-explicit-any -- manifests are free
type Settings = AddOnDeploymentConfig['spec']

const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'agent', namespace: 'x', annotations: { of: '{{CLUSTER_NAME}} {{OTHER}}' } },
  spec: {
    template: {
      spec: {
        containers: [{ name: 'agent', image: 'quay.io/ocm/agent:v1', env: [{ name: 'LEVEL', value: 'old' }] }],
      },
    },
  },
}

function render(manifests: object[], settings: Settings[] = [], more: object = {}): Loose {
  const template = build(AddOnTemplate, 'web-1', {
    spec: { addonName: 'web', agentSpec: { workload: { manifests: manifests as never } }, ...more },
  })
  return renderAddon(template, { addon: 'web', cluster: 'store-1', settings })
}
const first = (settings: Settings[]): Loose => render([DEPLOYMENT], settings).spec.workload.manifests[0]
const container = (settings: Settings[]): Loose => first(settings).spec.template.spec.containers[0]

test('variables are replaced, and are in the environment; an unknown one stays', () => {
  const settings = [
    { customizedVariables: [{ name: 'LEVEL', value: '1' }] },
    { customizedVariables: [{ name: 'LEVEL', value: '2' }] },
  ]
  assert.equal(first(settings).metadata.annotations.of, 'store-1 {{OTHER}}')
  assert.deepEqual(container(settings).env, [
    { name: 'LEVEL', value: '2' },
    { name: 'CLUSTER_NAME', value: 'store-1' },
    { name: 'INSTALL_NAMESPACE', value: 'open-cluster-management-agent-addon' },
  ])
})

test('node placement, proxy, registries, resources, replicas and namespace', () => {
  const settings: Settings = {
    nodePlacement: { nodeSelector: { disk: 'ssd' }, tolerations: [{ operator: 'Exists' }] },
    proxyConfig: { httpsProxy: 'http://proxy:3128' },
    registries: [
      { source: 'quay.io', mirror: 'other.io' },
      { source: 'quay.io/ocm', mirror: 'mirror.io/m' },
    ],
    resourceRequirements: [{ containerID: 'deployments:*:agent', resources: { limits: { cpu: '1' } } }],
    replicaConfigs: [{ workloadID: 'deployments:ag*', replicas: 3 }],
    agentInstallNamespace: 'agents',
  }
  const made = first([settings])
  assert.deepEqual(made.spec.template.spec.nodeSelector, { disk: 'ssd' })
  assert.deepEqual(made.spec.template.spec.tolerations, [{ operator: 'Exists' }])
  assert.equal(made.spec.replicas, 3)
  assert.equal(made.metadata.namespace, 'agents')
  const { image, env, resources } = container([settings])
  assert.equal(image, 'mirror.io/m/agent:v1')
  assert.deepEqual(resources, { limits: { cpu: '1' } })
  assert.ok(env.some((one: Loose) => one.name === 'HTTPS_PROXY' && one.value === 'http://proxy:3128'))
  assert.equal(container([{ registries: [{ source: 'quay.io/oc', mirror: 'm' }] }]).image, 'quay.io/ocm/agent:v1')
  assert.equal(container([{ registries: [{ source: '', mirror: 'all.io/m' }] }]).image, 'all.io/m/agent:v1')
})

test('health is by workload, or by the lease of the add-on, which is only read', () => {
  assert.equal(render([DEPLOYMENT]).health, 'Customized')
  const { health, spec } = render([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'x' } }])
  assert.equal(health, 'Lease')
  assert.equal(spec.workload.manifests.at(-1).kind, 'Lease')
  assert.equal(spec.manifestConfigs.at(-1).updateStrategy.type, 'ReadOnly')
})

test('an object that is to stay is orphaned', () => {
  const annotations = { 'addon.open-cluster-management.io/deletion-orphan': '' }
  const { spec } = render([{ ...DEPLOYMENT, metadata: { name: 'agent', namespace: 'x', annotations } }])
  assert.deepEqual(spec.deleteOption.selectivelyOrphans.orphaningRules, [
    { group: 'apps', resource: 'deployments', namespace: 'x', name: 'agent' },
  ])
})

test('credentials for the hub, hooks and templates of other add-ons are refused by name', () => {
  for (const type of ['KubeClient', 'CustomSigner']) {
    const { problem } = render([DEPLOYMENT], [], { registration: [{ type }] })
    assert.match(
      problem,
      new RegExp(`AddOnTemplate web-1: spec\\.registration of type "${type}" is not served: it gives`),
    )
  }
  const annotations = { 'addon.open-cluster-management.io/addon-pre-delete': '' }
  assert.match(
    render([{ ...DEPLOYMENT, metadata: { name: 'a', annotations } }]).problem,
    /manifests\[0\] is a pre-delete hook/,
  )
  assert.match(render([DEPLOYMENT], [], { addonName: 'other' }).problem, /is for add-on other, not for web/)
})
