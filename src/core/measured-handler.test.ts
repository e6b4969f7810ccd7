import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from './bytes.ts'
import { bytesBody, readBody, wholeBytes } from './http.ts'
import type { Handler } from './http.ts'
import { measureHandler } from './measured-handler.ts'
import type { MetricLabels } from './metrics.ts'

test('requests, answers and bytes are counted, the bytes of a stream as they pass', async () => {
  const seen: string[] = []
  const note = ({ name }: { readonly name: string }) => {
    return (labels: MetricLabels, value: number) => void seen.push(`${name}${JSON.stringify(labels)} ${value}`)
  }
  let nowMs = 100
  const handle: Handler = async () => {
    nowMs += 250
    return { status: 201, headers: {}, body: isStream ? streamed('seven..') : bytesBody(utf8('seven..')) }
  }
  let isStream = true
  const measured = measureHandler(handle, {
    prefix: 'x',
    what: 'tests',
    labels: ['route'],
    labelsOf: ({ path }) => ({ route: path }),
    clock: { now: () => 0, monotonicMs: () => nowMs, sleep: async () => {} },
    metrics: { counter: note, gauge: note, histogram: note },
  })
  const request = { method: 'POST', path: '/a', headers: {}, body: utf8('abc') }
  const response = await measured(request, { user: 'u', groups: [] }, new AbortController().signal)
  assert.deepEqual(seen, [
    'x_received_bytes_total{} 3',
    'x_requests_total{"route":"/a","code":"201"} 1',
    'x_request_seconds{"route":"/a"} 0.25',
  ])
  await readBody(response.body, 100)
  assert.equal(seen.at(-1), 'x_sent_bytes_total{} 7')
  isStream = false
  const { body } = await measured(request, { user: 'u', groups: [] }, new AbortController().signal)
  assert.equal(seen.filter((line) => line === 'x_sent_bytes_total{} 7').length, 2, 'a whole body when it is answered')
  assert.deepEqual(wholeBytes(body), utf8('seven..'), 'and it stays whole')
})

async function* streamed(text: string): AsyncIterable<Uint8Array> {
  yield utf8(text)
}
