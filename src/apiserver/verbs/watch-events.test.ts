import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromUtf8 } from '../../core/bytes.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import type { StoreEvent } from '../../store/store.ts'
import { parseSelection } from './selection.ts'
import { eventType, watchLineBytes } from './watch-events.ts'

describe('an event as watches see it', () => {
  const textOf = (app: string | undefined) =>
    app === undefined ? undefined : JSON.stringify({ metadata: { name: 'm', labels: { app } } })
  const eventOf = (before: string | undefined, now: string | undefined): StoreEvent => ({
    key: '/_/configmaps/default/m',
    revision: 7,
    previous: textOf(before),
    value: textOf(now),
  })
  const select = (query: string) => parseSelection(ConfigMap, new URLSearchParams(query))

  const cases = [
    // before, now, to all, to those of app=a
    [undefined, 'a', 'ADDED', 'ADDED'],
    [undefined, 'b', 'ADDED', undefined],
    ['a', 'a', 'MODIFIED', 'MODIFIED'],
    ['a', 'b', 'MODIFIED', 'DELETED'],
    ['b', 'a', 'MODIFIED', 'ADDED'],
    ['a', undefined, 'DELETED', 'DELETED'],
    ['b', undefined, 'DELETED', undefined],
  ] as const
  for (const [before, now, all, some] of cases) {
    it(`${before} → ${now} is ${all} to all and ${some} to some`, () => {
      const event = eventOf(before, now)
      // Twice, because the second one asks what the first has worked out.
      for (let n = 0; n < 2; n += 1) {
        assert.equal(eventType(event, select('')), all)
        assert.equal(eventType(event, select('labelSelector=app%3Da')), some)
        assert.equal(eventType(event, select('fieldSelector=metadata.name%3Dm')), all)
        assert.equal(eventType(event, select('fieldSelector=metadata.name%3Dn')), undefined)
      }
    })
  }

  it('is the same bytes for all, until many others came', () => {
    const event = eventOf('a', 'a')
    const line = watchLineBytes('MODIFIED', event)
    assert.equal(watchLineBytes('MODIFIED', event), line)
    assert.equal(fromUtf8(line), `{"type":"MODIFIED","object":${event.value}}\n`)
    for (let n = 0; n < 1000; n += 1) watchLineBytes('ADDED', eventOf(undefined, 'a'))
    assert.notEqual(watchLineBytes('MODIFIED', event), line)
    assert.deepEqual(watchLineBytes('MODIFIED', event), line)
  })

  it('has the revision of its end when it is gone', () => {
    const gone = JSON.parse(fromUtf8(watchLineBytes('DELETED', eventOf('a', undefined)))) as object
    assert.deepEqual(gone, {
      type: 'DELETED',
      object: { metadata: { name: 'm', labels: { app: 'a' }, resourceVersion: '7' } },
    })
  })
})
