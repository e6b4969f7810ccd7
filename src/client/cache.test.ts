import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../kinds/meta.ts'
import { createCache } from './cache.ts'
import type { Cache } from './cache.ts'
import { compareResourceVersions } from './resource-versions.ts'

function thing(name: string, resourceVersion: string): KubeObject {
  return { apiVersion: 'x.dev/v1', kind: 'Thing', metadata: { name, resourceVersion } }
}

describe('cache', () => {
  const cases: readonly {
    readonly what: string
    readonly does: (cache: Cache<KubeObject>) => void
    readonly changes: readonly string[]
    readonly seen: string
  }[] = [
    {
      what: 'the watch repeats an own write',
      does: (cache) => {
        cache.noteWrite(thing('a', '12'))
        cache.event({ type: 'MODIFIED', object: thing('a', '12') })
      },
      changes: ['+a@12'],
      seen: '12',
    },
    {
      what: 'the watch is behind an own write',
      does: (cache) => {
        cache.noteWrite(thing('a', '12'))
        cache.event({ type: 'MODIFIED', object: thing('a', '11') })
        cache.event({ type: 'MODIFIED', object: thing('a', '13') })
      },
      changes: ['+a@12', '12→a@13'],
      seen: '13',
    },
    {
      what: 'an own creation after a deletion the watch has yet to show',
      does: (cache) => {
        cache.noteWrite(thing('a', '14'))
        cache.event({ type: 'DELETED', object: thing('a', '12') })
      },
      changes: ['+a@14'],
      seen: '12',
    },
    {
      what: 'a write that the watch has passed',
      does: (cache) => {
        cache.event({ type: 'BOOKMARK', resourceVersion: '20', initialEventsEnd: false })
        cache.noteWrite(thing('a', '19'))
      },
      changes: [],
      seen: '20',
    },
    {
      what: 'a list removes only what it could have known',
      does: (cache) => {
        cache.event({ type: 'ADDED', object: thing('a', '11') })
        cache.noteWrite(thing('b', '30'))
        cache.replace({ items: [], resourceVersion: '20' })
      },
      changes: ['+a@11', '+b@30', '-a@11'],
      seen: '20',
    },
    {
      what: 'a list that is older than the watch',
      does: (cache) => {
        cache.event({ type: 'ADDED', object: thing('a', '25') })
        cache.replace({ items: [thing('a', '15')], resourceVersion: '20' })
      },
      changes: ['+a@25'],
      seen: '25',
    },
  ]
  for (const { what, does, changes, seen } of cases) {
    it(what, () => {
      const heard: string[] = []
      const cache = createCache<KubeObject>(({ key, before, after }) => {
        const [from, to] = [before?.metadata.resourceVersion, after?.metadata.resourceVersion]
        heard.push(to === undefined ? `-${key}@${from}` : `${from === undefined ? '+' : `${from}→`}${key}@${to}`)
      })
      cache.replace({ items: [], resourceVersion: '10' })
      does(cache)
      assert.deepEqual(heard, changes)
      assert.equal(cache.seen(), seen)
    })
  }

  it('versions are numbers of any length', () => {
    const sorted = ['', '9', '10', '99', '9007199254740993', '9007199254740994']
    assert.deepEqual([...sorted].sort(() => -1).sort(compareResourceVersions), sorted)
  })
})
