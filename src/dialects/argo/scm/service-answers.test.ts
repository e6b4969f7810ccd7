/** What the answers of services may cost: they stay in memory between two passes over a set. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../core/json.ts'
import type { ServiceAnswer, ServiceQuestion } from './ask-service.ts'
import { createAnswerCache } from './service-answers.ts'

const { signal } = new AbortController()
const question = (name: string): ServiceQuestion => ({ kind: 'plugin', generator: { name }, set: 'fleet' })

function cacheOf(answers: Readonly<Record<string, readonly JsonObject[]>>) {
  const cache = createAnswerCache({
    askService: async (_namespace, { generator }): Promise<ServiceAnswer> => answers[String(generator['name'])]!,
  })
  return async (names: readonly string[], nowMs = 0) => {
    const pass = cache.open('argocd/fleet', 'argocd', nowMs)
    const left = names.map(question).filter((one) => pass.of(one) === undefined)
    assert.equal(await pass.ask(left, signal), undefined)
    const given = names.map((name) => pass.of(question(name))!)
    pass.finish()
    return given.map((one) => ('failure' in one ? one.failure : one.length))
  }
}

const TOO_MUCH =
  'the answers for this ApplicationSet have more than 8388608 characters or 50000 items in sum: let the services answer less, or split the ApplicationSet'

test('answers of one set are kept up to a sum of characters', async () => {
  const half = [{ text: 'x'.repeat(5 * 1024 * 1024) }]
  const given = cacheOf({ a: half, b: half, c: [{}] })
  assert.deepEqual(await given(['a', 'b', 'c']), [1, TOO_MUCH, 1])
  assert.deepEqual(await given(['b', 'c']), [TOO_MUCH, 1], 'a failure is kept for a minute')
  assert.deepEqual(await given(['b', 'c'], 60_000), [1, 1], 'what is not used any more does not count')
})

test('answers of one set are kept up to a sum of items', async () => {
  const items = Array.from({ length: 30_000 }, () => ({}))
  assert.deepEqual(await cacheOf({ a: items, b: items })(['a', 'b']), [30_000, TOO_MUCH])
})

test('an answer that is nested too deeply is refused', async () => {
  const deep = (levels: number) => [JSON.parse(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`) as JsonObject]
  const given = cacheOf({ fine: deep(90), deep: deep(200_000) })
  assert.deepEqual(await given(['fine', 'deep']), [
    1,
    'an answer is nested more than 100 levels deep: let the service answer fewer levels',
  ])
})
