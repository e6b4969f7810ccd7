import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rollingStrategy, stepOf, turnOf } from './rolling-sync.ts'
import type { RollingApplication } from './rolling-sync.ts'

const step = (operator: string, values: string[], maxUpdate?: number | string) => ({
  matchExpressions: [{ key: 'ring', operator, values }],
  ...(maxUpdate === undefined ? {} : { maxUpdate }),
})
const strategy = (...steps: object[]) => rollingStrategy({ strategy: { type: 'RollingSync', rollingSync: { steps } } })!
const app = (name: string, ring: string, state: RollingApplication['state'] = 'Waiting'): RollingApplication => ({
  name,
  labels: ring === '' ? {} : { ring },
  state,
})
const said = (own: RollingApplication, others: RollingApplication[], ...steps: object[]) => {
  const turn = turnOf(own, [own, ...others], strategy(...steps))
  return turn.isOpen ? 'open' : turn.message
}

test('a step opens when all Applications of the steps before are done', () => {
  const steps = [step('In', ['canary']), step('NotIn', ['canary'])]
  assert.equal(said(app('a', 'canary'), [app('b', 'wide')], ...steps), 'open')
  assert.equal(said(app('b', 'wide'), [app('a', 'canary')], ...steps), 'Step 2 waits for Application a of step 1')
  assert.equal(
    said(app('b', 'wide'), [app('a', 'canary', 'Started')], ...steps),
    'Step 2 waits for Application a of step 1',
  )
  assert.equal(said(app('b', 'wide'), [app('a', 'canary', 'Done')], ...steps), 'open')
  assert.equal(said(app('c', ''), [app('a', 'canary', 'Done')], ...steps), 'open', 'NotIn includes a missing label')
  assert.equal(
    said(app('b', 'wide'), [], step('In', ['none']), step('In', ['wide'])),
    'open',
    'an empty step is complete',
  )
  assert.match(said(app('c', ''), [], step('In', ['x'])), /match no step/)
})

test('maxUpdate limits what is in progress; what has failed keeps its place', () => {
  const others = [app('b', 'x', 'Started'), app('c', 'x', 'Done'), app('d', 'x')]
  assert.equal(said(app('a', 'x'), others, step('In', ['x'], 2)), 'open')
  assert.equal(said(app('a', 'x'), others, step('In', ['x'], 1)), 'Step 1 syncs 1 of 4 Applications at a time')
  assert.equal(said(app('a', 'x'), others, step('In', ['x'], '50%')), 'open')
  assert.equal(said(app('a', 'x'), others, step('In', ['x'], '1%')), 'Step 1 syncs 1 of 4 Applications at a time')
  assert.equal(said(app('a', 'x'), [], step('In', ['x'], '1%')), 'open', 'at least one')
  for (const none of [0, '0%']) assert.match(said(app('a', 'x'), [], step('In', ['x'], none)), /is 0; sync .* by hand/)
})

test('a strategy that cannot be read opens nothing', () => {
  assert.equal(rollingStrategy({}), undefined)
  assert.equal(rollingStrategy({ strategy: { type: 'AllAtOnce' } }), undefined)
  for (const [steps, expected] of [
    [[], /must have a step/],
    [[1], /steps\[0\] must be a map/],
    [[step('Exists', [])], /operator must be In or NotIn, found "Exists"/],
    [[step('In', ['x'], -1)], /maxUpdate must be a number or a percentage/],
    [[step('In', ['x'], '101%')], /maxUpdate must be/],
    [[{ matchExpressions: [{ operator: 'In' }] }], /key must be the name of a label/],
    [[{ matchExpressions: 'x' }], /must be a list/],
  ] as const)
    assert.match(said(app('a', 'x'), [], ...(steps as unknown as object[])), expected)
})

test('property: never more in progress than maxUpdate, and no step before the one that comes first', () => {
  const ring = fc.constantFrom('r0', 'r1', 'r2')
  const steps = [step('In', ['r0'], 1), step('In', ['r1'], 2), step('In', ['r2'], '34%')]
  const read = strategy(...steps)
  assert.ok('steps' in read)
  fc.assert(
    fc.property(
      fc.array(ring, { minLength: 1, maxLength: 12 }),
      fc.array(fc.nat(), { maxLength: 60 }),
      (rings, acts) => {
        const apps = rings.map((one, at) => app(`a${at}`, one))
        for (const act of acts) {
          const at = act % apps.length
          const one = apps[at]!
          if (one.state === 'Started') apps[at] = { ...one, state: 'Done' }
          else if (one.state === 'Waiting' && turnOf(one, apps, read).isOpen) apps[at] = { ...one, state: 'Started' }
          const started = (ringName: string) =>
            apps.filter(({ labels, state }) => labels['ring'] === ringName && state === 'Started').length
          const size = (ringName: string) => rings.filter((one2) => one2 === ringName).length
          assert.ok(started('r0') <= 1 && started('r1') <= 2)
          assert.ok(started('r2') <= Math.max(1, Math.floor(size('r2') * 0.34)))
          const begun: number[] = apps
            .filter(({ state }) => state !== 'Waiting')
            .map(({ labels }) => stepOf(labels, read.steps))
          const open: number[] = apps
            .filter(({ state }) => state !== 'Done')
            .map(({ labels }) => stepOf(labels, read.steps))
          assert.ok(begun.every((mine) => open.every((theirs) => theirs >= mine)))
        }
      },
    ),
  )
})
