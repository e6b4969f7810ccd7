import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReportedCheck } from '../../wire/link/frames.ts'
import { waitsFor } from './check-dependencies.ts'

const is = (bundle: string, name: string, state: ReportedCheck['state']) => ({
  bundle,
  kind: 'ConfigurationPolicy',
  name,
  state,
})
const ME = { bundle: 'ops/me', name: 'me' }

test('a check waits until all checks of a bundle are as it wants, and says which is not', () => {
  const dependsOn = [{ bundles: ['ops/other'] }]
  const wait = (...all: ReturnType<typeof is>[]) => waitsFor({ dependsOn }, ME, all)
  assert.match(wait() ?? '', /bundle ops\/other is not on this cluster, and Compliant is required/)
  assert.equal(wait(is('ops/other', 'a', 'Compliant'), is('ops/else', 'b', 'NonCompliant')), undefined)
  assert.match(wait(is('ops/other', 'a', 'Compliant'), is('ops/other', 'b', 'Pending')) ?? '', /is Pending/)
  assert.match(wait(is('ops/other', 'a', 'Unknown'), is('ops/other', 'b', 'Compliant')) ?? '', /is Unknown/)
})

test('a dependency may want another state, and may be for some checks only', () => {
  const failing = [{ name: 'a', compliance: 'NonCompliant' as const, checks: ['me'] }]
  assert.equal(waitsFor({ dependsOn: failing }, ME, [is('x/y', 'a', 'NonCompliant')]), undefined)
  assert.match(waitsFor({ dependsOn: failing }, ME, [is('x/y', 'a', 'Compliant')]) ?? '', /NonCompliant is required/)
  assert.equal(waitsFor({ dependsOn: failing }, { ...ME, name: 'other' }, []), undefined)
})

test('a check never waits for itself', () => {
  assert.match(
    waitsFor({ dependsOn: [{ bundles: ['ops/me'] }] }, ME, [is('ops/me', 'me', 'Compliant')]) ?? '',
    /not on this cluster/,
  )
})
