import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTime } from '../../../core/time/time.ts'
import type { ManifestWork } from '../works/kinds.ts'
import { addonHealth } from './addon-health.ts'

const NOW = parseTime('2026-11-18T12:00:00Z')!

function work(kind: string, name: string, values: Record<string, number | string>): ManifestWork {
  const feedback = Object.entries(values).map(([key, value]) => ({
    name: key,
    fieldValue:
      typeof value === 'number'
        ? { type: 'Integer' as const, integer: value }
        : { type: 'String' as const, string: value },
  }))
  const resourceMeta = { ordinal: 0, kind, name, namespace: 'x' }
  const manifests = [{ resourceMeta, conditions: [], statusFeedback: { values: feedback } }]
  return {
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { name: 'w' },
    spec: {},
    status: { conditions: [], resourceStatus: { manifests } },
  }
}

const words = (...[addon, mode, of]: [string, 'Lease' | 'Customized', ManifestWork | undefined]) => {
  const { status, reason } = addonHealth(addon, mode, of, NOW)
  return `${status} ${reason}`
}

test('by lease: renewed within five minutes, and unknown while it is not reported', () => {
  const lease = (renewTime: string) => words('web', 'Lease', work('Lease', 'web', { renewTime }))
  assert.equal(lease('2026-11-18T11:56:00.000000Z'), 'True ManagedClusterAddOnLeaseUpdated')
  assert.equal(lease('2026-11-18T11:55:00Z'), 'False ManagedClusterAddOnLeaseUpdateStopped')
  assert.equal(lease('soon'), 'Unknown ManagedClusterAddOnLeaseNotFound')
  assert.equal(words('web', 'Lease', work('Lease', 'other', {})), 'Unknown ManagedClusterAddOnLeaseNotFound')
  assert.equal(words('web', 'Lease', undefined), 'Unknown ManagedClusterAddOnLeaseNotFound')
})

test('by workload: a Deployment has a ready pod, a DaemonSet all of them', () => {
  const deployment = (values: Record<string, number>) => words('web', 'Customized', work('Deployment', 'd', values))
  assert.equal(deployment({ Replicas: 2, ReadyReplicas: 1 }), 'True ProbeAvailable')
  assert.equal(deployment({ Replicas: 2 }), 'False ProbeUnavailable')
  assert.equal(deployment({}), 'Unknown NoProbeResult')
  const daemons = (NumberReady: number) =>
    words('web', 'Customized', work('DaemonSet', 'd', { NumberReady, DesiredNumberScheduled: 2 }))
  assert.deepEqual([daemons(1), daemons(2)], ['False ProbeUnavailable', 'True ProbeAvailable'])
  assert.equal(words('web', 'Customized', undefined), 'Unknown NoProbeResult')
})
