import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chosenLine, placeOf, pressKey, START } from './top-state.ts'
import type { TopEffect, TopState } from './top-state.ts'
import type { TopLine } from './top-views.ts'

const approve = { verb: 'approve', namespace: 'default', name: 'shop-g2', ring: 'rest' } as const
const pause = { verb: 'pause', namespace: 'default', name: 'shop-g2' } as const
const LINES: readonly TopLine[] = [
  { spans: ['Fleet'] },
  { spans: ['lab'], key: 'group lab', opens: { kind: 'group', group: 'lab' } },
  { spans: ['rest'], key: 'group rest', opens: { kind: 'group', group: 'rest' } },
  { spans: ['Rollouts'] },
  { spans: ['shop-g2'], key: 'rollout shop-g2', acts: [pause, approve] },
]

function press(keys: readonly string[], start: TopState = START, lines = LINES) {
  let state = start
  const effects: TopEffect[] = []
  for (const key of keys) {
    const step = pressKey(state, key, lines)
    state = step.state
    if (step.effect) effects.push(step.effect)
  }
  return { state, effects }
}

const keyAfter = (...keys: string[]) => chosenLine(press(keys).state, LINES)?.key

test('the cursor moves over what can be chosen, and Tab to the next section', () => {
  assert.equal(keyAfter(), 'group lab')
  assert.equal(keyAfter('j'), 'group rest')
  assert.equal(keyAfter('down', 'down', 'down'), 'rollout shop-g2')
  assert.equal(keyAfter('j', 'k', 'k'), 'group lab')
  assert.equal(keyAfter('tab'), 'rollout shop-g2')
  assert.equal(keyAfter('tab', 'tab'), 'group lab')
})

test('the chosen line is an object, not a place: it stays when lines come before it', () => {
  const { state } = press(['j'])
  const grown = [LINES[0]!, { spans: ['new'], key: 'group new' }, ...LINES.slice(1)]
  assert.equal(chosenLine(state, grown)?.key, 'group rest')
  assert.equal(chosenLine(state, [])?.key, undefined)
})

test('Enter opens, Esc and q go back, and q ends at the overview only', () => {
  const opened = press(['enter']).state
  assert.deepEqual(placeOf(opened).view, { kind: 'group', group: 'lab' })
  for (const key of ['escape', 'q', 'left']) assert.equal(press([key], opened).state.places.length, 1)
  assert.deepEqual(press(['q'], opened).effects, [])
  assert.deepEqual(press(['q']).effects, [{ kind: 'quit' }])
  assert.deepEqual(press(['escape']).effects, [])
  assert.deepEqual(press(['ctrl-c'], opened).effects, [{ kind: 'quit' }])
})

test('a change asks before it is made, and Esc makes none', () => {
  assert.deepEqual(press(['tab', 'a']).effects, [])
  assert.deepEqual(press(['tab', 'a', 'o', 'k', 'escape']).effects, [])
  assert.deepEqual(press(['tab', 'a', 'o', 'x', 'backspace', 'k', ' ', 'enter']).effects, [
    { kind: 'act', act: approve, reason: 'ok' },
  ])
  assert.deepEqual(press(['tab', 'p', 'enter']).effects, [{ kind: 'act', act: pause, reason: '' }])
  // The keys of acts are letters of the reason while it is asked for.
  assert.deepEqual(press(['tab', 'p', 'q', 'enter']).effects, [{ kind: 'act', act: pause, reason: 'q' }])
})

test('a key without an act on the chosen line says so', () => {
  assert.equal(press(['p']).state.message, 'Nothing to pause or resume here.')
  assert.equal(press(['tab', 't']).state.message, 'Nothing to trace here.')
})

test('the filter is for lists, follows what is typed, and Esc clears it', () => {
  const opened = press(['enter']).state
  const typed = press(['/', 'o', 'k'], opened).state
  assert.equal(placeOf(typed).filter, 'ok')
  assert.equal(placeOf(press(['enter'], typed).state).filter, 'ok')
  assert.equal(placeOf(press(['escape'], typed).state).filter, '')
  assert.equal(placeOf(press(['enter', 'escape'], typed).state).filter, '')
  assert.equal(press(['/']).state.question, undefined)
})
