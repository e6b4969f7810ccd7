import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import { Source } from '../../../kinds/native/source.ts'
import { build, buildBundle } from '../../../testing/fixtures/builders.ts'
import { fetchProblem, otherContent } from './current-content.ts'

const DIGEST = `sha256:${'1'.repeat(64)}` as const
const condition = (type: string, status: 'True' | 'False', reason: string, message = 'why') => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
})
const source = (status: object, annotations = {}): Source => ({
  ...build(Source, 'n/s', { spec: {} }, { annotations }),
  status,
})
const FETCHED = source({ artifact: { digest: DIGEST, revision: 'main@sha1:c2' } })

function bundleOf(status: object, compiled = 'x'): Bundle {
  const bundle = buildBundle('n/b', {})
  const metadata = { ...bundle.metadata, generation: 2, annotations: { 'flotilla.dev/compiled': compiled } }
  const current = { observedGeneration: 2, artifact: DIGEST, sourceRevision: 'main@sha1:c2' }
  return {
    ...bundle,
    metadata,
    status: { ...current, conditions: [condition('Ready', 'True', 'RolledOut')], ...status },
  }
}

test('a Bundle delivers the newest content only when all of its status is about it', () => {
  const other = (status: object, compiled?: string) => otherContent(bundleOf(status, compiled), bundleOf({}), FETCHED)
  assert.equal(other({}), undefined)
  assert.equal(other({ conditions: [condition('Ready', 'False', 'RolloutPaused')] }), undefined)
  const notRendered = { message: 'main@sha1:c2 is not rendered yet.', isWaiting: true }
  assert.deepEqual(other({ observedGeneration: 1 }), notRendered)
  assert.deepEqual(other({ artifact: `sha256:${'0'.repeat(64)}` }), notRendered)
  assert.deepEqual(other({ conditions: [] }), notRendered)
  assert.deepEqual(other({}, 'older'), notRendered)
  assert.deepEqual(otherContent(undefined, bundleOf({}), FETCHED), notRendered)
  const refused = { message: 'why', isWaiting: false, reason: 'ProjectRefuses' }
  assert.deepEqual(other({ conditions: [condition('Ready', 'False', 'ProjectRefuses')] }), refused)
  const older = { message: 'why', isWaiting: false, reason: 'RolledOut' }
  assert.deepEqual(other({ sourceRevision: 'main@sha1:c1' }), older)
  const suspended = [condition('Ready', 'True', 'RolledOut'), condition('Suspended', 'True', 'Suspended')]
  assert.equal(other({ conditions: suspended })?.reason, 'Suspended')
})

test('a fetch that was asked for is waited for, and its failure is told', () => {
  const asked = { 'flotilla.dev/poll': 't' }
  assert.deepEqual(fetchProblem([FETCHED, source({ hint: 't' }, asked)]), {})
  assert.deepEqual(fetchProblem([source({ hint: 's' }, asked)]), { waits: 'The repository is being fetched.' })
  const failed = source({ hint: 't', conditions: [condition('Ready', 'False', 'AuthFailed')] }, asked)
  assert.deepEqual(fetchProblem([failed]), { failed: 'Failed to load target state: why' })
  const refused = source({ conditions: [condition('Ready', 'False', 'ProjectRefuses')] }, asked)
  assert.deepEqual(fetchProblem([refused]), { waits: 'why' })
})
