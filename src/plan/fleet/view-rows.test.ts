import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Digest } from '../../core/crypto/digest.ts'
import { countsOf, rowOf } from './view-rows.ts'
import type { RowBundle, RowCluster } from './view-rows.ts'

const set = (letter: string): Digest => `sha256:${letter.repeat(64)}`
const [r1, r2] = [
  { generation: 1, set: set('a') },
  { generation: 2, set: set('b') },
]
const seen = { state: 'Available', message: 'heard' } as const
const silent = { state: 'Offline', message: 'Not heard.' } as const
const rollout = { name: 'web-g2', admitted: new Set<string>() }
const web: RowBundle = { key: 'shop/web', name: 'web', placement: 'stores', target: r2, rollout }
const cluster = (parts: Partial<RowCluster> = {}): RowCluster => ({ name: 'a', availability: seen, ...parts })
const held = (reason: string): RowBundle => ({ ...web, rollout: { ...rollout, hold: { reason, message: 'held' } } })

describe('rows of the view', () => {
  const cases: readonly [string, RowBundle, RowCluster, boolean | undefined, object][] = [
    [
      'well at the target',
      web,
      cluster({ reported: { ...r2, state: 'Ready' } }),
      true,
      { state: 'Ready', generation: 2 },
    ],
    [
      'well at its own content',
      web,
      cluster({
        content: { kind: 'Set', set: set('c') },
        reported: { generation: 2, set: set('c'), state: 'Ready' },
      }),
      true,
      { state: 'Ready' },
    ],
    [
      'a release that changes nothing for it',
      web,
      cluster({ content: { kind: 'Set', set: r1.set }, assigned: r1, reported: { ...r1, state: 'Ready' } }),
      true,
      { state: 'Ready', target: 1 },
    ],
    [
      'cannot be rendered for it',
      web,
      cluster({ content: { kind: 'Problem', problem: 'no till' }, assigned: r1 }),
      true,
      {
        state: 'Failed',
        message: 'The bundle cannot be rendered for this cluster: no till. The cluster keeps generation 1.',
      },
    ],
    [
      'frozen before its turn',
      web,
      cluster({ hold: { for: 'freeze', badge: 'Frozen', message: 'Freeze x holds.' } }),
      true,
      { state: 'Pending', waitsFor: 'freeze', message: 'Freeze x holds.', badges: ['Frozen'] },
    ],
    [
      'frozen after it was handed out',
      web,
      cluster({
        hold: { for: 'window', badge: 'Frozen', message: 'Window x is closed.' },
        assigned: r2,
        reported: { ...r2, state: 'Pending', message: 'window x is closed' },
      }),
      true,
      { state: 'Pending', waitsFor: 'window', message: 'window x is closed', badges: ['Frozen'] },
    ],
    [
      'left out by a variant',
      web,
      cluster({ content: { kind: 'Skip', by: 'no-pos' } }),
      true,
      { state: 'NotSelected', message: 'Excluded by variant "no-pos"' },
    ],
    [
      'handed out',
      { ...web, rollout: { ...rollout, admitted: new Set(['a']) } },
      cluster(),
      true,
      { state: 'Progressing' },
    ],
    ['in the document', web, cluster({ assigned: r2 }), true, { state: 'Progressing' }],
    ['waits for its turn', web, cluster(), true, { state: 'Pending', waitsFor: 'ring' }],
    [
      'waits for a slot',
      held('BudgetFull'),
      cluster(),
      true,
      { state: 'Pending', waitsFor: 'budget', message: 'held' },
    ],
    ['waits for a person', held('Paused'), cluster(), true, { state: 'Pending', waitsFor: 'approval' }],
    ['waits for a word', held('ApprovalPending'), cluster(), true, { state: 'Pending', waitsFor: 'approval' }],
    ['waits for the world', held('GatePending'), cluster(), true, { state: 'Pending', waitsFor: 'gate' }],
    ['waits, other words', held('ReportPending'), cluster(), true, { state: 'Pending', waitsFor: 'ring' }],
    [
      'never heard',
      web,
      cluster({ availability: { state: 'Unknown', message: 'never' } }),
      true,
      { state: 'Pending', waitsFor: 'connection', message: 'never' },
    ],
    [
      'nothing rendered',
      { key: 'shop/web', name: 'web', placement: 'stores' },
      cluster(),
      true,
      { state: 'Pending', waitsFor: 'render' },
    ],
    [
      'offline with what is queued',
      web,
      cluster({ availability: silent, reported: { ...r1, state: 'Ready' } }),
      true,
      { state: 'Offline', lastKnown: 'Ready', queued: 2, generation: 1, target: 2 },
    ],
    [
      'failed in its own words',
      web,
      cluster({ reported: { ...r2, state: 'Failed', message: 'no image', firstFailing: 'Deployment/web' } }),
      true,
      { state: 'Failed', message: 'no image', firstFailing: 'Deployment/web' },
    ],
    [
      'not selected',
      web,
      cluster({ assigned: r1 }),
      false,
      {
        state: 'NotSelected',
        message:
          'Not selected by Placement "stores" (see "flotilla explain stores a"); the cluster keeps generation 1 until it is removed',
      },
    ],
  ]
  for (const [title, bundle, on, selected, wanted] of cases) {
    it(title, () => {
      const row = rowOf(bundle, on, selected)
      for (const [field, value] of Object.entries({ bundle: 'web', cluster: 'a', ...wanted })) {
        assert.deepEqual(row[field as keyof typeof row], value, field)
      }
    })
  }

  it('a cluster that was turned away has a badge and no state', () => {
    const apart = { badge: 'Revoked', message: 'Revoked at x.' } as const
    const row = rowOf(web, cluster({ apart, reported: { ...r1, state: 'Ready' } }), false)
    assert.deepEqual(row, {
      bundle: 'web',
      cluster: 'a',
      generation: 1,
      target: 2,
      message: 'Revoked at x.',
      badges: ['Revoked'],
    })
  })

  it('a bundle that its Project refuses waits for that, before and after its first Release', () => {
    const refused = 'Namespace x has no Project.'
    const cluster = { name: 'a', availability: { state: 'Available' as const, message: '' } }
    const row = rowOf({ key: 'x/y', name: 'y', placement: 'p', refused }, cluster, true)
    assert.deepEqual([row.state, row.waitsFor, row.message], ['Pending', 'freeze', refused])
  })

  it('counts are by state of what runs, not by progress of the Rollout', () => {
    const counts = { total: 3, ready: 1, progressing: 0, pending: 2, failed: 0, offline: 0 }
    const states = { Ready: 1, Offline: 1, Failed: 1 }
    const counted = countsOf({ ...web, rollout: { ...rollout, counts: { ...counts, states } } })
    assert.deepEqual([counted.total, counted.counts.Failed, counted.counts.Pending], [3, 1, 0])
  })

  it('counts of a Rollout of 0.1 are its progress, and add up to its total', () => {
    const counts = { total: 6, ready: 1, progressing: 2, pending: 1, failed: 1, offline: 1 }
    const counted = countsOf({ ...web, rollout: { ...rollout, counts } })
    assert.deepEqual(counted.counts, {
      Ready: 1,
      Progressing: 2,
      Pending: 1,
      Offline: 1,
      Drifted: 0,
      Failed: 1,
      NotSelected: 0,
    })
    assert.equal(
      Object.values(counted.counts).reduce((sum, count) => sum + count),
      counted.total,
    )
    assert.equal(countsOf({ key: 'x/y', name: 'y', placement: 'p' }).total, 0)
  })
})
