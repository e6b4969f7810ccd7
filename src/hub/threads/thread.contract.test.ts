import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { startThread, superviseThread } from './thread.ts'

const NEVER = new AbortController().signal
const NOBODY = { name: '', labels: {}, annotations: {}, claims: {}, values: {} }
const request = (manifests: string) => ({ recipe: { bundle: 'ns/b', manifests }, clusters: [NOBODY], frozen: {} })

function workerOf(script: string): Worker {
  return new Worker(`const { parentPort } = require('node:worker_threads');${script}`, { eval: true })
}

const READY = "parentPort.postMessage({ type: 'ready', value: undefined });"

test('the render thread answers, also several at once, and closes', async () => {
  const render = await startThread('render', { blobs: '/dev/null/blobs', timeLimitMs: 60_000 })
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
