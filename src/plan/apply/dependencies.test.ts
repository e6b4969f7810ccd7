import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decideDependencies } from './dependencies.ts'
import type { DependencyFacts } from './dependencies.ts'

const at = (state: DependencyFacts['state'], more: Partial<DependencyFacts> = {}): DependencyFacts => ({
  dependsOn: [],
  generation: 2,
  state,
  applied: 2,
  ...more,
})
const decide = (dependsOn: DependencyFacts['dependsOn'], others: Record<string, DependencyFacts>) =>
  decideDependencies('shop/app', new Map([['shop/app', at('Pending', { dependsOn })], ...Object.entries(others)]))

describe('dependencies', () => {
  const cases: [string, DependencyFacts['dependsOn'][number], Record<string, DependencyFacts>, string][] = [
    ['ready', { bundle: 'db' }, { 'shop/db': at('Ready') }, ''],
    ['ready elsewhere', { bundle: 'infra/db' }, { 'infra/db': at('Ready') }, ''],
    ['not here', { bundle: 'db' }, {}, 'waits for bundle shop/db, which is not on this cluster'],
    ['not well', { bundle: 'db' }, { 'shop/db': at('Failed') }, 'it is Failed, wanted is Ready'],
    ['well enough', { bundle: 'db', states: ['Ready', 'Drifted'] }, { 'shop/db': at('Drifted') }, ''],
    [
      'ready at its old generation',
      { bundle: 'db' },
      { 'shop/db': at('Ready', { applied: 1 }) },
      'it has generation 1, wanted is generation 2',
    ],
    ['nothing applied', { bundle: 'db' }, { 'shop/db': at('Pending', { applied: undefined }) }, 'it has nothing yet'],
    ['not new enough', { bundle: 'db', generation: 5 }, { 'shop/db': at('Ready') }, 'wanted is generation 5'],
    ['new enough', { bundle: 'db', generation: 1 }, { 'shop/db': at('Ready') }, ''],
  ]
  for (const [name, dependency, others, words] of cases) {
    it(name, () => {
      const decision = decide([dependency], others)
      assert.equal(decision.kind, words === '' ? 'Met' : 'Waits')
      if (decision.kind !== 'Met') assert.ok(decision.message.includes(words), decision.message)
    })
  }

  it('that go in a circle are named, for those inside it only', () => {
    const circle = {
      'shop/db': at('Ready', { dependsOn: [{ bundle: 'cache' }] }),
      'shop/cache': at('Ready', { dependsOn: [{ bundle: 'app' }] }),
    }
    assert.deepEqual(decide([{ bundle: 'db' }], circle), {
      kind: 'Cycle',
      message: 'dependsOn has a cycle: shop/app → shop/db → shop/cache → shop/app; remove one of these dependencies',
    })
    const beside = { 'shop/db': at('Ready', { dependsOn: [{ bundle: 'db' }] }) }
    assert.equal(decide([{ bundle: 'db' }], beside).kind, 'Met')
    assert.equal(decide([{ bundle: 'app' }], {}).kind, 'Cycle')
  })
})
