import assert from 'node:assert/strict'
import { test } from 'node:test'
import { orderSync } from './sync-order.ts'
import type { SyncObject } from './sync-order.ts'

function object(kind: string, name: string, annotations: Record<string, string> = {}, apiVersion = 'v1'): SyncObject {
  return { apiVersion, kind, metadata: { name, annotations } }
}

const INPUT = {
  live: [],
  namespace: 'apps',
  revision: '089d92cbf9ff',
  startedMs: 1_772_366_400_000,
  clusterScoped: new Set(['Namespace']),
}

function names(targets: readonly SyncObject[], more: Partial<Parameters<typeof orderSync>[0]> = {}): string[] {
  return orderSync({ ...INPUT, targets, ...more }).tasks.map(({ phase, wave, name }) => `${phase} ${wave} ${name}`)
}

test('phase, wave, kind and name', () => {
  const hook = { 'argocd.argoproj.io/hook': 'PreSync' }
  assert.deepEqual(
    names([
      object('Deployment', 'b', {}, 'apps/v1'),
      object('ConfigMap', 'a-2'),
      object('ConfigMap', 'a-10'),
      object('Job', 'first', hook, 'batch/v1'),
      object('Secret', 'late', { 'argocd.argoproj.io/sync-wave': '+3' }),
    ]),
    ['PreSync 0 first', 'Sync 0 a-10', 'Sync 0 a-2', 'Sync 0 b', 'Sync 3 late'],
  )
})

test('a namespace goes before the first object in it, in its wave', () => {
  const early: SyncObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', namespace: 'team', annotations: { 'argocd.argoproj.io/sync-wave': '-1' } },
  }
  assert.deepEqual(names([object('Namespace', 'team'), early]), ['Sync -1 team', 'Sync -1 c'])
})

test('objects leave in mirrored waves, and last when asked', () => {
  const live = [0, 1, 2].map((wave) =>
    object('ConfigMap', `w${wave}`, { 'argocd.argoproj.io/sync-wave': String(wave) }),
  )
  assert.deepEqual(names([], { live }), ['Sync 0 w2', 'Sync 1 w1', 'Sync 2 w0'])
  assert.deepEqual(names([object('Pod', 'p')], { live: live.slice(0, 1), pruneLast: true }), ['Sync 0 p', 'Sync 1 w0'])
})

test('an unknown kind stays unknown unless its definition comes along', () => {
  const widget = object('Widget', 'w', {}, 'example.com/v1')
  const definition = {
    ...object('CustomResourceDefinition', 'widgets.example.com', {}, 'apiextensions.k8s.io/v1'),
    spec: { group: 'example.com', names: { kind: 'Widget' } },
  }
  const unknownKinds = new Set(['Widget.example.com'])
  assert.equal(orderSync({ ...INPUT, targets: [widget], unknownKinds }).allKnown, false)
  const both = orderSync({ ...INPUT, targets: [widget, definition], unknownKinds })
  assert.equal(both.allKnown, true)
  assert.deepEqual(
    both.tasks.map(({ kind, skipsDryRun }) => [kind, skipsDryRun]),
    [
      ['CustomResourceDefinition', false],
      ['Widget', true],
    ],
  )
})

test('a hook without a name gets one of revision, phase and start', () => {
  const hook: SyncObject = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { generateName: 'db-', annotations: { 'argocd.argoproj.io/hook': 'PostSync' } },
  }
  assert.deepEqual(names([hook]), ['PostSync 0 db-089d92c-postsync-1772366400'])
  assert.deepEqual(names([hook], { skipHooks: true }), [])
})
