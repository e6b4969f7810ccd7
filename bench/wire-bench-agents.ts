/**
 * Light agents for wire.bench.ts and delivery.bench.ts: they speak the wire as an agent does (one stream, one connection for the rest, both
 * kept), and run nothing. They live in a process of their own, so that what they cost is not the bench's and what they
 * wait for is not theirs.
 */
import { fork } from 'node:child_process'
import { Agent, request as httpsRequest } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { generateKeyPair } from '../src/core/bytes.ts'
import type { Digest } from '../src/core/crypto/digest.ts'
import { digestOf } from '../src/core/crypto/digest.ts'
import { systemClock } from '../src/core/time/system-clock.ts'
import { systemIds } from '../src/core/system-ids.ts'
import type { CertificateAndKey } from '../src/core/crypto/x509.ts'
import { decodeDelta } from '../src/wire/document/binary-delta.ts'
import type { ClusterDocument } from '../src/wire/document/cluster-document.ts'
import { readTrustedDocument } from '../src/wire/document/signed-document.ts'
import { LIMITS } from '../src/wire/limits.ts'
import { BASE_HEADER, INSTANCE_HEADER, ROUTES } from '../src/wire/link/frames.ts'
import { unwrapEnvelope, wrapEnvelope } from '../src/wire/trust/envelope.ts'
import { issueAgentCertificate } from '../src/wire/trust/hub-keys.ts'

/** What agents counted together. */
export interface Counts {
  handshakes: number
  resumed: number
  /** Told to come back later: 429 and 503. */
  postponed: number
  /** Connections that broke or were refused. */
  lost: number
  /** Answers that are neither what was asked for nor a wish to come back. */
  failed: number
  checkIns: number
}

/** Which content agents should have, and whether they fetch it or are taken to have it. */
export interface Wanted {
  readonly set: Digest
  readonly fetch: boolean
}

/** The documents that agents wait for: this number of entries, whose generations add up to this. */
export interface AwaitedDocument {
  readonly entries: number
  readonly generations: number
}

/** A fleet of light agents in another process. */
export interface LightFleet {
  /** Counted so far. */
  counts(): Promise<Counts>
  /** Every agent begins to follow. */
  start(): void
  /** From now on heads bring this content. */
  want(wanted: Wanted): Promise<void>
  /** Resolves when every agent has heard a beat that came from now on. */
  allFollow(): Promise<void>
  /**
   * Resolves when every agent has fetched the wanted set and its report was taken; with the bytes of content that each
   * received, on average.
   */
  allAcknowledge(): Promise<{ readonly bytesEach: number }>
  /** Resolves when every agent has heard of such a document; `allReported` when each has reported it as well. */
  allHave(awaited: AwaitedDocument): Promise<void>
  allReported(awaited: AwaitedDocument): Promise<void>
  /** The agent of a cluster reports that a check is violated. */
  violate(what: { readonly cluster: number; readonly bundle: string }): Promise<void>
  stop(): void
}

interface FleetOrder {
  readonly count: number
  readonly port: number
  readonly ca: CertificateAndKey
  /** Agents read their documents, and fetch and report what these name, instead of a wanted set. */
  readonly byDocument?: boolean
  /** Agents report a compliant check for each entry, named as its bundle. */
  readonly checks?: boolean
}

/** Starts the process; all of its agents have certificates. */
export async function startLightFleet(order: FleetOrder): Promise<LightFleet> {
  const child = fork(import.meta.filename, { serialization: 'advanced' })
  process.once('exit', () => child.kill('SIGKILL'))
  const waiting = new Map<number, (answer: unknown) => void>()
  let asked = 0
  child.on('message', ({ id, answer }: { id: number; answer: unknown }) => {
    waiting.get(id)?.(answer)
    waiting.delete(id)
  })
  const ask = <T>(what: string, about?: unknown): Promise<T> =>
    new Promise((resolve) => {
      waiting.set((asked += 1), resolve as (answer: unknown) => void)
      child.send({ id: asked, what, about })
    })
  await ask('make', order)
  return {
    counts: () => ask('counts'),
    start: () => void ask('start'),
    want: (wanted) => ask('want', wanted),
    allFollow: () => ask('allFollow'),
    allAcknowledge: () => ask('allAcknowledge'),
    allHave: (awaited) => ask('allHave', awaited),
    allReported: (awaited) => ask('allReported', awaited),
    violate: (what) => ask('violate', what),
    stop: () => void child.kill('SIGKILL'),
  }
}

interface Light {
  readonly id: string
  readonly instance: string
  readonly agent: Agent
  /** Kept as a real agent does, also when its connection broke. */
  session: Buffer | undefined
  set: Digest | undefined
  held: string | undefined
  revision: number
  report: string | undefined
  bytes: number
  /** With `byDocument`: what the agent holds, and the newest head that it has not taken yet. */
  envelope: Uint8Array | undefined
  entries: ClusterDocument['content']['entries']
  head: { document: string; revision: number } | undefined
  isTaking: boolean
  /** The bundle whose check is violated. */
  violated: string | undefined
  onDocument: (() => void) | undefined
  onReported: (() => void) | undefined
  onBeat: (() => void) | undefined
  onAcknowledged: (() => void) | undefined
}

function createLightFleet({ count, port, ca, byDocument = false, checks = false }: FleetOrder) {
  const counts: Counts = { handshakes: 0, resumed: 0, postponed: 0, lost: 0, failed: 0, checkIns: 0 }
  const { privateKey: key, publicKey } = generateKeyPair('p256')
  let wanted: Wanted | undefined
  const agents = Array.from({ length: count }, (_, index): Light => {
    const id = `c-${index}`
    const issued = { clusterId: id, publicKey, serial: systemIds.bytes(16), now: systemClock.now() }
    const { certificate: cert } = issueAgentCertificate(ca, issued)
    const secureContext = createSecureContext({ ca: ca.certificate, cert, key })
    const agent = new Agent({ keepAlive: true, maxSockets: 2, maxFreeSockets: 1, maxCachedSessions: 0, secureContext })
    const nothing = {
      session: undefined,
      set: undefined,
      held: undefined,
      report: undefined,
      onBeat: undefined,
      onAcknowledged: undefined,
      envelope: undefined,
      head: undefined,
      violated: undefined,
      onDocument: undefined,
      onReported: undefined,
    }
    const started = { revision: 0, bytes: 0, entries: [], isTaking: false }
    return { id, instance: systemIds.suffix(20), agent, ...started, ...nothing }
  })

  function ask(light: Light, path: string, body?: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = {
        'flotilla-time': String(Math.round(systemClock.now())),
        [INSTANCE_HEADER]: light.instance,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      }
      const method = body === undefined ? 'GET' : 'POST'
      const { agent, session } = light
      const to = { host: '127.0.0.1', port, path, method, agent, headers, ...(session && { session }) }
      const asked = httpsRequest(to, resolve)
      asked.on('socket', (socket: TLSSocket) => {
        if (!socket.connecting) return
        socket.on('session', (fresh: Buffer) => (light.session = fresh))
        socket.once('secureConnect', () => {
          counts.handshakes += 1
          if (socket.isSessionReused()) counts.resumed += 1
        })
      })
      asked.on('error', reject)
      asked.end(body)
    })
  }

  /** The answer, or undefined after the wait that the hub asked for. */
  async function bodyOf(answer: IncomingMessage): Promise<Buffer | undefined> {
    const chunks: Buffer[] = []
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk)
    if (answer.statusCode === 200) return Buffer.concat(chunks)
    if (answer.statusCode === 429 || answer.statusCode === 503) counts.postponed += 1
    else counts.failed += 1
    await sleep(1000 * Number(answer.headers['retry-after'] ?? 1) * (1 + Math.random() / 4))
    return undefined
  }

  async function insist(
    light: Light,
    path: string,
    body?: string,
  ): Promise<{ headers: IncomingMessage['headers']; bytes: Buffer }> {
    for (let tries = 0; ; tries++) {
      try {
        const answer = await ask(light, path, body)
        const bytes = await bodyOf(answer)
        if (bytes) return { headers: answer.headers, bytes }
      } catch {
        counts.lost += 1
        await backoff(tries)
      }
    }
  }

  const backoff = (tries: number) => sleep(1000 * Math.min(60, 2 ** tries) * (0.5 + Math.random() / 2))

  /** Follows for ever, as wire/link/agent-link.ts does: waits as it is told, or longer with each failure. */
  async function follow(light: Light): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        const answer = await ask(light, `${ROUTES.follow}${light.held === undefined ? '' : `?document=${light.held}`}`)
        if (answer.statusCode !== 200) {
          await bodyOf(answer)
          continue
        }
        tries = 0
        let text = ''
        for await (const chunk of answer as AsyncIterable<Buffer>) {
          text += chunk.toString()
          for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
            const frame = JSON.parse(text.slice(0, end)) as { type: string; document?: string; revision?: number }
            text = text.slice(end + 1)
            if (frame.type === 'head' && byDocument) {
              light.head = { document: frame.document!, revision: frame.revision! }
              void takeDocuments(light)
            } else if (frame.type === 'head') void take(light, frame.document!, frame.revision!)
            else light.onBeat?.()
          }
        }
      } catch {
        counts.lost += 1
      }
      await backoff(tries)
    }
  }

  async function take(light: Light, document: string, revision: number): Promise<void> {
    const { set, fetch } = wanted!
    const head = await insist(light, `${ROUTES.document}${light.held ? `?base=${light.held}` : ''}`)
    light.bytes += head.bytes.byteLength
    if (fetch) {
      const base = light.set ? `?base=${light.set}&held=${light.held}` : ''
      const { headers, bytes } = await insist(light, `${ROUTES.set}${set}${base}`)
      if (light.set && headers[BASE_HEADER] !== light.set) counts.failed += 1
      light.bytes += bytes.byteLength
    }
    Object.assign(light, { set, held: document, revision })
    await report(light)
    light.onAcknowledged?.()
  }

  /** Takes the newest document, one at a time, as an agent does: heads that came meanwhile are skipped. */
  async function takeDocuments(light: Light): Promise<void> {
    if (light.isTaking) return
    light.isTaking = true
    while (light.head) {
      const { document, revision } = light.head
      light.head = undefined
      const { headers, bytes } = await insist(light, `${ROUTES.document}${light.held ? `?base=${light.held}` : ''}`)
      light.bytes += bytes.byteLength
      const isDelta = headers[BASE_HEADER] !== undefined
      const envelope = isDelta
        ? wrapEnvelope(decodeDelta(bytes, 2 * LIMITS.documentBytes, unwrapEnvelope(light.envelope!)))
        : bytes
      const read = readTrustedDocument(envelope)
      if (!read) {
        counts.failed += 1
        continue
      }
      const had = new Map(light.entries.map(({ bundle, set }) => [bundle, set]))
      const missing = read.content.entries.filter(({ bundle, set }) => had.get(bundle) !== set)
      Object.assign(light, { entries: read.content.entries, envelope })
      light.onDocument?.()
      await fetchSets(light, missing, had)
      Object.assign(light, { held: document, revision })
      await report(light)
      light.onReported?.()
    }
    light.isTaking = false
  }

  async function fetchSets(
    light: Light,
    missing: ClusterDocument['content']['entries'],
    had: ReadonlyMap<string, Digest>,
  ): Promise<void> {
    for (const { bundle, set } of missing) {
      const base = had.get(bundle)
      const from = base ? `?base=${base}&held=${light.held}` : ''
      light.bytes += (await insist(light, `${ROUTES.set}${set}${from}`)).bytes.byteLength
    }
  }

  async function report(light: Light): Promise<void> {
    const { revision, held, set, entries } = light
    const row = { bundle: 'default/bench', generation: revision, set, state: 'Ready' }
    const rows = entries.map((entry) => ({
      bundle: entry.bundle,
      generation: entry.generation,
      set: entry.set,
      state: 'Ready',
    }))
    const since = '2026-11-19T00:00:00Z'
    const results = entries.map(({ bundle, generation }) => ({
      bundle,
      generation,
      kind: 'ConfigurationPolicy',
      name: bundle.slice(bundle.indexOf('/') + 1),
      since,
      ...(bundle === light.violated
        ? { state: 'NonCompliant', message: 'NonCompliant; violation - configmaps [rule] not found' }
        : { state: 'Compliant', message: 'Compliant; notification - configmaps [rule] found as specified' }),
    }))
    const text = JSON.stringify({
      epoch: held ? 1 : 0,
      revision,
      ...(held ? { document: held } : {}),
      agentVersion: '0.1.0',
      bundles: byDocument ? rows : set ? [row] : [],
      ...(checks && { checks: results }),
    })
    await insist(light, ROUTES.report, text)
    light.report = digestOf(text)
  }

  async function checkIn(light: Light): Promise<void> {
    await sleep(30_000 * Math.random())
    for (;;) {
      if (light.report === undefined) await report(light)
      else {
        const { bytes } = await insist(light, ROUTES.checkIn, JSON.stringify({ report: light.report }))
        counts.checkIns += 1
        // A gateway that started again does not know it.
        if (bytes.includes('Wanted')) await report(light)
      }
      await sleep(30_000 * (1 - Math.random() / 4))
    }
  }

  const isAwaited = ({ entries }: Light, awaited: AwaitedDocument): boolean =>
    entries.length === awaited.entries &&
    entries.reduce((sum, { generation }) => sum + generation, 0) === awaited.generations
  const allWith = (field: 'onDocument' | 'onReported', awaited: AwaitedDocument) =>
    Promise.all(
      agents.map(
        (light) =>
          new Promise<void>((done) => (light[field] = () => void (isAwaited(light, awaited) && done(undefined)))),
      ),
    )
  const all = (field: 'onBeat' | 'onAcknowledged') =>
    Promise.all(agents.map((light) => new Promise<void>((done) => (light[field] = done))))
  return {
    counts: async () => counts,
    async start() {
      for (const light of agents) {
        void follow(light)
        void checkIn(light)
      }
    },
    want: async (next: Wanted) => void (wanted = next),
    async violate({ cluster, bundle }: { readonly cluster: number; readonly bundle: string }) {
      agents[cluster]!.violated = bundle
      await report(agents[cluster]!)
    },
    allFollow: async () => void (await all('onBeat')),
    allHave: async (awaited: AwaitedDocument) => void (await allWith('onDocument', awaited)),
    allReported: async (awaited: AwaitedDocument) => void (await allWith('onReported', awaited)),
    async allAcknowledge() {
      for (const light of agents) light.bytes = 0
      await all('onAcknowledged')
      return { bytesEach: agents.reduce((sum, { bytes }) => sum + bytes, 0) / count }
    },
  }
}

if (process.send) {
  process.once('disconnect', () => process.exit())
  let fleet: ReturnType<typeof createLightFleet> | undefined
  process.on('message', ({ id, what, about }: { id: number; what: string; about: never }) => {
    const answering = what === 'make' ? void (fleet = createLightFleet(about)) : fleet![what as 'want'](about)
    void Promise.resolve(answering).then((answer) => process.send!({ id, answer }))
  })
}
