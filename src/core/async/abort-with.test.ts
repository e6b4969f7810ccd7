import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { it } from 'node:test'
import { abortWith } from './abort-with.ts'

it('ends all controllers with their signal, for its reason, by one listener', () => {
  const life = new AbortController()
  const controllers = Array.from({ length: 100 }, () => new AbortController())
  for (const controller of controllers) abortWith(life.signal, controller)
  assert.equal(getEventListeners(life.signal, 'abort').length, 1)
  const reason = new Error('over')
  life.abort(reason)
  assert.deepEqual(new Set(controllers.map(({ signal }) => signal.reason)), new Set([reason]))
})

it('leaves those alone that are no longer concerned', () => {
  const life = new AbortController()
  const [gone, here] = [new AbortController(), new AbortController()]
  const forget = abortWith(life.signal, gone)
  abortWith(life.signal, here)
  forget()
  life.abort()
  assert.deepEqual([gone.signal.aborted, here.signal.aborted], [false, true])
})

it('ends at once what comes too late', () => {
  const late = new AbortController()
  abortWith(AbortSignal.abort(), late)
  assert.ok(late.signal.aborted)
})
