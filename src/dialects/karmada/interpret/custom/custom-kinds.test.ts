import assert from 'node:assert/strict'
import { test } from 'node:test'
import { interpret } from '../interpret.ts'
import type { InterpretQuestion, Operation } from '../interpret.ts'
import type { InterpretedObject } from '../shape.ts'

const now = '2026-01-01T00:00:00Z'

test('Kyverno: rules are counted over all clusters, and ready is believed before conditions', () => {
  const policy = (more: object = {}): InterpretedObject => ({
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name: 'labels' },
    ...more,
  })
  const ready = { type: 'Ready', status: 'True', reason: 'Succeeded', message: 'ok' }
  const items = [
    { clusterName: 'a', status: { ready: true, rulecount: { validate: 2, mutate: 1 }, conditions: [ready] } },
    { clusterName: 'b', status: { ready: false, rulecount: { validate: 1 } } },
  ]
  const { object } = interpret({ operation: 'AggregateStatus', object: policy(), items, now })
  assert.deepEqual((object as InterpretedObject)['status'], {
    ready: false,
    rulecount: { generate: 0, mutate: 1, validate: 3, verifyimages: 0 },
    conditions: [{ ...ready, message: 'a=ok' }],
  })
  const healthy = (status: object) =>
    interpret({ operation: 'InterpretHealth', object: policy({ status }), now })['healthy']
  assert.equal(healthy({ ready: false, conditions: [ready] }), false)
  assert.equal(healthy({ conditions: [ready] }), true)
  assert.deepEqual(interpret({ operation: 'InterpretStatus', object: policy({ status: { other: 1 } }), now }), {
    status: {},
  })
})

type Answer = Readonly<Record<string, unknown>>
const ask = (operation: Operation, object: InterpretedObject, more: Partial<InterpretQuestion> = {}): Answer =>
  interpret({ operation, object, now, ...more })
const statusOf = (answer: Answer): unknown => (answer['object'] as InterpretedObject)['status']
const of = (apiVersion: string, kind: string, more: object = {}): InterpretedObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', namespace: 'shop' },
  ...more,
})
const pod = (cpu: string, more: object = {}) => ({
  template: { spec: { containers: [{ name: 'a', image: 'a', resources: { requests: { cpu } } }], ...more } },
})
const on = (clusterName: string, status: object) => ({ clusterName, status })
const requests = (cpu: string) => ({ resourceRequest: { cpu } })

test('Ray: the head and each group of workers are components, and a service is divided by its workers', () => {
  const cluster = {
    headGroupSpec: pod('1'),
    workerGroupSpecs: [
      { groupName: 'gpu', replicas: 1, ...pod('4') },
      { replicas: 3, ...pod('2') },
    ],
  }
  assert.deepEqual(ask('InterpretComponent', of('ray.io/v1', 'RayCluster', { spec: cluster }))['components'], [
    { name: 'ray-head', replicas: 1, replicaRequirements: requests('1') },
    { name: 'gpu', replicas: 1, replicaRequirements: requests('4') },
    { name: 'worker-2', replicas: 3, replicaRequirements: requests('2') },
  ])
  const service = of('ray.io/v1', 'RayService', { spec: { rayClusterConfig: cluster } })
  assert.deepEqual(ask('InterpretReplica', service), { replicas: 5, requires: requests('4') })
  const { object } = ask('ReviseReplica', service, { replicas: 8 })
  const { rayClusterConfig } = (object as InterpretedObject)['spec'] as { rayClusterConfig: typeof cluster }
  const shares = rayClusterConfig.workerGroupSpecs.map(({ replicas }) => replicas)
  assert.deepEqual(shares, [1, 6], 'seven workers, one to three; the last group takes what is left')
  const items = [on('a', { desiredCPU: '1500m', state: 'ready' }), on('b', { desiredCPU: '500m', state: 'failed' })]
  const sum = statusOf(ask('AggregateStatus', of('ray.io/v1', 'RayCluster'), { items })) as Answer
  assert.deepEqual([sum['desiredCPU'], sum['state']], ['2', 'ready'])
  const jobs = [on('a', { jobStatus: 'SUCCEEDED', jobDeploymentStatus: 'Complete' }), on('b', { jobStatus: 'FAILED' })]
  assert.deepEqual(statusOf(ask('AggregateStatus', of('ray.io/v1', 'RayJob'), { items: jobs })), {
    jobStatus: 'FAILED',
    jobDeploymentStatus: 'Complete',
  })
})

test('OpenKruise: counters are added up, and failures of jobs name their clusters', () => {
  const group = 'apps.kruise.io/v1alpha1'
  const items = [on('a', { replicas: 2, updateRevision: 'r1' }), on('b', { replicas: 3, readyReplicas: 1 })]
  const sum = statusOf(ask('AggregateStatus', of(group, 'CloneSet'), { items })) as Answer
  assert.deepEqual([sum['replicas'], sum['readyReplicas'], sum['updateRevision']], [5, 1, 'r1'])
  const failed = { conditions: [{ type: 'Failed', status: 'True' }], failed: 1, phase: 'failed' }
  const job = statusOf(ask('AggregateStatus', of(group, 'BroadcastJob'), { items: [on('a', failed), on('b', {})] }))
  assert.match(JSON.stringify(job), /Job executed failed in member clusters: a"/)
  assert.deepEqual(ask('InterpretReplica', of(group, 'BroadcastJob', { spec: pod('1') })), {
    replicas: 1,
    requires: requests('1'),
  })
  assert.throws(() => ask('InterpretReplica', of(group, 'CloneSet', { spec: {} })), /spec.template is required/)
  const rolled = { observedGeneration: 0, updatedReplicas: 2, availableReplicas: 2 }
  const healthy = (status: object) =>
    ask('InterpretHealth', of(group, 'CloneSet', { spec: { replicas: 2 }, status }))['healthy']
  assert.equal(healthy(rolled), true)
  assert.equal(healthy({ ...rolled, availableReplicas: 1 }), false)
  assert.equal(healthy({ ...rolled, observedGeneration: 4 }), false)
})

test('Argo and Volcano: replicas are what runs at a time, and tasks are added up by phase', () => {
  const workflow = of('argoproj.io/v1alpha1', 'Workflow', { spec: { parallelism: 4, nodeSelector: { disk: 'ssd' } } })
  assert.deepEqual(ask('InterpretReplica', workflow), {
    replicas: 4,
    requires: { nodeClaim: { nodeSelector: { disk: 'ssd' } } },
  })
  const items = [
    on('a', { running: 1, runningDuration: '90s', taskStatusCount: { map: { phase: { Running: 1 } } } }),
    on('b', { running: 2, runningDuration: '1m', taskStatusCount: { map: { phase: { Running: 2, Failed: 1 } } } }),
  ]
  const sum = statusOf(ask('AggregateStatus', of('batch.volcano.sh/v1alpha1', 'Job'), { items })) as Answer
  assert.deepEqual([sum['running'], sum['runningDuration']], [3, '90s'])
  assert.deepEqual(sum['taskStatusCount'], { map: { phase: { Running: 3, Failed: 1 } } })
})

test('Kubeflow: a job is complete when all clusters are, and a notebook fails with its worst container', () => {
  const done = { conditions: [{ type: 'Succeeded', status: 'True' }], replicaStatuses: { Worker: { succeeded: 2 } } }
  const job = of('kubeflow.org/v1', 'TFJob', { spec: { tfReplicaSpecs: { Worker: { replicas: 2, ...pod('1') } } } })
  assert.deepEqual(ask('InterpretComponent', job)['components'], [
    { name: 'worker', replicas: 2, replicaRequirements: requests('1') },
  ])
  const both = statusOf(ask('AggregateStatus', job, { items: [on('a', done), on('b', done)] })) as Answer
  assert.deepEqual(both['replicaStatuses'], { Worker: { succeeded: 4 } })
  assert.match(JSON.stringify(both), /TFJob completed successfully/)
  const one = statusOf(ask('AggregateStatus', job, { items: [on('a', done), on('b', {})] }))
  assert.doesNotMatch(JSON.stringify(one), /completed/)
  const waits = (reason: string) => ({ containerState: { waiting: { reason } } })
  const healthy = (status: object) => ask('InterpretHealth', of('kubeflow.org/v1', 'Notebook', { status }))['healthy']
  assert.deepEqual(
    ['ContainerCreating', 'ImagePullBackOff'].map((reason) => healthy(waits(reason))),
    [true, false],
  )
})

test('Spark and Flink: memory has its overhead, and slots decide about task managers', () => {
  const spark = of('sparkoperator.k8s.io/v1beta2', 'SparkApplication', {
    spec: { type: 'Scala', driver: { memory: '8g', cores: 2 }, executor: { instances: 3, memoryOverhead: '1g' } },
  })
  const [driver, executor] = ask('InterpretComponent', spark)['components'] as readonly [Answer, Answer]
  const eight = `${Math.round(8192 * 1.1 * 1_048_576 * 1000)}m`
  assert.deepEqual(driver['replicaRequirements'], { resourceRequest: { cpu: '2', memory: eight } })
  assert.deepEqual(
    [executor['replicas'], executor['replicaRequirements']],
    [3, { resourceRequest: { cpu: '1', memory: `${2048 * 1_048_576 * 1000}m` } }],
  )
  const flink = of('flink.apache.org/v1beta1', 'FlinkDeployment', {
    spec: {
      job: { parallelism: 7 },
      flinkConfiguration: { 'taskmanager.numberOfTaskSlots': '2' },
      jobManager: { resource: { cpu: 1 } },
      taskManager: { resource: { cpu: 2 } },
    },
  })
  assert.deepEqual(ask('InterpretReplica', flink), { replicas: 5, requires: { ...requests('2'), namespace: 'shop' } })
  const healthy = (status: object) => ask('InterpretHealth', { ...flink, status })['healthy']
  assert.equal(healthy({ jobStatus: { state: 'RUNNING' } }), true)
  assert.equal(healthy({ jobStatus: { state: 'CREATED' }, error: 'Unknown' }), false)
})

test('names of JavaScript in the status of a member are names and nothing else', () => {
  const names = ['__proto__', 'constructor']
  const named = (value: unknown): unknown => Object.fromEntries(names.map((name) => [name, value]))
  const job = { replicaStatuses: named({ active: 2 }) }
  const both = [
    { clusterName: 'a', status: job },
    { clusterName: 'b', status: job },
  ]
  const roles = (statusOf(ask('AggregateStatus', of('kubeflow.org/v1', 'TFJob'), { items: both })) as Answer)[
    'replicaStatuses'
  ]
  assert.deepEqual(roles, named({ active: 4 }))
  assert.equal('active' in {}, false)
  const tasks = { taskStatusCount: named({ phase: named(1) }), controlledResources: named('x') }
  const items = ['a', 'b'].map((clusterName) => ({ clusterName, status: tasks }))
  const sum = statusOf(ask('AggregateStatus', of('batch.volcano.sh/v1alpha1', 'Job'), { items })) as Answer
  assert.deepEqual(sum['taskStatusCount'], named({ phase: named(2) }))
  assert.deepEqual(sum['controlledResources'], named('x'))
})
