import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatTime } from '../../../core/time/time.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { Application, ApplicationSet } from '../kinds.ts'
import { judgeLeftApplications, judgeNewApplications } from './guard-generated.ts'
import type { GuardedSet } from './guard-generated.ts'

const HOUR = 3_600_000
const NOW = Date.UTC(2030, 0, 1)
const at = (hours: number) => formatTime(NOW - hours * HOUR)

/** Applications `p-0`, `p-1` and so on, on a cluster. */
function many(count: number, prefix: string, cluster = 'old', hours = 9): readonly Application[] {
  const made = build(Application, 'argocd/one', { spec: { project: 'default', destination: { name: cluster } } })
  const creationTimestamp = at(hours)
  return Array.from({ length: count }, (_, n) => ({
    ...made,
    metadata: { ...made.metadata, creationTimestamp, name: `${prefix}-${n}` },
  }))
}

/** Cluster `old` was there before the set, `new` joined half an hour ago. */
const clusters = new Map(
  [
    { name: 'old', hours: 20, spec: {} },
    { name: 'new', hours: 0.5, spec: {} },
    { name: 'leaving', hours: 20, spec: { decommission: { mode: 'Remove', at: at(1) } } },
  ].map(({ name, hours, spec }) => {
    const cluster = buildCluster(name, { spec: spec as never })
    return [name, { ...cluster, metadata: { ...cluster.metadata, creationTimestamp: at(hours) } }]
  }),
)

function about(present: readonly Application[], more: { hours?: number; release?: string } = {}): GuardedSet {
  const { hours = 10, release } = more
  const annotations: Record<string, string> = release === undefined ? {} : { 'flotilla.dev/release-drop': release }
  const made = build(ApplicationSet, 'argocd/shops', { spec: {} })
  return {
    set: { ...made, metadata: { ...made.metadata, creationTimestamp: at(hours), generation: 3, annotations } },
    present,
    now: NOW,
    clusterOf: ({ spec }) => clusters.get(spec.destination?.name ?? ''),
  }
}

const tokenOf = (message = '') => /token (\S+)\)/.exec(message)?.[1] ?? ''

test('more than a thousand Applications that more than double the set wait, and a release lets these through', () => {
  assert.equal(judgeNewApplications(many(1000, 'n'), about([])), undefined)
  assert.equal(judgeNewApplications(many(1001, 'n'), about(many(1001, 'p'))), undefined, 'not more than double')
  const held = judgeNewApplications(many(1001, 'n'), about(many(10, 'p')))
  assert.match(held?.message ?? '', /would add 1,001 bundles on clusters, and there are 10 now/)
  assert.equal(held?.names.size, 1001)
  const release = tokenOf(held?.message)
  assert.match(release, /^g3-grow-/)
  assert.equal(judgeNewApplications(many(1001, 'n'), about(many(10, 'p'), { release })), undefined)
  const half = [...many(10, 'p'), ...many(500, 'n', 'old', 0)]
  const rest = many(1001, 'n').slice(500)
  assert.equal(judgeNewApplications(rest, about(half, { release })), undefined, 'a restart in the middle')
  assert.ok(judgeNewApplications(many(1500, 'n'), about(many(10, 'p'), { release })), 'a larger change')
})

test('a Cluster that joined adds Applications without a question; its Applications are not held with others', () => {
  assert.equal(judgeNewApplications(many(2000, 'n', 'new'), about([])), undefined)
  const held = judgeNewApplications([...many(1001, 'n'), ...many(5, 'j', 'new')], about([]))
  assert.equal(held?.names.has('j-0'), false)
  assert.ok(
    judgeNewApplications(many(1001, 'n', 'new'), about([], { hours: 0.1 })),
    'the set is newer than the Cluster',
  )
})

test('changes of labels count together for an hour, and those of a set that is new do not', () => {
  const lately = many(900, 'r', 'old', 0.5)
  assert.ok(judgeNewApplications(many(101, 'n'), about([...many(5, 'p'), ...lately])))
  assert.equal(judgeNewApplications(many(100, 'n'), about([...many(5, 'p'), ...lately])), undefined)
  assert.equal(judgeNewApplications(many(101, 'n'), about([...many(5, 'p'), ...lately], { hours: 0.6 })), undefined)
  assert.equal(judgeNewApplications(many(101, 'n'), about([...many(5, 'p'), ...many(900, 'r', 'old', 2)])), undefined)
})

test('Applications that are no longer generated wait beyond a tenth, and always when none would stay', () => {
  const present = many(20, 'p')
  const judge = (count: number, more: { isEmpty?: boolean; release?: string; held?: string } = {}) => {
    const { isEmpty = false, held, release } = more
    return judgeLeftApplications(present.slice(0, count), {
      ...about(present, release === undefined ? {} : { release }),
      held,
      isEmpty,
    })
  }
  assert.equal(judge(2), undefined)
  const held = judge(3)
  assert.match(held?.message ?? '', /^The change would drop 3 of 20 bundles; at most 2 .*No longer generated: p-0, p-1/)
  assert.equal(judge(3, { release: tokenOf(held?.message) }), undefined)
  assert.ok(judge(4, { release: tokenOf(held?.message) }), 'a larger change')
  assert.match(judge(1, { isEmpty: true })?.message ?? '', /The generators make no Application/)
})

test('Applications of a Cluster that is gone or is being decommissioned are not counted', () => {
  const leaving = [...many(5, 'l', 'leaving'), ...many(5, 'g', 'gone')]
  const judged = judgeLeftApplications(leaving, {
    ...about([...leaving, ...many(5, 'p')]),
    held: undefined,
    isEmpty: false,
  })
  assert.equal(judged, undefined)
})
