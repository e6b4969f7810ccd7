import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Digest } from '../../core/crypto/digest.ts'
import type { Release } from '../../kinds/native/release.ts'
import { contentOrigin } from './content-origin.ts'

const set = (letter: string): Digest => `sha256:${letter.repeat(64)}`
const origin = { author: 'Jo', subject: 'Raise replicas', from: 'https://git.example.com/shop.git' }

type Entry = Release['spec']['bundles'][number]
function release(generation: number, entry: Partial<Entry>, more: Partial<Release['spec']> = {}): Release {
  const bundle: Entry = { name: 'web', generation, set: set('a'), placement: 'stores', ...entry }
  return {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'Release',
    metadata: { name: `web-g${generation}`, namespace: 'shop' },
    spec: { bundles: [bundle], ...more },
  }
}
const rollBack = { of: 'web-g2', scope: 'All', by: 'jo' } as const

describe('the origin of content', () => {
  const g1 = release(1, { revision: 'main@sha1:1', origin })
  const g2 = release(2, { revision: 'main@sha1:2', set: set('b') })

  it('is that of its Release', () => {
    assert.deepEqual(contentOrigin('web', { generation: 1, set: set('a') }, [g1, g2]), {
      revision: 'main@sha1:1',
      ...origin,
    })
  })
  it('has no author where the Release has none', () => {
    assert.deepEqual(contentOrigin('web', { generation: 2, set: set('b') }, [g1, g2]), { revision: 'main@sha1:2' })
  })
  it('of a rollback is the Release that the content comes from', () => {
    const back = release(3, { revision: 'main@sha1:2', set: set('a') }, { rollBack })
    assert.equal(contentOrigin('web', { generation: 3, set: set('a') }, [g1, g2, back])?.revision, 'main@sha1:1')
  })
  it('of content that stays because the newer content is marked bad is the earlier Release', () => {
    const variants: NonNullable<Entry['variants']> = [
      { when: { name: 'store-1' }, set: set('a') },
      { when: {}, set: set('c') },
    ]
    const g3 = release(3, { revision: 'main@sha1:3', set: set('c'), variants })
    const all = [g1, g2, g3]
    assert.equal(contentOrigin('web', { generation: 3, set: set('a') }, all)?.revision, 'main@sha1:1')
    assert.equal(contentOrigin('web', { generation: 3, set: set('c') }, all)?.revision, 'main@sha1:3')
  })
  it('is unknown when no Release has the content, and for content that is not from a Source', () => {
    assert.equal(contentOrigin('web', { generation: 2, set: set('x') }, [g1, g2]), undefined)
    assert.equal(contentOrigin('web', { generation: 1, set: set('a') }, [release(1, {})]), undefined)
  })
})
