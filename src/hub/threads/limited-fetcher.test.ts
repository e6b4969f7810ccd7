import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import { systemIds } from '../../core/system-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import type { FetchOutcome } from '../../source/fetch-request.ts'
import { FETCH_LIMITS, startFetcher } from './limited-fetcher.ts'
import { TEST_EGRESS } from '../../testing/fixtures/source-fetcher.ts'
import type { Thread } from './thread.ts'

/** A thread that the test plays. */
interface PlayedThread {
  readonly folder: string
  /** Whether it answers pings. */
  isBusy: boolean
  isEnded: boolean
  isClosed: boolean
  answer(name: string, outcome: FetchOutcome): void
  /** Answers the pings so far, and those that come. */
  pong(): void
  die(error: Error): void
}

async function scene(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'limited-fetcher-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const clock = createVirtualClock()
  const threads: PlayedThread[] = []
  const start = async (init: { readonly folder: string }): Promise<Thread<'source'>> => {
    const calls = new Map<string, PromiseWithResolvers<FetchOutcome>>()
    const pings = new Set<PromiseWithResolvers<void>>()
    const death = Promise.withResolvers<never>()
    death.promise.catch(() => {})
    const over = (error: Error) => {
      for (const one of [...calls.values(), ...pings]) one.reject(error)
    }
    const played: PlayedThread = {
      folder: init.folder.slice(folder.length),
      isBusy: false,
      isEnded: false,
      isClosed: false,
      answer: (name, outcome) => calls.get(name)!.resolve(outcome),
      pong: () => {
        played.isBusy = false
        for (const ping of pings) ping.resolve()
      },
      die: (error) => {
        death.reject(error)
        over(error)
      },
    }
    threads.push(played)
    return {
      ready: undefined,
      death: death.promise,
      metrics: async () => '',
      call: (request, signal) => {
        const call = Promise.withResolvers<FetchOutcome>()
        calls.set(request.spec.helm!.url, call)
        signal.addEventListener('abort', () => call.reject(signal.reason), { once: true })
        return call.promise
      },
      ping: () => {
        const ping = Promise.withResolvers<void>()
        if (played.isBusy) pings.add(ping)
        else ping.resolve()
        return ping.promise
      },
      close: async () => void (played.isClosed = true),
      kill: async () => {
        played.isEnded = true
        over(new Error('the source thread ended with code 1'))
      },
    }
  }
  const init = {
    blobs: { kind: 'files', folder: '' } as const,
    folder,
    git: { path: '', home: '' },
    localPaths: [],
    egress: TEST_EGRESS,
  }
  const fetcher = await startFetcher({ init, clock, ids: systemIds, log: silentLogger, start })
  const unwanted = new AbortController()
  const fetch = (url: string, isAlone = false) => {
    const outcome = fetcher
      .fetch(
        { spec: { helm: { url }, timeout: '5s' }, mirrors: [], isHinted: false, ...(isAlone && { isAlone }) },
        unwanted.signal,
      )
      .then(
        (came) => (came.kind === 'Failed' ? `${came.reason}: ${came.message.split('. ')[0]}` : came.kind),
        (error: Error) => error.message,
      )
    return clock.settle().then(() => ({ outcome }))
  }
  return { clock, threads, fetcher, fetch, unwanted }
}

const SAME: FetchOutcome = { kind: 'Same' }
const { marginMs, sharedSilenceMs, ownSilenceMs } = FETCH_LIMITS
const LIMIT_MS = 5000 + marginMs

test('a shared thread that is busy for too long is ended, its fetches are interrupted, and the next one begins anew', async (t) => {
  const { clock, threads, fetch } = await scene(t)
  const [a, b] = [await fetch('a'), await fetch('b')]
  threads[0]!.answer('b', SAME)
  assert.equal(await b.outcome, 'Same')
  const c = await fetch('c')
  threads[0]!.isBusy = true
  await clock.advance(sharedSilenceMs - 100)
  assert.equal(threads[0]!.isEnded, false)
  await clock.advance(3000)
  assert.deepEqual([await a.outcome, await c.outcome], ['Interrupted', 'Interrupted'])
  assert.equal(threads[0]!.isEnded, true)
  const d = await fetch('d')
  assert.equal(threads.length, 2)
  threads[1]!.answer('d', SAME)
  assert.equal(await d.outcome, 'Same')
})

test('a main thread that stood still itself waits for an answer that lies there already', async (t) => {
  const { clock, threads, fetch } = await scene(t)
  const a = await fetch('a')
  threads[0]!.isBusy = true
  await clock.advance(2000)
  clock.standStill(sharedSilenceMs)
  await clock.advance(100)
  threads[0]!.pong()
  await clock.advance(sharedSilenceMs / 2)
  assert.equal(threads[0]!.isEnded, false)
  threads[0]!.answer('a', SAME)
  assert.equal(await a.outcome, 'Same')
})

test('a fetch that does not hear that its time is over ends the shared thread', async (t) => {
  const { clock, threads, fetch } = await scene(t)
  const a = await fetch('a')
  await clock.advance(LIMIT_MS - 100)
  assert.equal(threads[0]!.isEnded, false)
  await clock.advance(200)
  assert.equal(await a.outcome, 'Interrupted')
})

test('a shared thread that dies is started again, and the hub goes on', async (t) => {
  const { threads, fetch } = await scene(t)
  const a = await fetch('a')
  threads[0]!.die(new Error('the source thread ended: boom'))
  assert.equal(await a.outcome, 'Interrupted')
  const b = await fetch('b')
  threads[1]!.answer('b', SAME)
  assert.equal(await b.outcome, 'Same')
})

test('a fetch that is called off while it keeps the thread busy ends the thread all the same', async (t) => {
  const { clock, threads, fetch, unwanted } = await scene(t)
  const a = await fetch('a')
  threads[0]!.isBusy = true
  unwanted.abort(new Error('no longer wanted'))
  assert.equal(await a.outcome, 'no longer wanted')
  await clock.advance(sharedSilenceMs + 3000)
  assert.equal(threads[0]!.isEnded, true)
})

test('a fetch that begins while the thread is asked for the last time is watched, too', async (t) => {
  const { clock, threads, fetch } = await scene(t)
  const a = await fetch('a')
  threads[0]!.answer('a', SAME)
  assert.equal(await a.outcome, 'Same')
  threads[0]!.isBusy = true
  await clock.advance(2500)
  const b = await fetch('b')
  threads[0]!.pong()
  threads[0]!.isBusy = true
  await clock.advance(sharedSilenceMs + 3000)
  assert.equal(threads[0]!.isEnded, true)
  assert.equal(await b.outcome, 'Interrupted')
})

test('a refusal of the thread is an error and ends nothing', async (t) => {
  const { threads, fetch } = await scene(t)
  const a = await fetch('a')
  threads[0]!.answer('a', Promise.reject(new Error('this thread takes no calls')) as never)
  assert.equal(await a.outcome, 'this thread takes no calls')
  assert.equal(threads[0]!.isEnded, false)
})

test('a fetch alone has a thread and a folder of its own, and is told by what ended the thread', async (t) => {
  const { clock, threads, fetch } = await scene(t)
  const fine = await fetch('fine', true)
  assert.match(threads[1]!.folder, /^\/alone\/\w+$/)
  threads[1]!.answer('fine', SAME)
  assert.equal(await fine.outcome, 'Same')
  assert.equal(threads[1]!.isEnded, true)

  const late = await fetch('late', true)
  await clock.advance(LIMIT_MS + 100)
  assert.equal(
    await late.outcome,
    'FetchStopped: The hub stopped the fetch because it did not end within 25 s, which is spec.timeout and 20 s more',
  )
  const dead = await fetch('dead', true)
  threads[3]!.die(new Error('the source thread ended: boom'))
  assert.equal(
    await dead.outcome,
    'FetchStopped: The hub stopped the fetch because it ended the thread that ran it (the source thread ended: boom)',
  )
  const large = await fetch('large', true)
  const cause = Object.assign(new Error('out of memory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' })
  threads[4]!.die(new Error('the source thread ended: out of memory', { cause }))
  assert.equal(
    await large.outcome,
    'FetchStopped: The hub stopped the fetch because it needed more than 2048 MiB of memory',
  )
  assert.equal(threads[0]!.isEnded, false, 'the others never noticed')
})

test('a fetch alone may be busy for longer than with the others, and not for ever however long its timeout is', async (t) => {
  const { clock, threads, fetcher } = await scene(t)
  const spec = { helm: { url: 'busy' }, timeout: '24h' }
  const outcome = fetcher.fetch({ spec, mirrors: [], isHinted: false, isAlone: true }, new AbortController().signal)
  await clock.settle()
  threads[1]!.isBusy = true
  await clock.advance(sharedSilenceMs + 3000)
  assert.equal(threads[1]!.isEnded, false)
  await clock.advance(ownSilenceMs)
  const came = await outcome
  assert.match(
    came.kind === 'Failed' ? came.message : came.kind,
    /its content kept a thread of the hub busy for 60 s\. /,
  )
})

test('closing closes the shared thread, ends the others, and starts none', async (t) => {
  const { threads, fetcher, fetch } = await scene(t)
  const alone = await fetch('alone', true)
  await fetcher.close()
  assert.deepEqual([threads[0]!.isClosed, threads[1]!.isEnded], [true, true])
  assert.equal(await alone.outcome, 'the source thread ended with code 1')
  assert.equal(await (await fetch('late')).outcome, 'the hub is closing')
  assert.equal(threads.length, 2)
})
