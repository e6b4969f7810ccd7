import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { digestOf } from '../../core/crypto/digest.ts'
import { decideRelease, releaseName } from './decide-release.ts'
import type { ExistingRelease, WantedRelease } from './decide-release.ts'

const existing = (generation: number, content = `v${generation}`, placement = 'p'): ExistingRelease => ({
  name: releaseName('b', generation),
  generation,
  set: digestOf(content),
  placement,
})
const wish = (generation: number, content: string, extra: Partial<WantedRelease> = {}): WantedRelease => ({
  bundle: 'b',
  generation,
  set: digestOf(content),
  placement: 'p',
  existing: [],
  highestAssigned: 0,
  ...extra,
})

test('naming', () => {
  const table: [string, WantedRelease, string][] = [
    ['the first', wish(1, 'v1'), 'b-g1'],
    ['an edit', wish(5, 'v5', { existing: [existing(1)] }), 'b-g5'],
    ['the same content', wish(2, 'v1', { existing: [existing(1)] }), 'keep b-g1'],
    ['another placement', wish(2, 'v1', { existing: [existing(1)], placement: 'q' }), 'b-g2'],
    ['back to older content', wish(3, 'v1', { existing: [existing(1), existing(2)] }), 'b-g3'],
    ['made again with other content', wish(1, 'new', { existing: [existing(7)] }), 'b-g8'],
    ['made again, Releases gone, clusters at 7', wish(1, 'new', { highestAssigned: 7 }), 'b-g8'],
    [
      'made again with the content clusters run',
      wish(1, 'v7', { existing: [existing(7)], highestAssigned: 7 }),
      'keep b-g7',
    ],
  ]
  for (const [name, input, expected] of table) {
    const decision = decideRelease(input)
    assert.equal(decision.kind === 'Keep' ? `keep ${decision.release.name}` : decision.name, expected, name)
  }
})

test('long names stay distinct and valid', () => {
  const long = `${'a'.repeat(229)}.${'b'.repeat(20)}`
  const names = [long, `${long}c`].map((bundle) => releaseName(bundle, 123_456_789))
  assert.notEqual(names[0], names[1])
  for (const name of names) {
    assert.ok(name.length <= 253)
    assert.match(name, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
  }
})

test('property: a new generation is above everything released and assigned', () => {
  fc.assert(
    fc.property(fc.nat(9), fc.array(fc.integer({ min: 1, max: 9 })), fc.nat(9), (generation, list, highestAssigned) => {
      const decision = decideRelease(
        wish(generation + 1, 'x', { existing: list.map((g) => existing(g)), highestAssigned }),
      )
      assert.equal(decision.kind, 'Create')
      if (decision.kind === 'Create') assert.ok(decision.generation > Math.max(0, highestAssigned, ...list))
    }),
  )
})
