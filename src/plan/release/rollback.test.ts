import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { digestOf } from '../../core/crypto/digest.ts'
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import { withoutBad } from './bad-revisions.ts'
import type { ExistingRelease } from './decide-release.ts'
import { planRollback } from './rollback.ts'
import type { RollbackBundle, RollbackCluster, RollbackScope } from './rollback.ts'
import { contentFor } from './variants.ts'

const words = ['one', 'two', 'three', 'four'] as const
const release = (generation: number, word: string, extra: Partial<ExistingRelease> = {}): ExistingRelease => ({
  name: `b-g${generation}`,
  generation,
  set: digestOf(word),
  placement: 'p',
  ...extra,
})
const inputs = (name: string, labels: Record<string, string> = {}): ClusterInputs => ({
  name,
  labels,
  annotations: {},
  claims: {},
  values: {},
})
const revision = (generation: number, word: string) => ({ generation, set: digestOf(word) })
const at = (name: string, has?: [number, string], before?: [number, string]): RollbackCluster => ({
  inputs: inputs(name),
  isOnline: name !== 'off',
  ...(has ? { assigned: { ...revision(...has), previous: before && revision(...before) } } : {}),
})
const bundle = (clusters: readonly RollbackCluster[], extra: Partial<RollbackBundle> = {}): RollbackBundle => ({
  name: 'b',
  newest: release(3, 'three'),
  older: [release(2, 'two'), release(1, 'one')],
  highestAssigned: 3,
  clusters,
  ...extra,
})
const all: RollbackScope = { kind: 'All', includes: () => true }
const only = (kind: 'Ring' | 'Clusters', ...names: string[]): RollbackScope => ({
  kind,
  includes: (name) => names.includes(name),
})

/** What each cluster gets, by word, and who moves. */
function tell(of: RollbackBundle, scope: RollbackScope, to?: string): string {
  const { content, moves, stuck, problem } = planRollback(of, scope, to)
  if (problem !== undefined) return problem
  if (!content) return `nothing; stuck ${stuck.join(' ')}`
  const got = of.clusters.map((cluster) => {
    const own = contentFor(content, cluster.inputs)
    return `${cluster.inputs.name} ${own.kind === 'Set' ? words.find((word) => digestOf(word) === own.set) : own.kind}`
  })
  return `g${content.generation}: ${got.join(', ')}; moves ${moves.map(({ cluster }) => cluster).join(' ')}${stuck.length > 0 ? `; stuck ${stuck.join(' ')}` : ''}`
}

test('who gets what', () => {
  const has = at('a', [3, 'three'], [2, 'two'])
  const skipped = at('b', [3, 'three'], [1, 'one'])
  const waits = at('c', [2, 'two'], [1, 'one'])
  const fresh = at('d', [3, 'three'])
  const none = at('e')
  // The newest release has for it what it ran already, so that its document was not made anew.
  const since = at('f', [2, 'three'], [1, 'one'])
  const table: [string, string, string][] = [
    ['all', tell(bundle([has, waits]), all), 'g4: a two, c two; moves a'],
    ['each to what it ran', tell(bundle([has, skipped]), all), 'g4: a two, b one; moves a b'],
    ['nothing to go back to', tell(bundle([has, fresh]), all), 'g4: a two, d three; moves a; stuck d'],
    ['one that has nothing gets the last good one', tell(bundle([has, none]), all), 'g4: a two, e two; moves a'],
    ['to a release', tell(bundle([has, waits, fresh]), all, 'b-g1'), 'g4: a one, c two, d one; moves a d'],
    [
      'to a release, also who has had the content since before',
      tell(bundle([has, since, waits]), all, 'b-g1'),
      'g4: a one, f one, c two; moves a f',
    ],
    ['who the change did not touch stays', tell(bundle([has, since]), all), 'g4: a two, f three; moves a'],
    [
      'an unknown one',
      tell(bundle([has]), all, 'x'),
      'bundle "b" has no release "x" before "b-g3" that is not marked bad',
    ],
    ['the first', tell(bundle([fresh], { older: [] }), all), 'bundle "b" has no release before "b-g3" to return to'],
    ['no cluster has it', tell(bundle([waits]), all), 'nothing; stuck '],
    [
      'a ring: others keep it, later ones do not get it',
      tell(bundle([has, skipped, waits]), only('Ring', 'b')),
      'g4: a three, b one, c two; moves b',
    ],
    [
      'a cluster: the others go on with it',
      tell(bundle([has, skipped, waits, none]), only('Clusters', 'a')),
      'g4: a two, b three, c three, e three; moves a',
    ],
    ['above what clusters have', tell(bundle([has], { highestAssigned: 9 }), all), 'g10: a two; moves a'],
  ]
  for (const [name, is, should] of table) assert.equal(is, should, name)
})

test('property: no cluster outside of the scope changes content, and a cluster that goes back gets what it ran', () => {
  const cluster = fc.record({
    has: fc.option(fc.constantFrom<[number, string]>([3, 'three'], [2, 'two'], [1, 'one']), { nil: undefined }),
    before: fc.option(fc.constantFrom<[number, string]>([2, 'two'], [1, 'one']), { nil: undefined }),
    isIn: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(cluster, { maxLength: 6 }), fc.constantFrom('All', 'Ring', 'Clusters'), (sketch, kind) => {
      const clusters = sketch.map(({ has, before }, i) => at(`c${i}`, has, before))
      const includes = (name: string) => kind === 'All' || sketch[Number(name.slice(1))]!.isIn
      const { content } = planRollback(bundle(clusters), { kind, includes })
      if (!content) return
      for (const { inputs: one, assigned } of clusters) {
        const own = contentFor(content, one)
        const set = own.kind === 'Set' ? own.set : undefined
        if (assigned?.generation === 3 && includes(one.name)) {
          assert.equal(set, assigned.previous?.set ?? assigned.set)
        } else if (kind !== 'Clusters' && assigned) assert.equal(set, assigned.set)
        else if (kind !== 'Clusters') assert.equal(set, digestOf('two'))
      }
    }),
  )
})

test('what was taken back is held off, and only that', () => {
  const newest = release(4, 'two')
  const bad = [{ release: release(3, 'three') }]
  const both = [inputs('a'), inputs('b')]
  const got = (content: { set: ExistingRelease['set'] }, marks = bad as Parameters<typeof withoutBad>[2]) => {
    const held = withoutBad(content, newest, marks, both)
    const of = both.map((one) => {
      const own = contentFor(held.content, one)
      return own.kind === 'Set' ? words.find((word) => digestOf(word) === own.set) : own.kind
    })
    return `${of.join(' ')} ${held.by.join(' ')}`.trim()
  }
  assert.equal(got({ set: digestOf('three') }), 'two two b-g3', 'the same again')
  assert.equal(got({ set: digestOf('four') }), 'four four', 'a fix')
  assert.equal(got({ set: digestOf('three') }, [{ ...bad[0]!, clusters: ['b'] }]), 'three two b-g3', 'on one site')
  assert.equal(got({ set: digestOf('three') }, []), 'three three', 'lifted')
  const kept = release(4, 'two', {
    variants: [
      { when: { name: 'a' }, set: digestOf('three') },
      { when: {}, set: digestOf('two') },
    ],
  })
  const held = withoutBad({ set: digestOf('three') }, kept, bad, both)
  assert.deepEqual(
    both.map((one) => contentFor(held.content, one)).map((own) => own.kind === 'Set' && own.set),
    [digestOf('three'), digestOf('two')],
    'who kept it keeps it',
  )
})
