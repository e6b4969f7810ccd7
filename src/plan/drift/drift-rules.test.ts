import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Override } from '../../kinds/native/override.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { objectOptions } from '../objects/object-options.ts'
import { decisionsFor, driftRulesFor, isInForce, withDriftDecisions } from './drift-rules.ts'

const NOW = Date.parse('2026-11-16T00:00:00Z')
const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'pos', name: 'a' }
const override = (name: string, spec: Partial<Override['spec']>) =>
  build(Override, name, { spec: { bundle: 'web', clusters: ['store-1'], owner: 'ana', reason: 'r', ...spec } })
const revert = { kind: 'ConfigMap', namespace: 'pos', name: 'a', action: 'Revert' as const }
const accept = { ...revert, action: 'Accept' as const, fields: ['.data.a'] }

test('the rules of a cluster are of its bundles, in force, and never of another cluster', () => {
  const overrides = [
    override('shop/b', { drift: [accept] }),
    override('shop/a', { drift: [revert], expiresAt: '2026-11-16T01:00:00Z' }),
    override('shop/over', { drift: [revert], expiresAt: '2026-11-15T00:00:00Z' }),
    override('shop/elsewhere', { drift: [revert], clusters: ['store-2'] }),
    override('other/other', { drift: [revert] }),
    override('shop/unreadable', { drift: [revert], expiresAt: 'soon' }),
  ]
  const rules = driftRulesFor('store-1', new Set(['shop/web']), { overrides, nowMs: NOW })
  assert.deepEqual(rules, [
    {
      bundle: 'shop/web',
      until: '2026-11-16T01:00:00Z',
      objects: [{ kind: 'ConfigMap', namespace: 'pos', name: 'a' }],
    },
    { bundle: 'shop/web', objects: [{ kind: 'ConfigMap', namespace: 'pos', name: 'a', ignore: ['.data.a'] }] },
  ])
  assert.deepEqual(
    rules.map((rule) => isInForce(rule, NOW + 2 * 3_600_000)),
    [false, true],
  )
  assert.deepEqual(driftRulesFor('store-1', new Set(), { overrides, nowMs: NOW }), [])
})

test('a revert corrects drift whatever the bundle says; an acceptance leaves its fields alone, and nothing else', () => {
  const read = objectOptions(
    { drift: { mode: 'Report' } },
    {
      ...id,
      metadata: { name: 'a', namespace: 'pos' },
    },
  )
  assert.ok(read.ok)
  const { options } = read
  const rules = [{ bundle: 'shop/web', objects: [{ kind: 'ConfigMap', namespace: 'pos', name: 'a' }] }]
  assert.equal(withDriftDecisions(options, decisionsFor(rules, id), id).drift, 'Correct')
  assert.equal(decisionsFor(rules, { ...id, namespace: 'other' }).length, 0)
  assert.equal(decisionsFor(rules, { ...id, kind: 'Secret' }).length, 0)
  const accepted = withDriftDecisions(options, [{ kind: 'ConfigMap', name: 'a', ignore: ['.data.a'] }], id)
  assert.deepEqual([accepted.drift, accepted.ignore.length], ['Report', 1])
  const odd = withDriftDecisions(options, [{ kind: 'ConfigMap', name: 'a', ignore: ['kind'] }], id)
  assert.deepEqual(odd, options, 'a path that cannot be read ignores nothing')
})
