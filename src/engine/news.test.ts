import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition, KubeObject } from '../kinds/meta.ts'
import { newsOf } from './news.ts'

const at = '2026-11-16T00:00:00Z'

function objectWith(...conditions: readonly (readonly [string, Condition['status'], string, string?])[]): KubeObject {
  const all = conditions.map(([type, status, reason, message = 'words']) => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime: at,
  }))
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x' }, status: { conditions: all } } as KubeObject
}

test('a condition is news when its status or reason changes, not when its words do', () => {
  const cases: readonly (readonly [string, KubeObject, KubeObject, readonly string[]])[] = [
    ['first seen', objectWith(), objectWith(['Ready', 'True', 'Done']), ['Normal Done']],
    ['same', objectWith(['Ready', 'True', 'Done']), objectWith(['Ready', 'True', 'Done']), []],
    ['other words', objectWith(['Ready', 'False', 'Busy', '1']), objectWith(['Ready', 'False', 'Busy', '2']), []],
    ['other reason', objectWith(['Ready', 'False', 'A']), objectWith(['Ready', 'False', 'B']), ['Normal B']],
    ['removed', objectWith(['Held', 'True', 'A']), objectWith(), []],
    ['echo', objectWith(), objectWith(['Ready', 'False', 'A'], ['Reconciling', 'True', 'A']), ['Normal A']],
    ['said once', objectWith(), objectWith(['Ready', 'False', 'A'], ['Held', 'True', 'A']), ['Normal A']],
    ['stuck', objectWith(), objectWith(['Rendered', 'False', 'A'], ['Stalled', 'True', 'A']), ['Warning A']],
  ]
  for (const [name, before, after, wanted] of cases) {
    const told = newsOf(before, after).map(({ type, reason }) => `${type} ${reason}`)
    assert.deepEqual(told, wanted, name)
  }
})
