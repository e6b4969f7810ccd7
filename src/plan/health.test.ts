import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UnknownObject } from '../kinds/meta.ts'
import { healthOf } from './health.ts'

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
    ['a Deployment nobody saw', deployment({}), 'Progressing', /not seen it yet/],
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
    ['a running Job', live('batch/v1', 'Job', { status: {} }), 'Ready'],
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
