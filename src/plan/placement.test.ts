import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchesSelector } from '../core/selector.ts'
import { decidePlacement, explainPlacement, PAGE_SIZE } from './placement.ts'
import type { PlacementCluster, PlacementQuestion } from './placement.ts'

const cluster = (name: string, labels: Record<string, string> = {}, accepted = true): PlacementCluster => ({
  name,
  labels,
  accepted,
})
const stores: PlacementQuestion = { clusterSelector: { matchLabels: { tier: 'store' } } }

test('every cluster has a reason that names what was wanted and what was found', () => {
  const table: [PlacementQuestion['clusterSelector'], PlacementCluster, boolean, string][] = [
    [{ matchLabels: { tier: 'store' } }, cluster('a', { tier: 'store' }), true, 'labels match: tier=store'],
    [
      { matchLabels: { tier: 'store' } },
      cluster('a', { tier: 'dc' }),
      false,
      'the selector wants tier=store, but tier is "dc"',
    ],
    [
      { matchLabels: { tier: 'store' } },
      cluster('a'),
      false,
      'the selector wants tier=store, but the cluster has no label tier',
    ],
    [{}, cluster('a'), true, 'the selector is empty and selects every accepted cluster'],
    [{}, cluster('a', {}, false), false, 'not accepted yet; accept it with: flotilla cluster accept a'],
    [{}, { ...cluster('a'), leaving: true }, false, 'the Cluster is being deleted'],
    [
      { matchExpressions: [{ key: 'r', operator: 'In', values: ['x', 'y'] }] },
      cluster('a', { r: 'z' }),
      false,
      'the selector wants r in (x, y), but r is "z"',
    ],
    [
      { matchExpressions: [{ key: 'r', operator: 'NotIn', values: ['x', 'y'] }] },
      cluster('a', { r: 'x' }),
      false,
      'the selector wants r notin (x, y), but r is "x"',
    ],
    [
      { matchExpressions: [{ key: 'r', operator: 'NotIn', values: ['x'] }] },
      cluster('a', { r: 'x' }),
      false,
      'the selector wants r!=x, but r is "x"',
    ],
    [
      { matchExpressions: [{ key: 'r', operator: 'Exists' }] },
      cluster('a'),
      false,
      'the selector wants the label r, but the cluster has no label r',
    ],
    [
      { matchExpressions: [{ key: 'r', operator: 'DoesNotExist' }] },
      cluster('a', { r: '' }),
      false,
      'the selector wants no label r, but r is ""',
    ],
  ]
  for (const [clusterSelector, subject, selected, message] of table) {
    const verdict = explainPlacement({ clusterSelector }, subject)
    assert.equal(verdict.selected, selected, message)
    assert.equal(verdict.message, message)
  }
})

test('the answer is in order of name and says why others are not in it', () => {
  const answer = decidePlacement(stores, [
    cluster('b', { tier: 'store' }),
    cluster('c', { tier: 'dc' }),
    cluster('a', { tier: 'store' }),
    cluster('d', { tier: 'store' }, false),
  ])
  assert.deepEqual(
    answer.decisions.map((decision) => decision.cluster),
    ['a', 'b'],
  )
  assert.equal(answer.message, '2 clusters selected.')
  assert.deepEqual(answer.pages, [answer.decisions])
})

test('nobody selected is one empty page and a sentence', () => {
  const none = decidePlacement(stores, [])
  assert.deepEqual(none.pages, [[]])
  assert.match(none.message, /No cluster is registered yet; add one/)
  const dc = [cluster('c', { tier: 'dc' }), cluster('d', { tier: 'store' }, false)]
  assert.equal(
    decidePlacement(stores, dc).message,
    'No cluster is selected: 1 with labels the selector does not want, 1 not accepted yet.',
  )
})

test('a cluster keeps its page; a newcomer takes the first free place', () => {
  const fleet = Array.from({ length: PAGE_SIZE + 2 }, (_, i) => cluster(`m${String(i).padStart(4, '0')}`))
  const everything = { clusterSelector: {} }
  const first = decidePlacement(everything, fleet)
  assert.deepEqual(
    first.pages.map((page) => page.length),
    [PAGE_SIZE, 2],
  )
  const names = first.pages.map((page) => page.map((decision) => decision.cluster))
  const grown = decidePlacement(everything, [...fleet, cluster('a0')], names)
  assert.deepEqual(grown.pages[0], first.pages[0], 'a name that sorts first does not push others to the next page')
  assert.deepEqual(
    grown.pages[1]?.map((decision) => decision.cluster),
    ['a0', 'm0500', 'm0501'],
  )
})

const arbitraryCluster = fc.record({
  name: fc.stringMatching(/^[a-e][a-e0-9]{0,3}$/),
  labels: fc.dictionary(fc.constantFrom('t', 'r'), fc.constantFrom('x', 'y')),
  accepted: fc.boolean(),
})
const arbitraryFleet = fc.uniqueArray(arbitraryCluster, { selector: ({ name }) => name, maxLength: 20 })
const arbitraryQuestion = fc.record({
  clusterSelector: fc.record({
    matchLabels: fc.dictionary(fc.constantFrom('t', 'r'), fc.constantFrom('x', 'y'), { maxKeys: 2 }),
  }),
})

test('property: decisions are exactly the accepted matches, in one place each, whatever the order and the pages before', () => {
  const places = fc.array(fc.array(fc.stringMatching(/^[a-e][a-e0-9]{0,3}$/), { maxLength: 5 }), { maxLength: 3 })
  fc.assert(
    fc.property(arbitraryQuestion, arbitraryFleet, places, fc.nat(), (question, fleet, before, turn) => {
      const answer = decidePlacement(question, fleet, before)
      const expected = fleet
        .filter(({ accepted, labels }) => accepted && matchesSelector(labels, question.clusterSelector))
        .map(({ name }) => name)
        .sort()
      assert.deepEqual(
        answer.decisions.map(({ cluster: name }) => name),
        expected,
      )
      assert.deepEqual(
        answer.pages
          .flat()
          .map(({ cluster: name }) => name)
          .sort(),
        expected,
      )
      const turned =
        fleet.length === 0 ? fleet : [...fleet.slice(turn % fleet.length), ...fleet.slice(0, turn % fleet.length)]
      assert.deepEqual(decidePlacement(question, turned, before), answer)
      for (const subject of fleet) assert.notEqual(explainPlacement(question, subject).message, '')
    }),
  )
})

test('property: one relabelled cluster changes one page', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1200 }), fc.nat(), fc.boolean(), (size, pick, joins) => {
      const fleet = Array.from({ length: size }, (_, i) => cluster(`c${i}`, { tier: 'store' }))
      const before = decidePlacement(stores, fleet)
      const names = before.pages.map((page) => page.map((decision) => decision.cluster))
      const changed = joins
        ? [...fleet, cluster('newcomer', { tier: 'store' })]
        : fleet.map((one, i) => (i === pick % size ? cluster(one.name) : one))
      const after = decidePlacement(stores, changed, names)
      const different = after.pages.filter((page, i) => JSON.stringify(page) !== JSON.stringify(before.pages[i]))
      assert.equal(different.length, 1)
    }),
    { numRuns: 30 },
  )
})
