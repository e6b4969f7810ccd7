import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../kinds/meta.ts'
import { createStatusFlapGuard } from './status-flap-guard.ts'

interface Thing extends KubeObject {
  readonly status?: Readonly<Record<string, unknown>>
}

const thing = (status: Thing['status'], uid = 'u'): Thing => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', uid },
  ...(status ? { status } : {}),
})
const draft = (from: Thing['status'], to: Thing['status'], uid?: string) => {
  const conditions = { get: () => undefined, set: () => {}, remove: () => {} }
  return { seen: thing(from, uid), next: thing(to, uid), conditions }
}
const ready = (message: string, at: string, status = 'True') => ({
  conditions: [{ type: 'Ready', status, message, lastTransitionTime: at }],
})

test('a status that was overwritten is written again after a while; other changes at once', () => {
  const noon = '2026-11-17T12:00:00Z'
  const later = '2026-11-17T12:00:05Z'
  const said = draft({ phase: 'Moving', count: 1 }, { phase: 'Done', count: 1, ...ready(`well since ${noon}`, noon) })
  const table: [why: string, again: ReturnType<typeof draft>, afterMs: number, waitMs: number][] = [
    ['taken back a moment ago', draft({ phase: 'Moving' }, { phase: 'Done' }), 2_000, 8_000],
    ['a condition, told with another time', draft({}, ready(`well since ${later}`, later)), 2_000, 8_000],
    ['taken back a while ago', draft({ phase: 'Moving' }, { phase: 'Done' }), 10_000, 0],
    ['something else', draft({ phase: 'Moving' }, { phase: 'Failed' }), 2_000, 0],
    ['something else beside it', draft({ phase: 'Moving', count: 1 }, { phase: 'Done', count: 2 }), 2_000, 0],
    ['the same condition with another status', draft({}, ready(`well since ${noon}`, noon, 'False')), 2_000, 0],
    ['what stood before it was said', draft({ phase: 'Done', count: 2 }, { phase: 'Done', count: 1 }), 2_000, 0],
    ['another object of that name', draft({ phase: 'Moving' }, { phase: 'Done' }, 'other'), 2_000, 0],
  ]
  for (const [why, again, afterMs, waitMs] of table) {
    const lastWords = createStatusFlapGuard(10_000)
    assert.equal(lastWords.waitMs(said, 1_000), 0, 'at first')
    lastWords.noteWrite(said, 1_000)
    assert.equal(lastWords.waitMs(again, 1_000 + afterMs), waitMs, why)
  }
})

test('a process that wrote another status in between may write the first one again at once', () => {
  const lastWords = createStatusFlapGuard(10_000)
  lastWords.noteWrite(draft({ phase: 'Moving' }, { phase: 'Done' }), 1_000)
  lastWords.noteWrite(draft({ phase: 'Done' }, { phase: 'Moving' }), 2_000)
  assert.equal(lastWords.waitMs(draft({ phase: 'Moving' }, { phase: 'Done' }), 3_000), 0)
})
