import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Logger } from '../../core/log.ts'
import { silentLogger } from '../../core/log.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { LIMITS } from '../../wire/limits.ts'
import { createLogTail } from './log-tail.ts'

test('what the agent says goes on to its log, and the newest lines are kept as text', () => {
  const said: string[] = []
  const under: Logger = { ...silentLogger, warn: (_fields, message) => void said.push(message), child: () => under }
  const tail = createLogTail(under, createVirtualClock())
  const log = tail.log.child({ part: 'link' })
  log.warn({ err: new Error('no\nroute'), retryMs: 5, token: 'abc', apiKey: 'x', nested: { a: 1 } }, 'hub not reached')
  log.debug({}, 'not kept')
  tail.log.error({}, 'x'.repeat(9999))
  assert.deepEqual(said, ['hub not reached'])
  const [first, second, ...more] = tail.lines()
  assert.equal(first, '2026-01-01T00:00:00Z warn hub not reached part="link" err="no\\nroute" retryMs=5')
  assert.equal(second?.length, LIMITS.logLineChars)
  assert.deepEqual(more, [])
  for (let count = 0; count < 3 * LIMITS.logLines; count++) log.info({ count }, 'again')
  assert.equal(tail.lines().length, LIMITS.logLines)
  assert.match(tail.lines().at(-1)!, /count=299$/)
})
