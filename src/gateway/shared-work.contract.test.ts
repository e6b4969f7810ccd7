/** What is the same for many clusters is made once, however many ask. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMemoryBlobs } from '../blobs/memory-blobs.ts'
import { utf8 } from '../core/bytes.ts'
import { canonicalJson } from '../core/json.ts'
import { createSeededIds } from '../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../sim/kernel/virtual-clock.ts'
import { buildCluster } from '../testing/fixtures/builders.ts'
import { configMap } from '../testing/hub/test-hub.ts'
import { objectSetBytes } from '../wire/document/signed-document.ts'
import { resumableResponse } from './responses.ts'
import { createFollowStreams } from './follow-streams.ts'
import { createSetCache } from './set-cache.ts'
import { createPackCache } from './pack-cache.ts'

describe('made once for all', () => {
  it('are packs and their etags, also when all clusters ask at once', async () => {
    const stored = createMemoryBlobs()
    let reads = 0
    const blobs = { get: (digest: Parameters<typeof stored.get>[0]) => ((reads += 1), stored.get(digest)) }
    const put = async (text: string) => {
      const object = configMap('x', { text })
      const digest = await stored.put(utf8(canonicalJson(object)))
      const named = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'x', digest }
      return await stored.put(objectSetBytes({ format: 'flotilla.dev/set/v1', objects: [named] }))
    }
    const [base, set] = [await put('before'), await put('after')]
    const packs = createPackCache({ blobs, sets: createSetCache(blobs) })
    const answers = await Promise.all(Array.from({ length: 100 }, () => packs({ set, base, from: 0 })))
    assert.equal(new Set(answers).size, 1)
    // Two sets, the object and its namesake in the base.
    assert.equal(reads, 4)
    await packs({ set, base, from: 0 })
    assert.equal(reads, 4)
    const [tag] = answers.map((pack) => resumableResponse(pack!, { headers: {} }).headers['etag'])
    assert.match(tag ?? '', /^"sha256:/)
  })

  it('are beats, as long as they say the same', async () => {
    const clock = createVirtualClock()
    const clusters = new Map(
      ['a', 'b', 'slow'].map((name) => [
        name,
        buildCluster(name, { spec: { id: name, checkInSeconds: name === 'slow' ? 300 : 30 } }),
      ]),
    )
    const follow = createFollowStreams({
      clock,
      ids: createSeededIds('beats'),
      clusterOf: (id) => clusters.get(id),
      headOf: () => undefined,
      trustVersion: () => 1,
    })
    const firstBeat = async (name: string) => {
      for await (const line of follow.frames(
        name,
        { instance: undefined, holds: undefined },
        new AbortController().signal,
      ))
        return line
      throw new Error('no beat')
    }
    const a = await firstBeat('a')
    assert.equal(await firstBeat('b'), a, 'the same bytes, not equal ones')
    assert.notDeepEqual(await firstBeat('slow'), a)
    await clock.advance(1000)
    assert.notDeepEqual(await firstBeat('b'), a, 'it carries the time')
  })
})
