/** The door of the gateway: floods slow down their authors, and no agent, also behind the same address. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApplicant } from '../../../src/testing/agents/hostile-agent.ts'
import { ROUTES } from '../../../src/wire/link/frames.ts'
import { eventually } from '../flotilla-process.ts'
import { send, startDoorHub } from './door-hub.ts'
import type { DoorHub } from './door-hub.ts'

const REPORT = `sha256:${'0'.repeat(64)}`

/** An agent that joined, and how the gateway answers it. */
async function joined(hub: DoorHub, name: string) {
  const { code } = JSON.parse(await hub.flotilla('cluster', 'add', name, '-o', 'json')) as { code: string }
  const who = createApplicant(hub.asApplicant(code), name)
  const { certificate } = await who.join(code)
  const by = { certificate, key: who.tls.privateKey }
  const ask = async () =>
    (await send('POST', `${hub.gateway}${ROUTES.checkIn}`, { ...by, body: JSON.stringify({ report: REPORT }) })).status
  await eventually(`the gateway knows ${name}`, async () => ((await ask()) === 200 ? true : undefined))
  return ask
}

/** Sends requests from twelve connections until told to end; counts the answers by status. */
function flood(request: () => Promise<number>) {
  const counts: Record<number, number> = {}
  const over = new AbortController()
  const connections = Array.from({ length: 12 }, async () => {
    while (!over.signal.aborted) {
      const status = await request()
      counts[status] = (counts[status] ?? 0) + 1
    }
  })
  return async () => {
    over.abort()
    await Promise.all(connections)
    return counts
  }
}

test('F9: a flood of strangers or of one agent refuses no other agent', async (t) => {
  const hub = await startDoorHub(t)
  const [healthy, noisy] = [await joined(hub, 'store-1'), await joined(hub, 'store-2')]
  const enrol = async () => (await send('POST', `${hub.gateway}${ROUTES.enrol}`, { body: '{}' })).status
  for (const [name, request] of Object.entries({ enrol, noisy })) {
    const end = flood(request)
    const answers: number[] = []
    // Until the flood is refused, and for a while after that.
    for (let n = 0; n < 100; n++) answers.push(await healthy())
    const counts = await end()
    assert.deepEqual(new Set(answers), new Set([200]), `${name}: ${JSON.stringify(counts)}`)
    assert.ok((counts[429] ?? 0) > 0, `${name}: ${JSON.stringify(counts)}`)
  }
  await hub.checkAlive()
  assert.equal((await hub.process.stop()).code, 0)
})
