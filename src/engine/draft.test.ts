import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Condition, KubeObject, ResourceType } from '../kinds/meta.ts'
import { decideWrite, noteGeneration, openDraft } from './draft.ts'

interface Thing extends KubeObject {
  spec: { size: number }
  status?: { conditions?: Condition[]; observedGeneration?: number; phase?: string }
}

const ready: Condition = {
  type: 'Ready',
  status: 'True',
  reason: 'Done',
  message: 'all is well',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration: 3,
}

function thing(): Thing {
  return {
    apiVersion: 'x.dev/v1',
    kind: 'Thing',
    metadata: { name: 'a', generation: 3, labels: { a: 'b' } },
    spec: { size: 1 },
    status: { conditions: [ready] },
  }
}

const NOON = 1_767_268_800_000

describe('commit', () => {
  const cases: readonly (readonly [string, (next: Thing) => void, string])[] = [
    ['nothing changed', () => {}, 'Nothing'],
    ['a field was set to undefined', (next) => Object.assign(next.spec, { other: undefined }), 'Nothing'],
    ['spec', (next) => (next.spec.size = 2), 'Object'],
    ['a finalizer', (next) => (next.metadata.finalizers = ['x.dev/f']), 'Object'],
    ['status', (next) => (next.status!.phase = 'Done'), 'Status'],
    ['status gone', (next) => delete next.status, 'Status'],
  ]
  for (const [what, change, expected] of cases) {
    it(`${what}: ${expected}`, () => {
      const draft = openDraft(thing(), NOON)
      change(draft.next)
      assert.equal(decideWrite(draft), expected)
    })
  }

  it('both halves changed is a bug', () => {
    const draft = openDraft(thing(), NOON)
    draft.next.spec.size = 2
    draft.next.status!.phase = 'Done'
    assert.throws(() => decideWrite(draft), /Thing a changed both status and metadata or spec/)
  })
})

describe('conditions', () => {
  it('keep their time while their status does', () => {
    const draft = openDraft(thing(), NOON)
    draft.conditions.set('Ready', 'True', 'Done', 'all is well')
    assert.equal(decideWrite(draft), 'Nothing')
    draft.conditions.set('Ready', 'True', 'StillDone', 'all is well')
    assert.equal(draft.conditions.get('Ready')?.lastTransitionTime, '2026-01-01T00:00:00Z')
    draft.conditions.set('Ready', 'False', 'Broken', 'not any more')
    assert.deepEqual(draft.next.status?.conditions, [
      {
        type: 'Ready',
        status: 'False',
        reason: 'Broken',
        message: 'not any more',
        lastTransitionTime: '2026-01-01T12:00:00Z',
        observedGeneration: 3,
      },
    ])
  })

  it('appear in an object without status, and go', () => {
    const { status: _, ...bare } = thing()
    const draft = openDraft(bare as Thing, NOON)
    assert.equal(draft.conditions.get('Ready'), undefined)
    draft.conditions.remove('Ready')
    draft.conditions.set('Ready', 'True', 'Done', '')
    draft.conditions.set('Other', 'True', 'Done', '')
    draft.conditions.remove('Ready')
    assert.deepEqual(
      draft.next.status?.conditions?.map(({ type }) => type),
      ['Other'],
    )
  })
})

describe('observedGeneration', () => {
  const bare: ResourceType<Thing> = { group: 'x.dev', version: 'v1', kind: 'Thing', plural: 'things', scope: 'Cluster' }
  const withField = { ...bare, schema: { properties: { status: { properties: { observedGeneration: {} } } } } }

  it('is noted for kinds whose status has it, and for no other', () => {
    const draft = openDraft(thing(), NOON)
    noteGeneration(draft, bare)
    assert.equal(decideWrite(draft), 'Nothing')
    noteGeneration(draft, withField)
    assert.equal(draft.next.status?.observedGeneration, 3)
  })
})
