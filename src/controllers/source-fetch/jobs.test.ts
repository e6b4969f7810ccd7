import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import type { FetchOutcome } from '../../source/fetch-request.ts'
import { createFetchJobs } from './jobs.ts'

function scene(t: TestContext) {
  const begun: string[] = []
  const ends = new Map<string, (outcome: FetchOutcome) => void>()
  const jobs = createFetchJobs(createVirtualClock(), () => {})
  t.after(() => jobs.close())
  const begin = async (key: string, isAlone = false, host = `${key}.example.com`) => {
    const work = () =>
      new Promise<FetchOutcome>((resolve) => {
        begun.push(key)
        ends.set(key, resolve)
      })
    jobs.begin({ key, isAlone, tenant: key.split('/')[0]!, host, wanted: '', work })
    await Promise.resolve()
  }
  const end = async (key: string, outcome: FetchOutcome = { kind: 'Same' }) => {
    ends.get(key)!(outcome)
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
  }
  return { jobs, begun, begin, end }
}

test('sources that are fetched alone take no place of the others, and a namespace has two of them', async (t) => {
  const { begun, begin, end } = scene(t)
  for (const key of ['a/1', 'a/2', 'a/3', 'b/1', 'c/1', 'd/1']) await begin(key, true)
  assert.deepEqual(begun.splice(0), ['a/1', 'a/2', 'b/1', 'c/1'])
  for (let n = 0; n < 14; n += 1) await begin(`a/shared-${n}`)
  assert.equal(begun.splice(0).length, 8, 'as many as ever beside them')
  await end('b/1')
  assert.deepEqual(begun.splice(0), ['d/1'], 'another one of a has to wait for the first two')
  await end('a/1')
  assert.deepEqual(begun.splice(0), ['a/3'])
  await end('a/shared-0')
  assert.deepEqual(begun.splice(0), ['a/shared-8'])
})

test('a namespace with many slow sources leaves places to the others, and they come first', async (t) => {
  const { begun, begin, end } = scene(t)
  for (let n = 0; n < 30; n += 1) await begin(`busy/${n}`)
  for (const key of ['one/1', 'one/2', 'two/1', 'three/1', 'three/2']) await begin(key)
  assert.equal(begun.filter((key) => key.startsWith('busy/')).length, 8)
  assert.deepEqual(begun.splice(0).slice(8), ['one/1', 'one/2', 'two/1', 'three/1'])
  await end('busy/0')
  assert.deepEqual(begun.splice(0), ['three/2'], 'not another one of the busy namespace')
})

test('a tenant with slow sources on a server leaves a place at that server', async (t) => {
  const { begun, begin } = scene(t)
  for (let n = 0; n < 6; n += 1) await begin(`busy/${n}`, false, 'git.example.com')
  assert.equal(begun.splice(0).length, 3)
  for (const key of ['one/1', 'two/1']) await begin(key, false, 'git.example.com')
  assert.deepEqual(begun.splice(0), ['one/1'])
})

test('an interruption is no failure, and makes a suspect until as many fetches succeed as it takes', async (t) => {
  const { jobs, begin, end } = scene(t)
  const after = async (outcome: FetchOutcome) => {
    await begin('a/1', jobs.isSuspect('a/1'))
    await end('a/1', outcome)
    return jobs.isSuspect('a/1')
  }
  const stopped: FetchOutcome = { kind: 'Failed', reason: 'FetchStopped', message: '', retry: true }
  assert.equal(await after({ kind: 'Same' }), false)
  assert.equal(await after({ kind: 'Interrupted' }), true)
  assert.equal(jobs.failures('a/1'), 0)
  assert.equal(await after({ kind: 'Same' }), false)
  assert.equal(await after({ kind: 'Interrupted' }), true)
  assert.equal(await after(stopped), true)
  assert.equal(jobs.failures('a/1'), 1)
  assert.equal(await after({ kind: 'Same' }), true, 'the second time it takes two')
  assert.equal(await after({ kind: 'Same' }), false)
  jobs.forget('a/1')
  assert.equal(await after(stopped), true, 'also one that this hub never saw with the others')
})
