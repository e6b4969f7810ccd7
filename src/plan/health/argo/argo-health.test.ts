import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { argoHealthFor } from './argo-health.ts'
import { CUSTOM_KINDS } from './custom-kinds.ts'
import { healthOfVerdict } from './verdict.ts'

interface Given {
  readonly metadata?: object
  readonly spec?: object
  readonly status?: object
}

const ready = (status: string, more: object = {}) => ({
  conditions: [{ type: 'Ready', status, message: 'm', ...more }],
})
const is = (type: string, status: string, more: object = {}) => ({ type, status, message: 'm', ...more })

const CASES: readonly (readonly [kind: string, given: Given, status: string, message?: string])[] = [
  ['/Pod', { status: { phase: 'Pending', message: 'm' } }, 'Progressing', 'm'],
  ['/Pod', { status: { phase: 'Running', conditions: [is('Ready', 'True')] } }, 'Healthy'],
  ['/Pod', { status: { phase: 'Running', containerStatuses: [{ lastState: { terminated: {} } }] } }, 'Degraded'],
  ['/Pod', { spec: { restartPolicy: 'Never' }, status: { phase: 'Running' } }, 'Progressing'],
  [
    '/Pod',
    {
      status: {
        phase: 'Pending',
        containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff', message: 'no' } } }],
      },
    },
    'Degraded',
    'no',
  ],
  [
    '/Pod',
    { status: { phase: 'Failed', containerStatuses: [{ name: 'a', state: { terminated: { exitCode: 3 } } }] } },
    'Degraded',
    'container "a" failed with exit code 3',
  ],
  ['apps/StatefulSet', { metadata: { generation: 2 }, status: { observedGeneration: 1 } }, 'Progressing'],
  [
    'apps/StatefulSet',
    { spec: { replicas: 2 }, status: { observedGeneration: 1, readyReplicas: 1 } },
    'Progressing',
    'Waiting for 1 pods to be ready...',
  ],
  [
    'apps/StatefulSet',
    {
      spec: { replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } },
      status: {
        observedGeneration: 1,
        readyReplicas: 3,
        updatedReplicas: 1,
        updateRevision: 'b',
        currentRevision: 'a',
      },
    },
    'Healthy',
  ],
  [
    'apps/StatefulSet',
    { spec: { updateStrategy: { type: 'OnDelete' } }, status: { observedGeneration: 1, updateRevision: 'b' } },
    'Healthy',
  ],
  ['batch/Job', { status: { startTime: 'x' } }, 'Progressing'],
  ['batch/Job', { status: { conditions: [is('Complete', 'True')] } }, 'Healthy'],
  ['batch/Job', { status: { conditions: [is('Failed', 'True')] } }, 'Degraded'],
  ['batch/Job', { status: { conditions: [is('Suspended', 'True')] } }, 'Suspended'],
  ['batch/Job', { status: { conditions: [is('Suspended', 'False')] } }, 'Healthy'],
  ['batch/CronJob', { spec: { suspend: true } }, 'Healthy'],
  ['batch/CronJob', { status: { lastScheduleTime: '2', lastSuccessfulTime: '1' } }, 'Degraded'],
  ['batch/CronJob', { status: { lastScheduleTime: '2', lastSuccessfulTime: '1', active: [{}] } }, 'Healthy'],
  ['batch/CronJob', {}, 'Progressing'],
  ['networking.k8s.io/Ingress', { status: { loadBalancer: {} } }, 'Progressing'],
  ['networking.k8s.io/Ingress', { status: { loadBalancer: { ingress: [{ ip: '10.0.0.1' }] } } }, 'Healthy'],
  [
    'autoscaling/HorizontalPodAutoscaler',
    {
      status: {
        conditions: [is('AbleToScale', 'True'), is('ScalingActive', 'False', { reason: 'FailedGetResourceMetric' })],
      },
    },
    'Degraded',
  ],
  ['autoscaling/HorizontalPodAutoscaler', { status: { conditions: [is('AbleToScale', 'True')] } }, 'Healthy'],
  ['autoscaling/HorizontalPodAutoscaler', {}, 'Progressing'],
  [
    'policy/PodDisruptionBudget',
    { status: { conditions: [is('x', 'False', { reason: 'InsufficientPods' })] } },
    'Healthy',
  ],
  ['policy/PodDisruptionBudget', { status: { conditions: [is('x', 'False', { reason: 'SyncFailed' })] } }, 'Degraded'],
  ['apiextensions.k8s.io/CustomResourceDefinition', { status: { conditions: [is('Established', 'True')] } }, 'Healthy'],
  [
    'apiextensions.k8s.io/CustomResourceDefinition',
    { status: { conditions: [is('Established', 'False', { reason: 'Installing' })] } },
    'Progressing',
  ],
  [
    'apiextensions.k8s.io/CustomResourceDefinition',
    { status: { conditions: [is('NamesAccepted', 'False')] } },
    'Degraded',
  ],
  ['argoproj.io/Rollout', {}, 'Progressing'],
  ['argoproj.io/Rollout', { status: { phase: 'Paused', message: 'm' } }, 'Suspended', 'm'],
  ['argoproj.io/Rollout', { status: { phase: 'Degraded' } }, 'Degraded'],
  [
    'argoproj.io/Rollout',
    {
      spec: { strategy: { canary: {} } },
      status: { currentPodHash: 'a', stableRS: 'b', replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
    },
    'Progressing',
    'Waiting for rollout to finish steps',
  ],
  [
    'argoproj.io/Rollout',
    { metadata: { generation: 3 }, status: { observedGeneration: '2', phase: 'Healthy' } },
    'Progressing',
  ],
  ['argoproj.io/AnalysisRun', { status: { phase: 'Inconclusive' } }, 'Unknown'],
  ['argoproj.io/Workflow', { status: { phase: 'Error', message: 'm' } }, 'Degraded', 'm'],
  ['argoproj.io/ApplicationSet', { status: { conditions: [is('ErrorOccurred', 'True')] } }, 'Degraded'],
  ['argoproj.io/ApplicationSet', { status: { conditions: [is('ResourcesUpToDate', 'True')] } }, 'Healthy'],
  ['argoproj.io/CronWorkflow', {}, 'Healthy'],
  ['cert-manager.io/Certificate', {}, 'Progressing', 'Waiting for certificate'],
  [
    'cert-manager.io/Certificate',
    { status: { conditions: [is('Ready', 'False'), is('Issuing', 'True', { message: 'issuing' })] } },
    'Progressing',
    'issuing',
  ],
  ['cert-manager.io/Certificate', { status: ready('False') }, 'Degraded', 'm'],
  ['cert-manager.io/ClusterIssuer', { status: ready('True') }, 'Healthy'],
  ['external-secrets.io/ExternalSecret', { status: ready('False') }, 'Degraded'],
  [
    'external-secrets.io/ClusterExternalSecret',
    { status: { conditions: [is('NotReady', 'True'), is('Ready', 'True')] } },
    'Healthy',
  ],
  ['bitnami.com/SealedSecret', { status: { conditions: [is('Synced', 'True')] } }, 'Healthy'],
  [
    'kafka.strimzi.io/Kafka',
    { status: { conditions: [is('NotReady', 'True', { reason: 'Creating' })] } },
    'Progressing',
  ],
  ['kafka.strimzi.io/KafkaTopic', { status: { conditions: [is('NotReady', 'True')] } }, 'Degraded'],
  ['keda.sh/ScaledObject', { status: { conditions: [is('Ready', 'True'), is('Paused', 'True')] } }, 'Suspended'],
  ['keda.sh/ScaledObject', { status: { conditions: [is('Ready', 'True'), is('Fallback', 'True')] } }, 'Degraded'],
  ['keda.sh/ScaledJob', { status: ready('Unknown') }, 'Degraded'],
  ['kustomize.toolkit.fluxcd.io/Kustomization', { spec: { suspend: true } }, 'Suspended'],
  ['kustomize.toolkit.fluxcd.io/Kustomization', { status: ready('True') }, 'Healthy'],
  [
    'kustomize.toolkit.fluxcd.io/Kustomization',
    { status: { conditions: [is('Ready', 'Unknown'), is('Reconciling', 'True')] } },
    'Progressing',
  ],
  [
    'helm.toolkit.fluxcd.io/HelmRelease',
    { status: { conditions: [is('Ready', 'True'), is('Released', 'True')] } },
    'Healthy',
  ],
  [
    'helm.toolkit.fluxcd.io/HelmRelease',
    { status: { conditions: [is('Ready', 'False'), is('Released', 'True')] } },
    'Degraded',
  ],
  ['source.toolkit.fluxcd.io/HelmRepository', { spec: { type: 'oci' } }, 'Healthy'],
  [
    'serving.knative.dev/Service',
    { status: { conditions: [is('ConfigurationsReady', 'True'), is('RoutesReady', 'True'), is('Ready', 'True')] } },
    'Healthy',
  ],
  [
    'serving.knative.dev/Service',
    { status: ready('False', { reason: 'r' }) },
    'Degraded',
    'Ready is False, since r. m\n',
  ],
  [
    'monitoring.coreos.com/Prometheus',
    { status: { conditions: [is('Available', 'False', { reason: 'SomePodsNotReady' })] } },
    'Progressing',
  ],
  ['monitoring.coreos.com/Prometheus', { status: { conditions: [is('Available', 'Degraded')] } }, 'Degraded'],
  ['acid.zalan.do/postgresql', { status: { PostgresClusterStatus: 'CreateFailed' } }, 'Degraded'],
  [
    'postgresql.cnpg.io/Cluster',
    { status: { conditions: [], phase: 'Failing over', phaseReason: 'm' } },
    'Degraded',
    'm',
  ],
  [
    'postgresql.cnpg.io/Cluster',
    { metadata: { annotations: { 'cnpg.io/reconciliationLoop': 'disabled' } } },
    'Suspended',
  ],
  ['k8s.mariadb.com/MariaDB', { status: { conditions: [is('Ready', 'False', { reason: 'Failed' })] } }, 'Degraded'],
  [
    'elasticsearch.k8s.elastic.co/Elasticsearch',
    { spec: { nodeSets: [{ count: 2 }, { count: 1 }] }, status: { availableNodes: 3, phase: 'Ready', health: 'red' } },
    'Degraded',
  ],
  [
    'elasticsearch.k8s.elastic.co/Elasticsearch',
    { spec: { nodeSets: [{ count: 2 }] }, status: { availableNodes: 1 } },
    'Progressing',
  ],
  [
    'rabbitmq.com/RabbitmqCluster',
    { status: { conditions: [is('ClusterAvailable', 'True'), is('AllReplicasReady', 'True')] } },
    'Healthy',
  ],
  ['kubevirt.io/VirtualMachine', { status: { conditions: [is('Ready', 'False')] } }, 'Suspended', 'Stopped'],
  ['cdi.kubevirt.io/DataVolume', { status: { phase: 'ImportInProgress' } }, 'Progressing', 'ImportInProgress'],
  [
    'cluster.x-k8s.io/Cluster',
    { status: { phase: 'Provisioned', ...ready('False', { severity: 'Info' }) } },
    'Healthy',
  ],
  ['cluster.x-k8s.io/Cluster', { status: { phase: 'Provisioned', ...ready('False') } }, 'Degraded'],
  ['cluster.x-k8s.io/Machine', { status: { phase: 'Failed', ...ready('False') } }, 'Degraded', 'm'],
  ['cluster.x-k8s.io/MachineDeployment', { spec: { paused: true } }, 'Suspended'],
  ['flagger.app/Canary', { status: { phase: 'Promoting' } }, 'Progressing'],
  ['flagger.app/Canary', { status: { phase: 'Waiting' } }, 'Unknown'],
  [
    'snapshot.storage.k8s.io/VolumeSnapshot',
    { status: { readyToUse: false, error: { message: 'm' } } },
    'Degraded',
    'm',
  ],
  ['gateway.networking.k8s.io/Gateway', { status: { conditions: [is('Accepted', 'False')] } }, 'Degraded', 'm'],
  [
    'gateway.networking.k8s.io/Gateway',
    { status: { conditions: [is('Programmed', 'True')], listeners: [{ conditions: [is('ResolvedRefs', 'False')] }] } },
    'Degraded',
    'Listener: m',
  ],
  [
    'grafana.integreatly.org/Grafana',
    { status: { stage: 'plugins', stageStatus: 'failed' } },
    'Degraded',
    'Failed at stage plugins',
  ],
  [
    'ceph.rook.io/CephCluster',
    { status: { ceph: { health: 'HEALTH_WARN', details: { B: { message: 'b' }, A: { message: 'a' } } } } },
    'Degraded',
    'Ceph health is HEALTH_WARN (a; b)',
  ],
  ['ceph.rook.io/CephCluster', { status: { ceph: { health: 'HEALTH_OK' }, state: 'Creating' } }, 'Progressing'],
  ['kyverno.io/Policy', { status: ready('True', { reason: 'Succeeded' }) }, 'Healthy'],
  ['operator.victoriametrics.com/VMCluster', { status: { updateStatus: 'paused' } }, 'Suspended'],
  // A kind without a table has no health in Argo CD, whatever its conditions say.
  ['example.com/Widget', { status: ready('False') }, 'Healthy'],
  ['argoproj.io/Application', { status: { health: { status: 'Degraded' } } }, 'Healthy'],
]

describe('the health profile Argo', () => {
  for (const [at, [name, given, status, message]] of CASES.entries()) {
    it(`${at + 1}: ${name} is ${status}`, () => {
      const [group = '', kind = ''] = name.split('/')
      const judge = argoHealthFor(group, kind)
      assert.ok(judge !== 'native')
      const { metadata, ...rest } = given
      const object: UnknownObject = { apiVersion: `${group}/v1`, kind, metadata: { name: 'x', ...metadata }, ...rest }
      const verdict = judge(object)
      assert.equal(verdict.status, status)
      if (message !== undefined) assert.equal(verdict.message, message)
    })
  }

  it('leaves kinds that both judge alike to the native profile', () => {
    for (const name of [
      'apps/Deployment',
      'apps/DaemonSet',
      '/Service',
      '/ConfigMap',
      'rbac.authorization.k8s.io/Role',
    ]) {
      const [group = '', kind = ''] = name.split('/')
      assert.equal(argoHealthFor(group, kind), 'native', name)
    }
  })

  it('throws for no status, whatever it holds', () => {
    const odd: readonly unknown[] = [null, 1, 'x', [], [1], { a: 1 }]
    for (const name of [...Object.keys(CUSTOM_KINDS), ...CASES.map(([kind]) => kind)]) {
      const [group = '', kind = ''] = name.split('/')
      const judge = argoHealthFor(group, kind)
      assert.ok(judge !== 'native')
      for (const value of odd) {
        const fields = [
          'conditions',
          'phase',
          'ceph',
          'listeners',
          'containerStatuses',
          'loadBalancer',
          'availableNodes',
        ]
        const status = Object.fromEntries(fields.map((field) => [field, value]))
        const object = { apiVersion: `${group}/v1`, kind, metadata: { name: 'x' }, spec: { strategy: value }, status }
        assert.equal(typeof judge(object).message, 'string', name)
      }
    }
  })

  it('counts at least forty custom kinds', () => assert.ok(Object.keys(CUSTOM_KINDS).length >= 40))

  it('maps all states of Argo CD', () => {
    assert.deepEqual(healthOfVerdict({ status: 'Suspended', message: 'm' }), { state: 'Ready', message: '' })
    assert.deepEqual(healthOfVerdict({ status: 'Unknown', message: '' }), {
      state: 'Progressing',
      message: 'its health is Unknown',
    })
    assert.deepEqual(healthOfVerdict({ status: 'Degraded', message: 'm' }), { state: 'Failed', message: 'm' })
  })
})
