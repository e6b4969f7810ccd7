import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import { firstClusters, joinFirsts } from './first-clusters.ts'

const bundle = { metadata: { name: 'web', namespace: 'shops' } } as Bundle
const admitted = (cluster: string, failedAt?: string, of = 'web') => ({
  bundle: of,
  cluster,
  ring: 'all',
  admittedAt: '2026-01-01T00:00:00Z',
  ...(failedAt !== undefined && { failedAt }),
})
const rollout = (...admissions: ReturnType<typeof admitted>[]) => ({ status: { admissions } }) as unknown as Rollout

test('the first cluster of a state by name, with the message of its agent', () => {
  const of = rollout(
    admitted('c3', '2026-01-01T00:00:00Z'),
    admitted('c0', '2026-01-01T00:00:00Z', 'other'),
    admitted('c2', '2026-01-01T00:00:00Z'),
    admitted('c5'),
    admitted('c4'),
  )
  const messages: Record<string, string> = { c2: 'no such image', c3: 'other' }
  assert.deepEqual(
    firstClusters(bundle, of, (cluster) => messages[cluster]),
    { ErrApplied: 'Cluster c2: no such image', NotReady: 'Cluster c4' },
  )
  const long = firstClusters(bundle, of, () => 'x'.repeat(9000))
  assert.ok((long.ErrApplied ?? '').length < 600)
  assert.deepEqual(
    firstClusters(bundle, undefined, () => undefined),
    {},
  )
})

test('clusters without content are named by the Bundle, and the first bundle by order counts', () => {
  const condition = { type: 'Rendered', status: 'True', reason: 'PartlyRendered', message: 'Not for c1: why.' }
  const partly = { ...bundle, status: { conditions: [condition] } } as unknown as Bundle
  const first = firstClusters(partly, rollout(), () => undefined)
  assert.deepEqual(first, { ErrApplied: 'Not for c1: why.' })
  const failed = rollout(admitted('c2', '2026-01-01T00:00:00Z'))
  assert.deepEqual(
    firstClusters(partly, failed, () => undefined),
    { ErrApplied: 'Cluster c2' },
  )
  assert.deepEqual(joinFirsts([{ NotReady: 'a' }, first, { NotReady: 'b', ErrApplied: 'c' }]), {
    NotReady: 'a',
    ErrApplied: 'Not for c1: why.',
  })
})
