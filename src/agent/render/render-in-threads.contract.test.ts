/** The thread that renders in a cluster: the same answers as in place, and limits that a hostile chart meets alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../core/time/system-clock.ts'
import { chartContent, configMapTemplate } from '../../testing/fixtures/chart-content.ts'
import { renderInThreads } from './render-in-threads.ts'

const signal = new AbortController().signal
const requestOf = (template: string) => ({
  ...chartContent({ 'cm.yaml': template }),
  frozen: {},
  values: [],
  lookups: [],
})

test('renders, asks for what is looked up, and freezes what it drew', async () => {
  const render = renderInThreads(systemClock)
  const asked = await render(requestOf(configMapTemplate('{{ lookup "v1" "Secret" "a" "b" | len }}')), signal)
  assert.deepEqual(asked, { kind: 'Look', queries: [{ apiVersion: 'v1', kind: 'Secret', namespace: 'a', name: 'b' }] })
  const drawn = await render(requestOf(configMapTemplate('{{ randNumeric 5 }}')), signal)
  assert.ok(drawn.kind === 'Rendered' && drawn.result.ok)
  assert.deepEqual(Object.values(drawn.frozen), [(drawn.result.objects[0]!['data'] as { v: string }).v])
})

test('what takes too long or too much is stopped, named, and the next one renders', async () => {
  const endless = '{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}'
  const slow = renderInThreads(systemClock, { timeMs: 200, memoryMiB: 256, graceMs: 5000 })
  const late = await slow(requestOf(configMapTemplate(endless)), signal)
  assert.ok(late.kind === 'Rendered' && !late.result.ok)
  assert.match(late.result.problems[0]!.message, /templates\/cm\.yaml/)
  const greedy =
    '{{ $kept := dict }}{{ range $i := until 9000 }}{{ $_ := set $kept (toString $i) (until 50000) }}{{ end }}'
  const small = renderInThreads(systemClock, { timeMs: 60_000, memoryMiB: 64, graceMs: 5000 })
  const full = await small(requestOf(configMapTemplate(greedy)), signal)
  assert.ok(full.kind === 'Rendered' && !full.result.ok)
  assert.match(
    full.result.problems[0]!.message,
    /it needs more than 64 MiB of memory and was stopped; it was at .*cm\.yaml/,
  )
  const next = await small(requestOf(configMapTemplate('fine')), signal)
  assert.ok(next.kind === 'Rendered' && next.result.ok)
})

test('a render that is aborted ends at once', async () => {
  const stop = new AbortController()
  const render = renderInThreads(systemClock)
  const asked = render(
    requestOf(configMapTemplate('{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}')),
    stop.signal,
  )
  stop.abort()
  await assert.rejects(asked, /abort/i)
})
