import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { objectKey } from '../objects/object-id.ts'
import { planPrune } from './prune.ts'
import type { Prunable, PruneFacts, Wanted } from './prune.ts'

const map = (name: string, more: Partial<Prunable> = {}): Prunable => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: 'shop',
  name,
  ...more,
})
const namespace: Prunable = { apiVersion: 'v1', kind: 'Namespace', name: 'shop' }
const unwanted: Wanted = { objects: new Set(), taken: new Set(), unknown: [] }
const wantedBy = (...keys: string[]): Wanted => ({ ...unwanted, objects: new Set(keys), taken: new Set(keys) })
const facts = (objects: readonly Prunable[], more: Partial<PruneFacts<Prunable>> = {}): PruneFacts<Prunable> => ({
  objects,
  options: {},
  cause: 'removed',
  wanted: unwanted,
  confirmed: new Set(),
  isHealthy: true,
  ...more,
})

describe('pruning', () => {
  type Fate = 'remove' | 'release' | 'keep'
  const cases: [string, Prunable, Partial<PruneFacts<Prunable>>, Fate][] = [
    ['what left the set', map('a'), {}, 'remove'],
    ['what another bundle wants', map('a'), { wanted: wantedBy('/ConfigMap/shop/a') }, 'release'],
    [
      'what another bundle wants and does not have yet',
      map('a'),
      { wanted: { ...wantedBy('/ConfigMap/shop/a'), taken: new Set() } },
      'keep',
    ],
    ['what was adopted', map('a', { adopted: true }), {}, 'release'],
    ['what was adopted, whatever it says', map('a', { adopted: true, delete: 'Delete' }), {}, 'release'],
    ['what says Orphan', map('a', { delete: 'Orphan' }), {}, 'release'],
    ['removed: Orphan', map('a'), { options: { delete: { removed: 'Orphan' } } }, 'release'],
    [
      'removed: Orphan, but it says Delete',
      map('a', { delete: 'Delete' }),
      { options: { delete: { removed: 'Orphan' } } },
      'remove',
    ],
    ['another cause: Orphan', map('a'), { options: { delete: { unplaced: 'Orphan' } } }, 'remove'],
    [
      'an orphan rule',
      map('a'),
      { options: { delete: { orphan: [{ kind: 'Config*', namespace: 'shop' }] } } },
      'release',
    ],
    ['an orphan rule for others', map('a'), { options: { delete: { orphan: [{ name: 'b' }] } } }, 'remove'],
    ['a namespace', namespace, {}, 'release'],
    [
      'a namespace that is named',
      namespace,
      { options: { delete: { named: [{ kind: 'Namespace', name: 'shop' }] } } },
      'remove',
    ],
    ['a namespace that says Delete', { ...namespace, delete: 'Delete' }, {}, 'remove'],
    ['a made namespace', { ...namespace, madeNamespace: true }, {}, 'release'],
    [
      'a made namespace to delete',
      { ...namespace, madeNamespace: true },
      { options: { namespaces: { delete: true } } },
      'remove',
    ],
    ['a brought namespace there', namespace, { options: { namespaces: { delete: true } } }, 'release'],
    ['Never', map('a'), { options: { prune: { mode: 'Never' } } }, 'keep'],
    [
      'Never, when all of it goes',
      map('a'),
      { options: { prune: { mode: 'Never' } }, cause: 'bundleDeleted' },
      'remove',
    ],
    ['Never by its own word', map('a', { prune: 'Never' }), {}, 'keep'],
    ['Last, healthy', map('a'), { options: { prune: { mode: 'Last' } } }, 'remove'],
    ['Last, not healthy', map('a'), { options: { prune: { mode: 'Last' } }, isHealthy: false }, 'keep'],
    ['not healthy', map('a'), { isHealthy: false }, 'remove'],
    ['Confirm, not confirmed', map('a'), { options: { prune: { mode: 'Confirm' } } }, 'keep'],
    [
      'Confirm, confirmed',
      map('a'),
      { options: { prune: { mode: 'Confirm' } }, confirmed: new Set(['/ConfigMap/shop/a']) },
      'remove',
    ],
    ['unplaced: Orphan', map('a'), { options: { delete: { unplaced: 'Orphan' } }, cause: 'unplaced' }, 'release'],
    [
      'bundleDeleted: Orphan',
      map('a'),
      { options: { delete: { bundleDeleted: 'Orphan' } }, cause: 'bundleDeleted' },
      'release',
    ],
  ]
  for (const [name, object, more, fate] of cases) {
    it(`${name}: ${fate}`, () => {
      const plan = planPrune(facts([object], more))
      const found = plan.remove.length ? 'remove' : plan.release.length ? 'release' : 'keep'
      assert.equal(found, fate)
    })
  }

  const shared: [string, Prunable, Partial<PruneFacts<Prunable>>, boolean][] = [
    ['would go', map('a'), {}, true],
    ['would go with its bundle', map('a'), { cause: 'bundleDeleted', options: { prune: { mode: 'Never' } } }, true],
    ['was there before', map('a', { adopted: true }), {}, false],
    ['says Orphan', map('a', { delete: 'Orphan' }), {}, false],
    ['is kept for this cause', map('a'), { options: { delete: { removed: 'Orphan' } } }, false],
    ['is never pruned', map('a', { prune: 'Never' }), {}, false],
    ['waits for a person', map('a', { prune: 'Confirm' }), {}, false],
    ['is a namespace', namespace, {}, false],
  ]
  for (const [name, object, more, isShared] of shared) {
    it(`takes its fields out of what another bundle has and otherwise ${name}: ${isShared}`, () => {
      const plan = planPrune(facts([object], { ...more, wanted: wantedBy(objectKey(object)) }))
      assert.deepEqual(
        plan.release.map((one) => [one.why, one.isShared ?? false]),
        [['another bundle has it', isShared]],
      )
    })
  }

  it('stops and asks when there are too many', () => {
    const two = [map('a'), map('b')]
    const limited = planPrune(facts(two, { options: { prune: { max: 1 } } }))
    assert.deepEqual([limited.remove.length, limited.keep.length], [0, 2])
    assert.equal(limited.waits, '2 objects left the set and prune.max is 1; raise it to delete them')
    const ceiling = planPrune(facts(two, { ceiling: 1, cause: 'unplaced' }))
    assert.match(ceiling.waits ?? '', /this cluster allows 1 at once \(maxPrune/)
    const asked = planPrune(facts(two, { options: { prune: { mode: 'Confirm' } } }))
    assert.match(asked.waits ?? '', /^ConfigMap shop\/a and 1 more left the set; annotate .*confirm-prune=true/)
  })

  describe('while a bundle that is rendered in the cluster is not', () => {
    const widget: Prunable = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w' }
    const shop: Prunable = { ...namespace, delete: 'Delete' }
    const table: [Prunable, string | undefined, 'keep' | 'remove'][] = [
      [map('a'), undefined, 'keep'],
      [widget, undefined, 'keep'],
      [map('a'), 'shop', 'keep'],
      [map('a'), 'other', 'remove'],
      [shop, 'shop', 'keep'],
      [shop, 'other', 'remove'],
      [widget, 'shop', 'keep'],
    ]
    for (const [object, into, fate] of table) {
      it(`${object.kind} ${object.name}, it brings objects ${into ? `into ${into} only` : 'anywhere'}: ${fate}`, () => {
        const unknown = [{ bundle: 'default/app', ...(into === undefined ? {} : { namespace: into }) }]
        const plan = planPrune(facts([object], { wanted: { ...unwanted, unknown } }))
        assert.deepEqual(plan[fate], [object])
        assert.equal(plan.waits, undefined)
        assert.equal(plan.held !== undefined, fate === 'keep')
      })
    }

    it('does not wait for a bundle whose Project refuses the object', () => {
      const mayWrite = ({ name }: { readonly name: string }) => name !== 'a'
      const unknown = [{ bundle: 'default/app', mayWrite }]
      const plan = planPrune(facts([map('a'), map('b')], { wanted: { ...unwanted, unknown } }))
      assert.deepEqual([plan.remove, plan.keep], [[map('a')], [map('b')]])
    })

    it('says of what stays how many and for whom; what waits for a person or is kept anyway is not meant', () => {
      const unknown = [{ bundle: 'default/app', namespace: 'shop' }]
      const objects = [
        map('a'),
        map('b'),
        map('c', { prune: 'Confirm' }),
        map('d', { prune: 'Never' }),
        map('e', { adopted: true }),
      ]
      const plan = planPrune(facts(objects, { wanted: { ...unwanted, unknown } }))
      assert.equal(
        plan.held,
        'ConfigMap shop/a and 1 more stay until bundle default/app, which may want it, is rendered in this cluster: see why it is not',
      )
      assert.match(plan.waits ?? '', /^ConfigMap shop\/c left the set; annotate/)
      assert.deepEqual([plan.remove, plan.keep.length, plan.release.length], [[], 4, 1])
    })
  })

  it('never deletes what is adopted or wanted, and forgets nothing', () => {
    const one = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      adopted: fc.boolean(),
      prune: fc.constantFrom('Always' as const, 'Never' as const, 'Last' as const, 'Confirm' as const),
      delete: fc.constantFrom('Delete' as const, 'Orphan' as const),
    })
    const objects = fc.uniqueArray(one, { selector: ({ name }) => name })
    fc.assert(
      fc.property(objects, fc.boolean(), fc.constantFrom('a', 'b'), (records, isHealthy, wantedName) => {
        const all = records.map(({ name, ...more }) => map(name, more))
        const wanted = wantedBy(objectKey(map(wantedName)))
        const plan = planPrune(facts(all, { isHealthy, wanted }))
        for (const object of plan.remove) {
          assert.ok(
            !object.adopted && object.delete !== 'Orphan' && object.prune !== 'Never' && object.name !== wantedName,
          )
        }
        assert.equal(plan.remove.length + plan.release.length + plan.keep.length, all.length)
      }),
    )
  })
})
