import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { BUNDLE_STATES } from '../../kinds/fields/states.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import type { Availability } from './availability.ts'
import { clusterSummary, countStates, stateOnCluster } from './state.ts'
import type { BundleStateFacts } from './state.ts'

const seen: Availability = { state: 'Available', reason: 'Seen', message: 'here.' }
const gone: Availability = { state: 'Offline', reason: 'Silent', message: 'Not heard for 2m.' }
const revision = (generation: number) => ({ generation, set: digestOf(`v${generation}`) })
const reported = (generation: number, state: BundleStateName, message?: string) => ({
  ...revision(generation),
  state,
  ...(message === undefined ? {} : { message }),
})
const base: BundleStateFacts = {
  selection: { selected: true, message: '' },
  target: revision(2),
  admitted: false,
  availability: seen,
}

test('a pair is in exactly one state, with the words a person needs', () => {
  const { target: _target, ...unrendered } = base
  const table: [string, BundleStateFacts, BundleStateName, Partial<ReturnType<typeof stateOnCluster>>][] = [
    ['not rendered', unrendered, 'Pending', { waitsFor: 'render' }],
    ['waits for its turn', base, 'Pending', { waitsFor: 'ring' }],
    [
      'waits for something named',
      { ...base, waits: { for: 'budget', message: 'All 1 slots are taken.' } },
      'Pending',
      { waitsFor: 'budget', message: 'All 1 slots are taken.' },
    ],
    ['admitted', { ...base, admitted: true }, 'Progressing', {}],
    ['assigned', { ...base, assigned: revision(2) }, 'Progressing', {}],
    ['reported older', { ...base, assigned: revision(2), reported: reported(1, 'Ready') }, 'Progressing', {}],
    ['ready', { ...base, assigned: revision(2), reported: reported(2, 'Ready') }, 'Ready', {}],
    ['failed', { ...base, reported: reported(2, 'Failed', 'no such image') }, 'Failed', { message: 'no such image' }],
    ['drifted', { ...base, reported: reported(2, 'Drifted') }, 'Drifted', {}],
    [
      'offline, nothing to come',
      { ...base, availability: gone, reported: reported(2, 'Ready') },
      'Offline',
      { lastKnown: 'Ready', message: 'Not heard for 2m.' },
    ],
    [
      'offline, something queued',
      { ...base, availability: gone, reported: reported(1, 'Ready') },
      'Offline',
      { lastKnown: 'Ready', queued: 2 },
    ],
    [
      'not selected',
      { ...base, selection: { selected: false, message: 'wants a, has b' } },
      'NotSelected',
      { message: 'wants a, has b' },
    ],
    [
      'not selected any more',
      { ...base, selection: { selected: false, message: 'wants a, has b' }, assigned: revision(1) },
      'NotSelected',
      { message: 'wants a, has b; the cluster keeps generation 1 until it is removed' },
    ],
  ]
  for (const [name, input, state, rest] of table) {
    const result = stateOnCluster(input)
    assert.equal(result.state, state, name)
    for (const [field, value] of Object.entries(rest)) {
      assert.deepEqual((result as unknown as Record<string, unknown>)[field], value, `${name}: ${field}`)
    }
  }
})

test('counts have every state', () => {
  const counts = countStates(['Ready', 'Ready', 'Failed'])
  assert.deepEqual(Object.keys(counts), [...BUNDLE_STATES])
  assert.deepEqual([counts.Ready, counts.Failed, counts.Offline], [2, 1, 0])
})

test('a cluster in one word, with counts beside it', () => {
  const held = (state: BundleStateName) => ({ assigned: revision(2), reported: reported(2, state, 'words') })
  const table: [Parameters<typeof clusterSummary>, BundleStateName, string][] = [
    [
      [{ accepted: false, availability: seen }, []],
      'Pending',
      'The cluster is not accepted yet; accept it with "flotilla cluster accept NAME".',
    ],
    [[{ accepted: true, availability: gone }, [held('Ready')]], 'Offline', 'Not heard for 2m.'],
    [[{ accepted: true, availability: seen }, []], 'Ready', 'The cluster has no bundles.'],
    [[{ accepted: true, availability: seen }, [held('Ready'), held('Ready')]], 'Ready', 'All 2 bundles are Ready.'],
    [
      [{ accepted: true, availability: seen }, [held('Ready'), held('Failed')]],
      'Failed',
      'Of 2 bundles: 1 Ready, 1 Failed. words',
    ],
    [
      [{ accepted: true, availability: seen }, [{ assigned: revision(2) }]],
      'Progressing',
      'Of 1 bundle: 1 Progressing.',
    ],
  ]
  for (const [input, state, message] of table) {
    const summary = clusterSummary(...input)
    assert.deepEqual([summary.state, summary.message], [state, message])
  }
  assert.deepEqual(clusterSummary({ accepted: true, availability: seen }, [held('Ready'), held('Failed')]).bundles, {
    total: 2,
    ready: 1,
  })
})
