import assert from 'node:assert/strict'
import { it } from 'node:test'
import { buildBundle, buildCluster, buildPlacement } from './builders.ts'

it('builders fill in what a case does not say', () => {
  assert.deepEqual(buildCluster('a'), buildCluster('a'), 'the same name, the same keys')
  assert.notEqual(buildCluster('a').spec.identityKey, buildCluster('b').spec.identityKey)
  assert.equal(buildCluster('a', { spec: { accepted: false } }).spec.accepted, false)
  assert.deepEqual(buildBundle('apps/web', { placement: 'eu' }).metadata, { namespace: 'apps', name: 'web' })
  assert.deepEqual(buildPlacement('apps/eu', { region: 'eu' }).spec.clusterSelector, { matchLabels: { region: 'eu' } })
})
