/**
 * Light agents over real mutual TLS against one gateway, hub and agents on the same machine: memory per agent on the hub, the herd after a restart, and a one-line change to all.
 *
 *   node bench/wire.bench.ts [--agents N] [--megabytes 1,10]
 *
 * The hub runs in a process of its own (this file again), so that its CPU and memory can be told from the agents'. It prints figures and fails on none.
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { request as httpsRequest } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { generateKeyPair } from '../src/core/bytes.ts'
import { systemIds } from '../src/core/system-ids.ts'
import { systemClock } from '../src/core/system-clock.ts'
import { issueAgentCertificate } from '../src/wire/hub-trust.ts'
import { ROUTES } from '../src/wire/frames.ts'
import type { HubCall, HubSays } from './wire-bench-hub.ts'

const { values } = parseArgs({
  options: { agents: { type: 'string', default: '500' }, megabytes: { type: 'string', default: '1,10' } },
})
const N = Number(values.agents)

const child: ChildProcess = fork(new URL('./wire-bench-hub.ts', import.meta.url), [], {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
})
const calls = new Map<number, (said: HubSays) => void>()
let nextCall = 1
child.on('message', (said: HubSays) => calls.get(said.id)?.(said))
const call = (what: Omit<HubCall, 'id'>): Promise<HubSays> =>
  new Promise((resolve) => {
    const id = nextCall++
    calls.set(id, resolve)
    child.send({ ...what, id })
  })

const stop = new AbortController()

interface Light {
  readonly id: string
  readonly certificate: string
  session: Buffer | undefined
  set: string | undefined
  held: string | undefined
  bytes: number
  onBeat: (() => void) | undefined
  onAcknowledged: (() => void) | undefined
}

const started = await call({ do: 'start', agents: N })
const { privateKey, publicKey } = generateKeyPair('p256')
const ca = started.ca!
const agents: Light[] = Array.from({ length: N }, (_, index) => {
  const id = `c-${index}`
  const request = { clusterId: id, publicKey, serial: systemIds.bytes(16), now: systemClock.now() }
  const { certificate } = issueAgentCertificate(ca, request)
  return {
    id,
    certificate,
    session: undefined,
    set: undefined,
    held: undefined,
    bytes: 0,
    onBeat: undefined,
    onAcknowledged: undefined,
  }
})
let resumed = 0
let refused = 0
let failures = 0
let connections = 0

function ask(agent: Light, path: string, body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = httpsRequest(
      {
        host: '127.0.0.1',
        port: started.port!,
        path,
        method: body === undefined ? 'GET' : 'POST',
        ca: ca.certificate,
        cert: agent.certificate,
        key: privateKey,
        agent: false,
        ...(agent.session ? { session: agent.session } : {}),
        headers: {
          'flotilla-time': String(Math.round(systemClock.now())),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
      },
      resolve,
    )
    asked.on('socket', (socket) => {
      const tls = socket as TLSSocket
      tls.on('session', (session: Buffer) => (agent.session = session))
      tls.on('secureConnect', () => {
        connections += 1
        if (tls.isSessionReused()) resumed += 1
      })
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

async function bodyOf(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Follows for ever: reconnects with jitter, comes back when told, fetches what a head announces. */
async function follow(agent: Light): Promise<void> {
  for (let tries = 0; !stop.signal.aborted; tries++) {
    try {
      const query = agent.held === undefined ? '' : `?document=${agent.held}`
      const answer = await ask(agent, `${ROUTES.follow}${query}`)
      if (answer.statusCode !== 200) {
        refused += 1
        answer.resume()
        await sleep(1000 * Number(answer.headers['retry-after'] ?? 1) * (1 + Math.random() / 4))
        continue
      }
      let text = ''
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        text += chunk.toString()
        for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
          const frame = JSON.parse(text.slice(0, end)) as { type: string; document?: string; revision?: number }
          text = text.slice(end + 1)
          if (frame.type === 'beat') agent.onBeat?.()
          else void fetchAndAcknowledge(agent, frame.document!, frame.revision!)
        }
      }
    } catch {
      if (!stop.signal.aborted) failures += 1
    }
    await sleep(Math.random() * 1000 * Math.min(8, 2 ** tries))
  }
}

async function fetchAndAcknowledge(agent: Light, document: string, revision: number): Promise<void> {
  for (;;) {
    try {
      const base = agent.set ? `?base=${agent.set}&held=${agent.held}` : ''
      const head = await bodyOf(await ask(agent, `${ROUTES.document}${agent.held ? `?base=${agent.held}` : ''}`))
      const answer = await ask(agent, `${ROUTES.set}${wanted}${base}`)
      const body = await bodyOf(answer)
      if (answer.statusCode !== 200) throw new Error(String(answer.statusCode))
      agent.bytes += head.byteLength + body.byteLength
      const report = { epoch: 1, revision, document, agentVersion: '0.1.0', bundles: [] }
      const taken = await ask(agent, ROUTES.report, JSON.stringify(report))
      await bodyOf(taken)
      if (taken.statusCode !== 200) throw new Error(String(taken.statusCode))
      agent.set = wanted
      agent.held = document
      return agent.onAcknowledged?.()
    } catch {
      refused += 1
      await sleep(500 + Math.random() * 1500)
    }
  }
}

let wanted = ''
const all = (field: 'onBeat' | 'onAcknowledged'): Promise<unknown> =>
  Promise.all(agents.map((agent) => new Promise<void>((resolve) => (agent[field] = resolve))))
const usage = async () => (await call({ do: 'usage' })).usage!
const show = (what: string, text: string): void => void process.stdout.write(`${what.padEnd(34)}${text}\n`)

const empty = await usage()
let begun = performance.now()
let there = all('onBeat')
for (const agent of agents) void follow(agent)
await there
const full = await usage()
show('agents', String(N))
show(
  'all streams open after',
  `${((performance.now() - begun) / 1000).toFixed(1)} s, ${((full.cpuMs - empty.cpuMs) / N).toFixed(2)} ms CPU on the hub each`,
)
show(
  'memory on the hub',
  `${((full.rss - empty.rss) / N / 1024).toFixed(0)} KiB per agent (${(full.rss / 2 ** 20).toFixed(0)} MiB in all)`,
)

for (const megabytes of values.megabytes.split(',').map(Number)) {
  for (const step of ['first', 'one line'] as const) {
    for (const agent of agents) agent.bytes = 0
    const acknowledged = all('onAcknowledged')
    begun = performance.now()
    const before = await usage()
    const { set } = await call({ do: 'change', megabytes, line: step === 'first' ? 0 : 1 })
    wanted = set!
    const issued = performance.now()
    await call({ do: 'issue' })
    await acknowledged
    const after = await usage()
    const bytes = agents.reduce((sum, agent) => sum + agent.bytes, 0) / N
    show(
      `${megabytes} MB, ${step}`,
      `${bytes.toFixed(0)} bytes per agent, last acknowledgement ${((performance.now() - issued) / 1000).toFixed(1)} s after issuing began, ${((after.cpuMs - before.cpuMs) / N).toFixed(2)} ms CPU on the hub each`,
    )
    if (step === 'first' && bytes * N > 2e9) break
  }
}

connections = resumed = refused = failures = 0
const before = await usage()
there = all('onBeat')
begun = performance.now()
await call({ do: 'restart' })
await there
const after = await usage()
show(
  'herd after a restart',
  `all back after ${((performance.now() - begun) / 1000).toFixed(1)} s, ${((after.cpuMs - before.cpuMs) / N).toFixed(2)} ms CPU on the hub each, ${resumed} of ${connections} handshakes resumed, ${refused} told to come back, ${failures} connections lost or refused`,
)
stop.abort()
child.kill()
process.exit(0)
