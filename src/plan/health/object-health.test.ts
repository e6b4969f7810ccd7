import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UnknownObject } from '../../kinds/meta.ts'
import { healthOf } from './object-health.ts'

function live(apiVersion: string, kind: string, fields: object, generation?: number): UnknownObject {
  return { apiVersion, kind, metadata: { name: 'x', ...(generation === undefined ? {} : { generation }) }, ...fields }
}
const deployment = (status: object, replicas?: number) =>
  live('apps/v1', 'Deployment', { spec: replicas === undefined ? {} : { replicas }, status }, 2)
const full = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 }
const condition = (type: string, status: string, more: object = {}) => ({ conditions: [{ type, status, ...more }] })
const custom = (status: object) => live('example.com/v1', 'Widget', { status }, 3)

describe('health', () => {
  const cases: [string, UnknownObject, string, RegExp?][] = [
    ['a full Deployment', deployment({ ...full, ...condition('Available', 'True') }, 2), 'Ready'],
    ['a Deployment without replicas', deployment({ observedGeneration: 2 }, 0), 'Ready'],
    ['a Deployment that its controller has not seen', deployment({}), 'Progressing', /not seen the object yet/],
    [
      'a Deployment seen at an old generation',
      deployment({ ...full, observedGeneration: 1 }, 2),
      'Progressing',
      /1 of 2/,
    ],
    [
      'a Deployment with too few updated',
      deployment({ ...full, updatedReplicas: 1 }, 2),
      'Progressing',
      /1 of 2 replicas are updated/,
    ],
    ['a Deployment with old pods', deployment({ ...full, replicas: 3 }, 2), 'Progressing', /1 old/],
    [
      'a Deployment with too few available',
      deployment({ ...full, availableReplicas: 0 }, 2),
      'Progressing',
      /0 of 2 replicas are available/,
    ],
    [
      'a Deployment past its deadline',
      deployment(
        {
          observedGeneration: 2,
          ...condition('Progressing', 'False', { reason: 'ProgressDeadlineExceeded', message: 'has timed out' }),
        },
        2,
      ),
      'Failed',
      /has timed out/,
    ],
    [
      "a Deployment whose last generation's deadline passed",
      deployment(
        { observedGeneration: 1, ...condition('Progressing', 'False', { reason: 'ProgressDeadlineExceeded' }) },
        2,
      ),
      'Progressing',
    ],
    ['a ConfigMap', live('v1', 'ConfigMap', { data: {} }), 'Ready'],
    ['a Namespace', live('v1', 'Namespace', { status: { phase: 'Active' } }), 'Ready'],
    [
      'anything being deleted',
      { ...live('v1', 'ConfigMap', {}), metadata: { name: 'x', deletionTimestamp: 'now' } },
      'Progressing',
    ],
    ['a bound claim', live('v1', 'PersistentVolumeClaim', { status: { phase: 'Bound' } }), 'Ready'],
    ['an unbound claim', live('v1', 'PersistentVolumeClaim', { status: { phase: 'Pending' } }), 'Progressing'],
    [
      'a failed Job',
      live('batch/v1', 'Job', { status: condition('Failed', 'True', { message: 'boom' }) }),
      'Failed',
      /boom/,
    ],
    ['a Job that has not started', live('batch/v1', 'Job', { status: {} }), 'Progressing', /not started/],
    ['a running Job', live('batch/v1', 'Job', { status: { startTime: 't', active: 1 } }), 'Ready'],
    [
      'a suspended Job',
      live('batch/v1', 'Job', { spec: { suspend: true }, status: condition('Suspended', 'True') }),
      'Ready',
    ],
    ['a completed Job', live('batch/v1', 'Job', { status: condition('Complete', 'True') }), 'Ready'],
    [
      'a paused Deployment',
      live('apps/v1', 'Deployment', { spec: { paused: true }, status: { observedGeneration: 2 } }, 2),
      'Ready',
    ],
    ['a suspended CronJob', live('batch/v1', 'CronJob', { spec: { suspend: true }, status: {} }), 'Ready'],
    ['a lost claim', live('v1', 'PersistentVolumeClaim', { status: { phase: 'Lost' } }), 'Failed', /lost/],
    [
      'a ReplicaSet',
      live('apps/v1', 'ReplicaSet', { spec: { replicas: 2 }, status: { availableReplicas: 1 } }),
      'Progressing',
      /1 of 2/,
    ],
    [
      'a ReplicaSet that may not',
      live('apps/v1', 'ReplicaSet', { status: condition('ReplicaFailure', 'True', { message: 'quota' }) }),
      'Failed',
      /quota/,
    ],
    ['a Service', live('v1', 'Service', { spec: { type: 'ClusterIP' } }), 'Ready'],
    [
      'a balancer without address',
      live('v1', 'Service', { spec: { type: 'LoadBalancer' }, status: { loadBalancer: {} } }),
      'Progressing',
      /no address/,
    ],
    [
      'a balancer',
      live('v1', 'Service', { spec: { type: 'LoadBalancer' }, status: { loadBalancer: { ingress: [{ ip: 'x' }] } } }),
      'Ready',
    ],
    [
      'a budget',
      live('policy/v1', 'PodDisruptionBudget', { status: { currentHealthy: 1, desiredHealthy: 2 } }),
      'Progressing',
      /1 of 2/,
    ],
    [
      'an APIService',
      live('apiregistration.k8s.io/v1', 'APIService', {
        status: condition('Available', 'False', { message: 'no endpoints' }),
      }),
      'Progressing',
      /no endpoints/,
    ],
    [
      'a pod in back-off',
      live('v1', 'Pod', {
        spec: {},
        status: {
          phase: 'Pending',
          containerStatuses: [
            { name: 'web', state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } },
          ],
        },
      }),
      'Failed',
      /container web: no such image/,
    ],
    [
      'a pod being made',
      live('v1', 'Pod', {
        spec: {},
        status: {
          phase: 'Pending',
          containerStatuses: [{ name: 'web', state: { waiting: { reason: 'ContainerCreating' } } }],
        },
      }),
      'Progressing',
    ],
    ['an Argo Rollout', live('argoproj.io/v1alpha1', 'Rollout', { status: { phase: 'Healthy' } }), 'Ready'],
    [
      'a paused Argo Rollout',
      live('argoproj.io/v1alpha1', 'Rollout', { status: { phase: 'Paused', message: 'CanaryPauseStep' } }),
      'Progressing',
      /CanaryPauseStep/,
    ],
    [
      'a bad Argo Rollout',
      live('argoproj.io/v1alpha1', 'Rollout', { status: { phase: 'Degraded', message: 'aborted' } }),
      'Failed',
      /aborted/,
    ],
    [
      'an Argo Application',
      live('argoproj.io/v1alpha1', 'Application', { status: { health: { status: 'Degraded', message: 'x' } } }),
      'Failed',
    ],
    [
      'a Flagger canary',
      live('flagger.app/v1beta1', 'Canary', { status: { phase: 'Promoting' } }),
      'Progressing',
      /Promoting/,
    ],
    ['a failed Flagger canary', live('flagger.app/v1beta1', 'Canary', { status: { phase: 'Failed' } }), 'Failed'],
    ['a certificate', live('cert-manager.io/v1', 'Certificate', { status: condition('Ready', 'True') }), 'Ready'],
    [
      'a certificate on its way',
      live('cert-manager.io/v1', 'Certificate', {
        status: condition('Ready', 'False', { reason: 'Issuing', message: 'soon' }),
      }),
      'Progressing',
      /soon/,
    ],
    [
      'a refused certificate',
      live('cert-manager.io/v1', 'CertificateRequest', { status: condition('Ready', 'False', { reason: 'Denied' }) }),
      'Failed',
    ],
    ['a certificate without a status', live('cert-manager.io/v1', 'Certificate', {}), 'Progressing', /not Ready yet/],
    [
      'a Cluster API cluster',
      live('cluster.x-k8s.io/v1beta1', 'Cluster', { status: { phase: 'Provisioning' } }),
      'Progressing',
      /Provisioning/,
    ],
    [
      'a failed machine',
      live('cluster.x-k8s.io/v1beta1', 'Machine', { status: { phase: 'Failed', message: 'no host' } }),
      'Failed',
      /no host/,
    ],
    [
      'a stalled Flux object',
      live('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', {
        status: condition('Stalled', 'True', { message: 'bad path' }),
      }),
      'Failed',
      /bad path/,
    ],
    ['a failed Pod', live('v1', 'Pod', { status: { phase: 'Failed', message: 'evicted' } }), 'Failed', /evicted/],
    ['a ready Pod', live('v1', 'Pod', { status: condition('Ready', 'True') }), 'Ready'],
    [
      'an established CRD',
      live('apiextensions.k8s.io/v1', 'CustomResourceDefinition', { status: condition('Established', 'True') }),
      'Ready',
    ],
    ['a fresh CRD', live('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {}), 'Progressing'],
    [
      'a DaemonSet short of pods',
      live('apps/v1', 'DaemonSet', {
        status: { observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 2 },
      }),
      'Progressing',
      /2 of 3/,
    ],
    ['a StatefulSet', live('apps/v1', 'StatefulSet', { status: { observedGeneration: 1, readyReplicas: 1 } }), 'Ready'],
    [
      'a StatefulSet short of pods',
      live('apps/v1', 'StatefulSet', { spec: { replicas: 2 }, status: { observedGeneration: 1, readyReplicas: 1 } }),
      'Progressing',
    ],
    ['a stalled custom object', custom(condition('Stalled', 'True', { message: 'bad spec' })), 'Failed', /bad spec/],
    ['a reconciling custom object', custom(condition('Reconciling', 'True')), 'Progressing'],
    [
      'a custom object that is not ready',
      custom(condition('Ready', 'False', { message: 'soon' })),
      'Progressing',
      /soon/,
    ],
    ['a custom object that says nothing', custom({}), 'Ready'],
  ]
  for (const [what, object, state, message] of cases) {
    it(`${state}: ${what}`, () => {
      const health = healthOf(object)
      assert.equal(health.state, state)
      if (message) assert.match(health.message, message)
    })
  }
})
