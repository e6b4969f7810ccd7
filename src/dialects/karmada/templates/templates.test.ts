import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dependenciesOf } from './dependencies.ts'
import { divideCompletions, replicasOf, withoutServerFields, withReplicas } from './revise-template.ts'
import type { Template } from './template-kinds.ts'
import { aggregateStatus, clusterStatus, feedbackOf } from './template-status.ts'

const template = (kind: string, spec: object = {}, more: object = {}, apiVersion = 'apps/v1'): Template => ({
  apiVersion,
  kind,
  metadata: { name: 'web', namespace: 'shop', uid: 'u-1', generation: 3, ...more },
  spec: spec as Template['spec'] & object,
})

describe('what a cluster receives', () => {
  test('has no fields that the server of the hub wrote', () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', own: 'x' }
    const own = { resourceVersion: '7', finalizers: ['f'], ownerReferences: [], labels: { a: 'b' }, annotations }
    assert.deepEqual(
      withoutServerFields({ ...template('Deployment', { replicas: 1 }, own), status: { replicas: 1 } }),
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', namespace: 'shop', labels: { a: 'b' }, annotations: { own: 'x' } },
        spec: { replicas: 1 },
      },
    )
    const service = template(
      'Service',
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports: [{ port: 80, nodePort: 30080 }] },
      {},
      'v1',
    )
    assert.deepEqual(withoutServerFields(service).spec, { ports: [{ port: 80 }] })
    const headless = template('Service', { clusterIP: 'None', clusterIPs: ['None'] }, {}, 'v1')
    assert.deepEqual(withoutServerFields(headless).spec, { clusterIP: 'None', clusterIPs: ['None'] })
    const labels = { 'controller-uid': 'u', 'job-name': 'web', app: 'x' }
    const job = template('Job', { selector: {}, template: { metadata: { labels } } }, {}, 'batch/v1')
    assert.deepEqual(withoutServerFields(job).spec, { template: { metadata: { labels: { app: 'x' } } } })
  })

  test('has its share of the replicas, and of the completions of a Job', () => {
    assert.equal(replicasOf(template('Deployment')), 1)
    assert.equal(replicasOf(template('Deployment', { replicas: 0 })), 0)
    assert.equal(replicasOf(template('DaemonSet')), undefined)
    const job = template('Job', { parallelism: 4, completions: 8 }, {}, 'batch/v1')
    assert.equal(replicasOf(job), 4)
    const shares = [
      { name: 'a', replicas: 3 },
      { name: 'b', replicas: 1 },
    ]
    const completions = divideCompletions(job, shares)!
    assert.deepEqual(
      [...completions],
      [
        ['a', 6],
        ['b', 2],
      ],
    )
    assert.deepEqual(withReplicas(job, 3, 6).spec, { parallelism: 3, completions: 6 })
    assert.equal(divideCompletions(template('Deployment'), shares), undefined)
  })
})

describe('the sum of the clusters', () => {
  const status = (cluster: string, values: Record<string, string>, isCurrent = true) => ({ cluster, isCurrent, values })

  test('follows the generation only when each cluster has observed what it should have', () => {
    const before = { ...template('Deployment'), status: { observedGeneration: 2 } }
    const seen = { generation: '5', observedGeneration: '5', replicas: '2', readyReplicas: '1' }
    const sum = aggregateStatus(before, [status('a', seen), status('b', { ...seen, readyReplicas: '2' })])
    assert.deepEqual(sum, { replicas: 4, readyReplicas: 3, observedGeneration: 3 })
    const behind = [status('a', seen), status('b', { ...seen, observedGeneration: '4' })]
    assert.equal(aggregateStatus(before, behind)?.['observedGeneration'], 2)
    assert.equal(aggregateStatus(before, [status('a', seen, false)])?.['observedGeneration'], 2)
  })

  test('is zero where the API server needs a number, and absent for other kinds and for no cluster', () => {
    assert.deepEqual(aggregateStatus(template('StatefulSet'), [status('a', {}, false)]), { replicas: 0 })
    assert.equal(aggregateStatus(template('Deployment'), []), undefined)
    assert.equal(aggregateStatus(template('ConfigMap', {}, {}, 'v1'), [status('a', {})]), undefined)
  })

  test('counts only whole numbers of the agents', () => {
    const values = { replicas: '1e9', readyReplicas: '-1', updatedReplicas: '2' }
    assert.deepEqual(clusterStatus(template('Deployment'), values), { updatedReplicas: 2 })
    assert.ok(feedbackOf(template('Deployment')).some(({ path }) => path === '.status.readyReplicas'))
    assert.deepEqual(feedbackOf(template('ConfigMap', {}, {}, 'v1')), [])
  })
})

test('a workload names ConfigMaps, Secrets, its account and its volumes', () => {
  const pod = {
    serviceAccountName: 'runner',
    imagePullSecrets: [{ name: 'pull' }],
    initContainers: [{ envFrom: [{ configMapRef: { name: 'init' } }] }],
    containers: [
      {
        env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'key', key: 'k' } } }],
        envFrom: [{ secretRef: { name: 'env' } }],
      },
    ],
    volumes: [
      { configMap: { name: 'files' } },
      { secret: { secretName: 'tls' } },
      { persistentVolumeClaim: { claimName: 'data' } },
      { projected: { sources: [{ configMap: { name: 'projected' } }] } },
    ],
  }
  const names = (one: Template) => dependenciesOf(one).map(({ kind, name }) => `${kind} ${name}`)
  const expected = [
    'ConfigMap files',
    'ConfigMap init',
    'ConfigMap projected',
    'PersistentVolumeClaim data',
    'Secret env',
    'Secret key',
    'Secret pull',
    'Secret tls',
    'ServiceAccount runner',
  ]
  assert.deepEqual(names(template('Deployment', { template: { spec: pod } })), expected)
  const cron = template('CronJob', { jobTemplate: { spec: { template: { spec: pod } } } }, {}, 'batch/v1')
  assert.deepEqual(names(cron), expected)
  assert.deepEqual(names(template('Deployment', { template: { spec: { serviceAccountName: 'default' } } })), [])
  const ingress = template('Ingress', { tls: [{ secretName: 'site' }] }, {}, 'networking.k8s.io/v1')
  assert.deepEqual(names(ingress), ['Secret site'])
  assert.deepEqual(names(template('Ingress', { tls: [{}] }, {}, 'networking.k8s.io/v1')), [])
})
