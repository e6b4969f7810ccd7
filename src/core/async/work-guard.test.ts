import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { runInThread, createStepBudget, createWorkGuard, LimitReached } from './work-guard.ts'

const LIMITS = { timeMs: 1000, memoryMiB: 64, graceMs: 500 }

/** A thread that says what it is told to. */
function playThread() {
  const events = new EventEmitter()
  let ended = 0
  const thread = {
    on: (event: string, heard: (value: unknown) => void) => void events.on(event, heard),
    terminate: async () => void (ended += 1),
  }
  return { thread, say: (event: string, value: unknown) => events.emit(event, value), ended: () => ended }
}

type Said = { readonly type: 'answer'; readonly answer: number }

function start(signal?: AbortSignal) {
  const clock = createVirtualClock()
  const { thread, say, ended } = playThread()
  const answer = runInThread<Said, number>({
    thread,
    clock,
    limits: LIMITS,
    place: 'the bundle',
    ...(signal ? { signal } : {}),
    hear: (message, { resolve }) => resolve(message.answer),
  })
  answer.catch(() => {})
  return { clock, say, ended, answer }
}

test('a thread answers, and is ended', async () => {
  const { say, ended, answer } = start()
  say('message', { type: 'started' })
  say('message', { type: 'answer', answer: 7 })
  assert.equal(await answer, 7)
  assert.equal(ended(), 1)
})

test('time counts from the moment the thread runs, and is over after the grace; the place is the last one heard', async () => {
  const { clock, say, ended, answer } = start()
  await clock.advance(60_000)
  say('message', { type: 'started' })
  say('message', { type: 'at', place: 'a.yaml:3' })
  await clock.advance(1499)
  assert.equal(ended(), 0)
  await clock.advance(1)
  const stopped = (await answer.catch((caught: unknown) => caught)) as LimitReached
  assert.ok(stopped instanceof LimitReached)
  assert.deepEqual([stopped.limit, stopped.place, ended()], ['time', 'a.yaml:3', 1])
  assert.equal(
    stopped.sentence('the chart'),
    'the chart was not rendered within 1 s and was stopped; it was at a.yaml:3: look at what is made there',
  )
})

test('memory, other errors, an end without an answer and an abort are told apart', async () => {
  const full = start()
  full.say('error', Object.assign(new Error('out'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }))
  const stopped = (await full.answer.catch((caught: unknown) => caught)) as LimitReached
  assert.deepEqual(
    [stopped.limit, stopped.about('it')],
    ['memory', 'it needs more than 64 MiB of memory and was stopped'],
  )
  const broken = start()
  broken.say('error', new Error('broken'))
  await assert.rejects(broken.answer, { message: 'broken' })
  const gone = start()
  gone.say('exit', 3)
  await assert.rejects(gone.answer, /ended with code 3/)
  const life = new AbortController()
  const unwanted = start(life.signal)
  life.abort(new Error('not wanted'))
  await assert.rejects(unwanted.answer, { message: 'not wanted' })
  for (const { ended } of [full, broken, gone, unwanted]) assert.equal(ended(), 1)
})

test('every part has its own time', async () => {
  const clock = createVirtualClock()
  const guard = createWorkGuard({ clock, limits: LIMITS, place: 'start' })
  guard.begin()
  const never = new Promise<never>(() => {})
  const watched = guard.watch(never)
  watched.catch(() => {})
  await clock.advance(1400)
  guard.at({ place: 'second', part: 2 })
  await clock.advance(1400)
  guard.at({ place: 'still second', part: 2 })
  await clock.advance(100)
  await assert.rejects(watched, { limit: 'time', place: 'still second' })
})

test('the thread tells its place now and then, at each file of the first part, and stops for good when its time is over', async () => {
  const clock = createVirtualClock()
  const told: string[] = []
  const parts = createStepBudget({ clock, timeMs: 100 }, ({ place, part }) => void told.push(`${part} ${place}`))
  const first = parts()
  assert.equal(
    first(() => 'a', 'file'),
    'go on',
  )
  first(() => 'a:1', 'node')
  await clock.advance(30)
  first(() => 'a:2', 'node')
  first(() => 'b', 'file')
  const second = parts()
  second(() => 'a', 'file')
  await clock.advance(101)
  assert.deepEqual([second(() => 'a:9', 'node'), parts()(() => 'x', 'file')], ['stop', 'stop'])
  assert.deepEqual(told, ['1 a', '1 a:2', '1 b', '2 a:9'])
})
