import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { startThread, superviseThread } from './thread.ts'

const NEVER = new AbortController().signal
const CLUSTER = { name: '', labels: {}, annotations: {}, claims: {}, values: {} }
const request = (manifests: string) => ({ recipe: { bundle: 'ns/b', manifests }, clusters: [CLUSTER], frozen: {} })

function workerOf(script: string): Worker {
  return new Worker(`const { parentPort } = require('node:worker_threads');${script}`, { eval: true })
}

const READY = "parentPort.postMessage({ type: 'ready', value: undefined });"

test('the render thread answers, also several at once, and closes', async () => {
  const render = await startThread('render', {
    blobs: { kind: 'files', folder: '/dev/null/blobs' },
    timeLimitMs: 60_000,
  })
  const manifest = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`
  const answers = await Promise.all(['a', 'b'].map((name) => render.call(request(manifest(name)), NEVER)))
  assert.deepEqual(
    answers.map(({ variants: [only] }) => (only?.result.ok === true ? only.result.objects[0]?.metadata.name : only)),
    ['a', 'b'],
  )
  await render.close()
})

test('a thread that cannot start says why', async () => {
  const worker = workerOf("throw Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' })")
  await assert.rejects(superviseThread('api', worker), (error: Error) => {
    assert.equal(error.message, 'the api thread ended: listen EADDRINUSE')
    assert.equal((error.cause as { code?: string }).code, 'EADDRINUSE')
    return true
  })
})

test('the death of a thread is heard, and fails what it was asked', async () => {
  const worker = workerOf(`${READY} parentPort.on('message', () => { throw new Error('boom') })`)
  const render = await superviseThread('render', worker)
  const call = render.call(request(''), NEVER)
  await assert.rejects(call, /the render thread ended: boom/)
  await assert.rejects(render.death, /the render thread ended: boom/)
  // Nothing that is said to it now would ever be heard.
  await assert.rejects(render.call(request(''), NEVER), /the render thread ended: boom/)
  await assert.rejects(render.ping(), /the render thread ended: boom/)
  await assert.rejects(render.metrics(), /the render thread ended: boom/)
})

test('a call that is no longer wanted ends at once', async () => {
  const worker = workerOf(`${READY} parentPort.on('message', ({ type }) => { if (type === 'close') process.exit() })`)
  const render = await superviseThread('render', worker)
  const unwanted = new AbortController()
  const call = render.call(request(''), unwanted.signal)
  unwanted.abort(new Error('changed my mind'))
  await assert.rejects(call, /changed my mind/)
  await render.close()
})

test('a thread that has time answers a ping, and one that is busy does not', async () => {
  const idle = await superviseThread(
    'render',
    workerOf(`${READY} parentPort.on('message', ({ type, id }) => {
      if (type === 'ping') parentPort.postMessage({ type: 'pong', id })
      else process.exit()
    })`),
  )
  await idle.ping()
  await idle.close()
  const busy = await superviseThread('render', workerOf(`${READY} for (;;) {}`))
  const ping = busy.ping()
  await busy.kill()
  await assert.rejects(ping, /the render thread ended/)
})

test('closing waits for a while and then ends a thread that is busy', async () => {
  const slept: number[] = []
  const clock = {
    sleep: async (ms: number) => {
      if (ms === 60_000) await new Promise<never>(() => {}) // the limit of the start
      slept.push(ms)
    },
  }
  const busy = await superviseThread('source', workerOf(`${READY} for (;;) {}`), {
    clock,
    closeMs: 3000,
    readyMs: 60_000,
  })
  await assert.rejects(busy.close(), { message: 'the source thread did not close within 3 s and was ended' })
  assert.deepEqual(slept, [3000])
})

test('a thread that does not become ready is ended', async () => {
  const clock = { sleep: async () => {} }
  const worker = workerOf('for (;;) {}')
  await assert.rejects(superviseThread('api', worker, { clock, closeMs: 1000, readyMs: 2000 }), {
    message: 'the api thread ended: the thread was not ready within 2 s and was ended',
  })
})

test('processes that a thread started end with the thread', { timeout: 30_000 }, async () => {
  const worker = workerOf(`
    const child = require('node:child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
    parentPort.postMessage({ type: 'process', group: child.pid, isRunning: true })
    parentPort.postMessage({ type: 'ready', value: { port: child.pid } })
    setTimeout(() => { for (;;) {} })`)
  const { ready, kill } = await superviseThread('api', worker)
  process.kill(ready.port, 0)
  await kill()
  // Nothing waits for the process any more, so that a zombie may be left of it.
  const state = () => spawnSync('ps', ['-o', 'stat=', '-p', String(ready.port)], { encoding: 'utf8' }).stdout.trim()
  while (!/^(Z.*)?$/.test(state())) await sleep(20)
})
