import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isObject } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { forgetPatch, HANDOVER_ANNOTATION, isChangedByHandover, restorePatch, savePatch } from './saved-fields.ts'
import type { FieldChange } from './saved-fields.ts'

const WORK: UnknownObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'agent', namespace: 'x', resourceVersion: '7', finalizers: ['a', 'b'], labels: { owner: 'helm' } },
  spec: { replicas: 2 },
}

/** RFC 7386, as the API server does it. */
function merged<T>(target: T, patch: unknown): T {
  if (!isObject(patch)) return patch as T
  const copy: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete copy[name]
    else copy[name] = merged(copy[name], value)
  }
  return copy as T
}

/** A removed annotation leaves an empty map. */
function withoutEmpty(object: UnknownObject): UnknownObject {
  const { annotations = {}, ...metadata } = object.metadata
  return { ...object, metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations } }
}

const CHANGES: readonly (readonly FieldChange[])[] = [
  [{ path: ['spec', 'replicas'], value: 0 }],
  [{ path: ['spec', 'suspend'], value: true }],
  [{ path: ['metadata', 'finalizers'], value: ['b'] }],
  [{ path: ['metadata', 'labels', 'owner'], value: 'flotilla-handover' }],
  [{ path: ['metadata', 'annotations', 'argocd.argoproj.io/skip-reconcile'], value: 'true' }],
  [
    { path: ['spec', 'suspend'], value: true },
    { path: ['metadata', 'finalizers'], value: [] },
  ],
]

describe('changes of a handover', () => {
  it('are one patch with the former values, need nothing twice, and go back to what was there', () => {
    for (const changes of CHANGES) {
      const patch = savePatch(WORK, changes)
      assert.ok(patch)
      const changed = merged(WORK, patch)
      assert.ok(isChangedByHandover(changed))
      assert.equal(savePatch(changed, changes), undefined, 'a second pass writes nothing')
      const back = merged(changed, restorePatch(changed))
      assert.deepEqual(withoutEmpty(back), WORK, JSON.stringify(changes))
      assert.equal(restorePatch(back), undefined)
    }
  })

  it('keep the first former value when a system starts its controllers again meanwhile', () => {
    const stopped = merged(WORK, savePatch(WORK, CHANGES[0]!))
    const again = merged(stopped, { spec: { replicas: 5 } })
    const twice = merged(again, savePatch(again, CHANGES[0]!))
    assert.deepEqual((twice['spec'] as { replicas: number }).replicas, 0)
    assert.deepEqual(merged(twice, restorePatch(twice))['spec'], { replicas: 2 })
  })

  it('restore a list beside what others added to it', () => {
    const changed = merged(WORK, savePatch(WORK, [{ path: ['metadata', 'finalizers'], value: [] }]))
    const more = merged(changed, { metadata: { finalizers: ['mine', 'a'] } })
    assert.deepEqual(merged(more, restorePatch(more)).metadata.finalizers, ['a', 'b', 'mine'])
  })

  it('restore an owner only if it is still there: Kubernetes deletes an object whose owners are gone', () => {
    const owner = (uid: string) => ({ apiVersion: 'x/v1', kind: 'Work', name: uid, uid })
    const owned = merged(WORK, { metadata: { ownerReferences: [owner('a'), owner('b')] } })
    const freed = merged(owned, savePatch(owned, [{ path: ['metadata', 'ownerReferences'], value: [] }]))
    const now = merged(freed, { metadata: { ownerReferences: [owner('c')] } })
    const ownersAfter = (patch: object | undefined) => merged(now, patch).metadata.ownerReferences
    assert.deepEqual(ownersAfter(restorePatch(now, new Set(['b', 'c']))), [owner('b'), owner('c')])
    assert.deepEqual(ownersAfter(restorePatch(now)), [owner('c')])
  })

  it('refuse to write over a newer version, and can be forgotten', () => {
    const patch = savePatch(WORK, CHANGES[0]!) as { metadata: { resourceVersion: string } }
    assert.equal(patch.metadata.resourceVersion, '7')
    const changed = merged(WORK, patch)
    const forgotten = merged(changed, forgetPatch(changed))
    assert.deepEqual(forgotten['spec'], { replicas: 0 })
    assert.ok(!isChangedByHandover(forgotten))
    assert.equal(forgetPatch(WORK), undefined)
  })

  it('restore no field but those that handovers change', () => {
    const role: UnknownObject = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'x' },
      rules: [],
    }
    const all = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
    for (const path of [
      ['rules'],
      ['spec', 'template'],
      ['metadata', 'labels', 'x'],
      ['metadata', 'annotations', 'y'],
    ]) {
      const text = JSON.stringify([{ path, value: all }])
      const planted = merged(role, { metadata: { annotations: { [HANDOVER_ANNOTATION]: text } } })
      assert.deepEqual(withoutEmpty(merged(planted, restorePatch(planted))), role, path.join('.'))
    }
  })

  it('read no more from a spoiled annotation than it has', () => {
    for (const text of ['{', '[1]', '[{"path":[]}]', '[{"path":"x"}]', 'x'.repeat(70_000)]) {
      const spoiled = merged(WORK, { metadata: { annotations: { [HANDOVER_ANNOTATION]: text } } })
      assert.deepEqual(withoutEmpty(merged(spoiled, restorePatch(spoiled))), WORK, text.slice(0, 20))
    }
    const hostile = JSON.stringify([{ path: ['__proto__', 'polluted'], value: 'yes' }])
    restorePatch(merged(WORK, { metadata: { annotations: { [HANDOVER_ANNOTATION]: hostile } } }))
    assert.equal(({} as { polluted?: string }).polluted, undefined)
  })
})
