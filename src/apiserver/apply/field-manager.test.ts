import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ManagedFieldsEntry, UnknownObject } from '../../kinds/meta.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { applyObject, trackUpdate } from './field-manager.ts'

const ADMISSION = { bundle: 'shop', ring: 'all', admittedAt: '2026-11-16T00:20:50Z' }

function rollout(clusters: readonly string[], managedFields?: ManagedFieldsEntry[]): UnknownObject {
  return {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'Rollout',
    metadata: { name: 'shop-g1', namespace: 'default', ...(managedFields && { managedFields }) },
    spec: { release: 'shop-g1', rings: [{ name: 'all', concurrency: 10 }], paused: false },
    status: { phase: 'Progressing', admissions: clusters.map((cluster) => ({ ...ADMISSION, cluster })) },
  }
}

/** As version 0.1 recorded it, when the list of admissions was merged by its keys. */
function recordedByItems(clusters: readonly string[]): ManagedFieldsEntry {
  const items = clusters.map((cluster) => [
    `k:{"bundle":"shop","cluster":"${cluster}"}`,
    { '.': {}, 'f:bundle': {}, 'f:cluster': {}, 'f:ring': {}, 'f:admittedAt': {} },
  ])
  return {
    manager: 'flotilla-rollout-advance',
    operation: 'Update',
    apiVersion: 'flotilla.dev/v1alpha1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:status': { 'f:phase': {}, 'f:admissions': { '.': {}, ...Object.fromEntries(items) } } },
    subresource: 'status',
  }
}

const write = (live: UnknownObject | undefined, next: UnknownObject): ManagedFieldsEntry[] => {
  trackUpdate({ kind: Rollout, live, next, manager: 'flotilla-rollout-advance', subresource: 'status', now: 0 })
  return next.metadata.managedFields ?? []
}

describe('the managed fields of the records of the hub', () => {
  it('do not grow with the number of admissions', () => {
    const lengthOf = (count: number) => {
      const clusters = Array.from({ length: count }, (_, n) => `store-${n}`)
      return JSON.stringify(write(undefined, rollout(clusters))).length
    }
    assert.equal(lengthOf(1000), lengthOf(1))
  })

  it('forget the items that a hub of an older version recorded one by one, with the next write', () => {
    const before = ['store-1', 'store-2', 'store-3']
    const live = rollout(before, [recordedByItems(before)])
    const [entry, ...others] = write(live, rollout(['store-2']))
    assert.deepEqual(others, [])
    assert.deepEqual(entry?.fieldsV1, { 'f:status': { 'f:admissions': {}, 'f:phase': {} } })
  })

  it('keep one owner of the list when another manager owned an item of it', () => {
    const before = ['store-1', 'store-2']
    const other = { ...recordedByItems(['store-1']), manager: 'a-person' }
    const live = rollout(before, [recordedByItems(before), other])
    const managers = write(live, rollout(['store-2']))
    const owners = managers.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('f:admissions'))
    assert.deepEqual(
      owners.map(({ manager }) => manager),
      ['flotilla-rollout-advance'],
    )
  })

  it('let an applier that owned items go on as the owner of the list', () => {
    const applied = { ...recordedByItems(['store-1']), manager: 'restore', operation: 'Apply' } as const
    const after = applyObject({
      kind: Rollout,
      live: rollout(['store-1'], [applied]),
      config: rollout([]),
      manager: 'restore',
      force: false,
      subresource: 'status',
      now: 0,
    })
    assert.deepEqual((after as { status?: { admissions?: unknown } }).status?.admissions, [])
  })
})
