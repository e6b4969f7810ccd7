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
    [
      'the generation before it runs and failed: what runs, and what it waits for',
      {
        ...base,
        assigned: revision(1),
        reported: reported(1, 'Failed', 'no such image'),
        waits: { for: 'approval', message: 'Waits for approval.' },
      },
      'Failed',
      { waitsFor: 'approval', message: 'Generation 1 is Failed: no such image. Waits for approval.' },
    ],
    [
      'the generation before it drifted',
      { ...base, assigned: revision(1), reported: reported(1, 'Drifted') },
      'Drifted',
      { waitsFor: 'ring', message: 'Generation 1 is Drifted. Waits for its turn in the rollout.' },
    ],
    [
      'the generation before it was delivered and not reported',
      { ...base, target: revision(3), assigned: revision(2), reported: reported(1, 'Ready') },
      'Progressing',
      { waitsFor: 'ring' },
    ],
    [
      'runs, and its next content is not rendered yet',
      { ...unrendered, assigned: revision(1), reported: reported(1, 'Ready') },
      'Ready',
      { waitsFor: 'render' },
    ],
    [
      'the agent waits for a window, and the generation before it runs',
      {
        ...base,
        assigned: revision(2),
        reported: { ...reported(2, 'Pending', 'window x is closed'), running: { ...revision(1), state: 'Ready' } },
        heldFor: 'window',
      },
      'Ready',
      { waitsFor: 'window', message: 'Generation 1 is Ready. Generation 2 waits: window x is closed' },
    ],
    [
      'the agent waits, and has not observed what runs since it restarted',
      { ...base, assigned: revision(2), reported: { ...reported(2, 'Pending', 'x'), running: revision(1) } },
      'Progressing',
      { message: 'Generation 1 runs; its state is not known since the agent restarted. Generation 2 waits: x' },
    ],
    [
      'an agent of 0.1 waits for a window: what runs is not reported',
      { ...base, assigned: revision(2), reported: reported(2, 'Pending', 'window x is closed'), heldFor: 'window' },
      'Pending',
      { waitsFor: 'window', message: 'window x is closed' },
    ],
    [
      'offline while it waits',
      {
        ...base,
        availability: gone,
        assigned: revision(1),
        reported: reported(1, 'Failed'),
        waits: { for: 'approval', message: 'x' },
      },
      'Offline',
      { lastKnown: 'Failed', queued: 2, waitsFor: 'approval' },
    ],
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
  const table: [Parameters<typeof clusterSummary>, BundleStateName | undefined, string][] = [
    [
      [{ accepted: false, availability: seen }, []],
      'Pending',
      'The cluster is not accepted yet; accept it with "flotilla cluster accept NAME".',
    ],
    [[{ accepted: true, availability: gone }, [held('Ready')]], 'Offline', 'Not heard for 2m.'],
    [
      [{ accepted: true, availability: seen }, []],
      'NotSelected',
      'No bundle reaches the cluster: no Placement that a Bundle uses selects it.',
    ],
    [[{ accepted: true, availability: seen, removing: 1 }, []], 'Progressing', 'Removing 1 bundle.'],
    [
      [{ accepted: true, availability: seen }, [{}]],
      'Pending',
      '1 bundle is placed on the cluster; no Rollout has admitted it yet.',
    ],
    [[{ accepted: true, availability: seen }, [held('Ready'), {}]], 'Ready', 'The only bundle is Ready.'],
    [
      [{ accepted: true, availability: seen }, [{ ...held('Ready'), problem: 'no till' }]],
      'Failed',
      'Of 1 bundle: 1 Failed. Not rendered for this cluster: no till',
    ],
    [[{ accepted: false, availability: seen, apart: 'Revoked at x.' }, [held('Ready')]], undefined, 'Revoked at x.'],
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
