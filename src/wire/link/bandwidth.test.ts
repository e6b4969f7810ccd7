import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { IDLE_BANDWIDTH, spendBandwidth } from './bandwidth.ts'

describe('bandwidth', () => {
  it('lets a second of it go at once, then waits for what was sent', () => {
    const rate = { bytesPerSecond: 1000, now: 50_000 }
    const first = spendBandwidth(IDLE_BANDWIDTH, 1000, rate)
    assert.equal(first.waitMs, 0)
    const second = spendBandwidth(first.state, 500, rate)
    assert.equal(second.waitMs, 500)
    assert.equal(spendBandwidth(second.state, 500, { ...rate, now: 52_000 }).waitMs, 0)
  })

  it('is never more than the rate, plus a second ahead and the piece in hand, over any time', () => {
    const pieces = fc.array(fc.tuple(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 0, max: 3000 })), {
      minLength: 1,
      maxLength: 50,
    })
    fc.assert(
      fc.property(fc.integer({ min: 1024, max: 10_000_000 }), pieces, (bytesPerSecond, all) => {
        let state = IDLE_BANDWIDTH
        let now = 0
        let sent = 0
        for (const [bytes, pauseMs] of all) {
          now += pauseMs
          const spent = spendBandwidth(state, bytes, { bytesPerSecond, now })
          state = spent.state
          now += spent.waitMs
          sent += bytes
          assert.ok(sent <= ((now + 1000) / 1000) * bytesPerSecond + 1e-3, `${sent} bytes in ${now} ms`)
        }
      }),
    )
  })
})
