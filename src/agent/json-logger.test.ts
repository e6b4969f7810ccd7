import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createJsonLogger } from './json-logger.ts'

describe('the logger', () => {
  it('writes one line of JSON with errors and their causes', () => {
    const lines: string[] = []
    const clock = { now: () => 0, monotonicMs: () => 0, sleep: async () => {} }
    const log = createJsonLogger({ write: (line) => void lines.push(line), clock, level: 'info' }).child({ part: 'x' })
    log.debug({}, 'not this')
    log.warn({ err: new Error('outer', { cause: new Error('inner') }) }, 'this')
    assert.deepEqual(
      lines.map((line): unknown => JSON.parse(line)),
      [
        {
          time: '1970-01-01T00:00:00.000000Z',
          level: 'warn',
          part: 'x',
          err: { name: 'Error', message: 'outer', cause: { name: 'Error', message: 'inner' } },
          msg: 'this',
        },
      ],
    )
    assert.ok(lines[0]?.endsWith('\n'))
  })
})
