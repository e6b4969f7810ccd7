import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as tick } from 'node:timers/promises'
import { createControllerGroups } from './controller-groups.ts'

/** A run that notes what it does, and ends a moment after it is asked to. */
function noted() {
  const notes: string[] = []
  let fail: ((error: Error) => void) | undefined
  const groups = createControllerGroups(async (names, signal) => {
    const name = names.join('+')
    notes.push(`start ${name}`)
    try {
      await new Promise<void>((resolve, reject) => {
        fail = reject
        signal.addEventListener('abort', () => resolve())
      })
      await tick()
    } finally {
      notes.push(`end ${name}`)
    }
  })
  return { notes, groups, fail: (error: Error) => fail!(error) }
}

const settled = async () => {
  for (let turn = 0; turn < 10; turn++) await tick()
}

test('groups that a process leads run as one, and one run ends before the next starts', async () => {
  const { notes, groups } = noted()
  const [first, second] = [new AbortController(), new AbortController()]
  const leading = groups.lead('renderers', first.signal)
  await settled()
  const other = groups.lead('controllers', second.signal)
  await settled()
  assert.deepEqual(groups.running(), ['controllers', 'renderers'])
  first.abort()
  await leading
  assert.deepEqual(groups.running(), ['controllers'])
  second.abort()
  await other
  assert.deepEqual(groups.running(), [])
  assert.deepEqual(notes, [
    'start renderers',
    'end renderers',
    'start controllers+renderers',
    'end controllers+renderers',
    'start controllers',
    'end controllers',
  ])
})

test('a term ends only when nothing of its group runs', async () => {
  const { notes, groups } = noted()
  const term = new AbortController()
  const leading = groups.lead('controllers', term.signal)
  await settled()
  term.abort()
  await leading
  assert.deepEqual(notes, ['start controllers', 'end controllers'])
})

test('a pause ends the controllers, also of a group that is led later, and its end starts them', async () => {
  const { notes, groups } = noted()
  const term = new AbortController()
  const leading = groups.lead('controllers', term.signal)
  await settled()
  await groups.setPaused(true)
  assert.deepEqual(notes, ['start controllers', 'end controllers'])
  const other = groups.lead('renderers', term.signal)
  await settled()
  assert.deepEqual(groups.running(), [])
  await groups.setPaused(false)
  assert.deepEqual(groups.running(), ['controllers', 'renderers'])
  term.abort()
  await Promise.all([leading, other])
})

test('controllers that fail end the terms of all groups that ran, and can be led again', async () => {
  const { notes, groups, fail } = noted()
  const term = new AbortController()
  const terms = [groups.lead('controllers', term.signal), groups.lead('renderers', term.signal)]
  await settled()
  const results = Promise.allSettled(terms)
  fail(new Error('a cache is broken'))
  assert.deepEqual(
    (await results).map((result) => result.status === 'rejected' && (result.reason as Error).message),
    ['a cache is broken', 'a cache is broken'],
  )
  const again = groups.lead('controllers', term.signal)
  await settled()
  assert.deepEqual(groups.running(), ['controllers'])
  term.abort()
  await again
  assert.deepEqual(notes.slice(-3), ['end controllers+renderers', 'start controllers', 'end controllers'])
})

test('a process that starts in a pause runs nothing', async () => {
  let isStarted = false
  const groups = createControllerGroups(async () => void (isStarted = true), { isPaused: true })
  const term = new AbortController()
  const leading = groups.lead('controllers', term.signal)
  await settled()
  assert.equal(isStarted, false)
  term.abort()
  await leading
})
