import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { commitReleaseName, decideCommitRelease, GATHER_MS, needsGathering } from './commit-release.ts'
import type { GatheredBundle, GatherDecision } from './commit-release.ts'

const now = digestOf('now')
const old = digestOf('old')
const changed = (name: string, extra: Partial<GatheredBundle> = {}): GatheredBundle => ({
  name,
  artifact: now,
  waits: true,
  group: '',
  ...extra,
})
const same = (name: string) => changed(name, { waits: false })
const bad = (name: string) => changed(name, { waits: false, problem: 'line 3' })

function tell(decision: GatherDecision): string {
  if (decision.kind === 'Wait') return `wait for ${decision.for.join(' ')}`
  const missing = decision.missing.map(({ name, problem }) => ` without ${name}: ${problem}`).join('')
  if (decision.kind === 'Nothing') return `nothing${missing}`
  return `${decision.releases.map((names) => names.join('+')).join(' | ')}${missing}`
}

test('what moves together', () => {
  const late = changed('c', { artifact: old })
  const table: [string, readonly GatheredBundle[], number, string][] = [
    ['nothing is new', [same('a'), same('b')], 0, 'nothing'],
    ['all that changed', [changed('b'), same('c'), changed('a')], 0, 'a+b'],
    ['one is still on its way', [changed('a'), late], 0, 'wait for c'],
    ['and does not come', [changed('a'), late], GATHER_MS, 'a without c: The bundle was not rendered in time.'],
    ['what waits from an older commit waits on', [{ ...late, waits: true }], GATHER_MS, 'nothing'],
    ['one cannot be rendered', [changed('a'), bad('b'), changed('c')], 0, 'a+c without b: line 3'],
    ['all that can be said', [bad('b')], 0, 'nothing without b: line 3'],
    ['other settings', [changed('a'), changed('b', { group: 'slow' }), changed('c')], 0, 'a+c | b'],
  ]
  for (const [name, bundles, after, expected] of table) {
    assert.equal(tell(decideCommitRelease({ artifact: now, since: 1000, now: 1000 + after, bundles })), expected, name)
  }
})

test('a name of source and commit', () => {
  assert.equal(
    commitReleaseName('apps', '4f2a91c0d3ffffffff', () => false),
    'apps-4f2a91c0d3',
  )
  assert.equal(
    commitReleaseName('apps', '4f2a91c0d3', (name) => name === 'apps-4f2a91c0d3'),
    'apps-4f2a91c0d3-2',
  )
  assert.equal(
    commitReleaseName('charts', 'sha256:ABCDEF0123456', () => false),
    'charts-abcdef0123',
  )
})

test('content waits while another bundle waits or was not rendered from the same artifact', () => {
  const [artifact, older] = [digestOf('new'), digestOf('old')]
  assert.equal(needsGathering(artifact, []), false)
  assert.equal(needsGathering(artifact, [{ artifact, waits: false }]), false)
  assert.equal(needsGathering(artifact, [{ artifact, waits: true }]), true)
  assert.equal(needsGathering(artifact, [{ artifact: older, waits: false }]), true)
  assert.equal(needsGathering(artifact, [{ waits: false }]), true)
})
