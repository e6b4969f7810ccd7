import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../client/cache.ts'
import type { Informer } from '../client/informer.ts'
import type { KubeObject } from '../kinds/meta.ts'
import { triggerOn, triggerOnObject } from './trigger.ts'

const named = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Part', metadata: { name } })

/** An informer whose changes the test makes. */
function fakeInformer() {
  const handlers = new Set<(change: Change<KubeObject>) => void>()
  const informer = {
    onChange: (handler: (change: Change<KubeObject>) => void) => {
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
  } as unknown as Informer<KubeObject>
  const change = (before: KubeObject | undefined, after: KubeObject | undefined) => {
    for (const handler of handlers) handler({ key: (after ?? before)!.metadata.name, before, after })
  }
  return { informer, change }
}

test('a trigger on changes sees the object before and after, and stops when it is told to', () => {
  const { informer, change } = fakeInformer()
  const keys: string[] = []
  const trigger = triggerOn(informer, ({ before, after }) => (before && after ? [] : [`came or went`]))
  const stop = trigger.subscribe((key) => keys.push(key))
  change(undefined, named('a'))
  change(named('a'), named('a'))
  change(named('a'), undefined)
  stop()
  change(undefined, named('a'))
  assert.deepEqual(keys, ['came or went', 'came or went'])
  assert.equal(trigger.informer, informer, 'the controller waits for the cache of the trigger')
})

test('a trigger on objects asks for the keys of the object before a change and after it', () => {
  const { informer, change } = fakeInformer()
  const keys: string[] = []
  triggerOnObject(informer, ({ metadata }) => [`user of ${metadata.name}`]).subscribe((key) => keys.push(key))
  change(named('a'), named('b'))
  change(undefined, named('c'))
  assert.deepEqual(keys, ['user of a', 'user of b', 'user of c'])
})
