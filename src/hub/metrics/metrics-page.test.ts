import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import type { HubPart, RestartCause } from '../../plan/fleet/hub-health.ts'
import { formatTime } from '../../core/time/time.ts'
import { createMetricsPage } from './metrics-page.ts'

test('a thread that is down or does not answer leaves its metrics out, and the page says so', async () => {
  const clock = createVirtualClock()
  const ended: ((end: { name: HubPart; cause: RestartCause; error: Error }) => void)[] = []
  const answers: Record<string, Promise<string> | undefined> = {
    api: Promise.resolve('flotilla_api_requests_total 7\n'),
    gateway: new Promise<string>(() => {}),
    view: undefined,
  }
  const page = createMetricsPage({
    clock,
    facts: () => ({ clusters: [], reports: [], assignments: [], bundles: [], placements: [], rollouts: [] }),
    threads: () => (['api', 'gateway', 'view'] as const).map((name) => ({ name, metrics: () => answers[name] })),
    supervisor: {
      health: () =>
        (['api', 'gateway', 'view', 'controllers'] as const).map((name) => ({
          name,
          state: name === 'view' ? 'Down' : 'Running',
          restarts: 0,
        })),
      onEnd: (listener) => void ended.push(listener),
    },
    isInMaintenance: () => true,
    authorities: () => [{ name: 'transport', notAfter: formatTime(clock.now() + 86_400_000) }],
  })
  for (const listener of ended) listener({ name: 'view', cause: 'memory', error: new Error('heap') })
  const asked = page.text()
  await clock.advance(5000)
  const text = await asked
  assert.match(text, /flotilla_api_requests_total 7/)
  const running = [...text.matchAll(/flotilla_part_running\{part="(\w+)"\} (\d)/g)].map(
    ([, part, is]) => `${part} ${is}`,
  )
  assert.deepEqual(running, ['api 1', 'gateway 0', 'view 0', 'controllers 1'])
  assert.match(text, /flotilla_part_restarts_total\{part="view",cause="memory"\} 1/)
  assert.match(text, /flotilla_part_restarts_total\{part="api",cause="silent"\} 0/)
  assert.match(text, /^flotilla_hub_maintenance 1$/m)
  assert.match(text, /flotilla_ca_expiry_seconds\{ca="transport"\} 86400/)
})
