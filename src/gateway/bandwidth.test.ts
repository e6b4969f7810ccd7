import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bytesBody } from '../core/http.ts'
import type { Cluster } from '../kinds/native/cluster.ts'
import { createVirtualClock } from '../sim/kernel/virtual-clock.ts'
import { buildCluster } from '../testing/fixtures/builders.ts'
import { bandwidthLimit, createBandwidth } from './bandwidth.ts'

const site = (spec: Partial<Cluster['spec']>) => buildCluster('a', { spec })

describe('the pace of a line', () => {
  const rates: [Partial<Cluster['spec']>, number | undefined][] = [
    [{}, undefined],
    [{ siteClass: 'Connected' }, undefined],
    [{ siteClass: 'Edge' }, 4_194_304],
    [{ siteClass: 'Intermittent' }, 262_144],
    [{ siteClass: 'Edge', maxBytesPerSecond: 2048 }, 2048],
    [{ maxBytesPerSecond: 2048 }, 2048],
  ]
  for (const [spec, rate] of rates) {
    it(`is ${rate ?? 'without limit'} for ${JSON.stringify(spec)}`, () =>
      assert.equal(bandwidthLimit(site(spec)), rate))
  }

  it('is shared by the answers of a cluster, holds no other up, follows a change and ends with the caller', async () => {
    const clock = createVirtualClock()
    const bandwidth = createBandwidth(clock)
    const limits = new Map([
      ['a', 10_240],
      ['b', 10_240],
    ])
    const gone = new AbortController()
    const send = (name: string, size: number, signal = new AbortController().signal) => {
      const newest = () => buildCluster(name, { spec: { id: name, maxBytesPerSecond: limits.get(name) } })
      const answer = { status: 200, headers: {}, body: bytesBody(new Uint8Array(size)) }
      const sent = { bytes: 0, endedAt: -1, failed: false }
      void (async () => {
        try {
          for await (const piece of bandwidth.pace(newest(), answer, signal, newest).body)
            sent.bytes += piece.byteLength
          sent.endedAt = clock.monotonicMs()
        } catch {
          sent.failed = true
        }
      })()
      return sent
    }
    const start = clock.monotonicMs()
    const [one, two, other] = [send('a', 51_200), send('a', 51_200), send('b', 10_240)]
    const left = send('b', 1_000_000, gone.signal)
    await clock.advance(1000)
    assert.equal(other.endedAt >= 0, true)
    await clock.advance(8500)
    assert.equal(one.bytes + two.bytes, 102_400)
    assert.ok(Math.max(one.endedAt, two.endedAt) - start >= 8500)
    gone.abort()
    await clock.settle()
    assert.equal(left.failed, true)
    const freed = send('a', 1_000_000)
    limits.delete('a')
    await clock.advance(10_000)
    assert.equal(freed.bytes, 1_000_000)
  })
})
