import assert from 'node:assert/strict'
import { test } from 'node:test'
import { portsOf } from './pod-processes.ts'

test('a connection to a port that was listened on is incoming, also when the listener is gone', () => {
  const listening = new Set([7444])
  const pairs = new Set(['7444 50123', '7444 50999', '40001 443', '40002 443', '40003 9000'])
  assert.deepEqual(portsOf({ listening, pairs }), { incoming: [7444], outgoing: [443, 9000] })
  assert.deepEqual(portsOf({ listening: new Set(), pairs }).incoming, [])
})
