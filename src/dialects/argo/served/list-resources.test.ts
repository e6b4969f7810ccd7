import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectSet } from '../../../wire/document/cluster-document.ts'
import { listResources } from './list-resources.ts'

const digest = (letter: string) => `sha256:${letter.repeat(64)}` as const
const set = (objects: Record<string, string>): ObjectSet =>
  ({
    objects: Object.entries(objects).map(([name, letter]) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      namespace: 'shop',
      name,
      digest: digest(letter),
    })),
  }) as unknown as ObjectSet

const bundle = 'argocd/web'

function shown(newest: ObjectSet, assigned: ObjectSet | undefined, { isOffline = false, set: of = 'old' } = {}) {
  const assignedSet = assigned === undefined ? undefined : assigned === newest ? 'new' : 'old'
  const reported = [{ bundle: 'argocd/web', set: of, state: 'Ready' as const, objectCounts: { Ready: 9 } }]
  return listResources([{ bundle, newest, newestSet: 'new', assigned, assignedSet }], { reported, isOffline }).map(
    ({ name, status, health, requiresPruning }) => [
      name,
      status,
      health?.status,
      ...(requiresPruning ? ['prune'] : []),
    ],
  )
}

test('while a newer content waits, only what it changes is OutOfSync', () => {
  const was = set({ same: 'a', changed: 'b', gone: 'c' })
  const now = set({ same: 'a', changed: 'd', added: 'e' })
  assert.deepEqual(shown(now, was), [
    ['same', 'Synced', 'Healthy'],
    ['changed', 'OutOfSync', 'Healthy'],
    ['added', 'OutOfSync', 'Missing'],
    ['gone', 'OutOfSync', 'Healthy', 'prune'],
  ])
  assert.deepEqual(
    shown(now, was, { isOffline: true }).map(([, status]) => status),
    ['Unknown', 'Unknown', 'Unknown', 'Unknown'],
  )
})

test('nothing is Synced that no agent has reported', () => {
  const now = set({ a: 'a' })
  assert.deepEqual(shown(now, undefined), [['a', 'OutOfSync', 'Missing']])
  assert.deepEqual(shown(now, now), [['a', 'OutOfSync', 'Unknown']])
  assert.deepEqual(shown(now, now, { set: 'new' }), [['a', 'Synced', 'Healthy']])
})
