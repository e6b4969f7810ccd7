/**
 * Our API server beside the real kube-apiserver and etcd, the same requests in one run:
 * node bench/api.bench.ts [--requests N] [--objects N] [--watches N] [--cold N]
 *
 * What counts is work per CPU-second of the servers, so that other work on the machine matters little; the client's own
 * time is not counted. Both are warm before they are measured, and both have a write on disk before they acknowledge it.
 *
 * What etcd gives that one node does not: several members, so that the loss of a machine loses nothing and stops nothing.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createUndiciTransport } from '../src/client/undici-transport.ts'
import { utf8 } from '../src/core/bytes.ts'
import { readBody } from '../src/core/http.ts'
import type { Transport } from '../src/core/http.ts'
import { Secret } from '../src/core/secret.ts'
import { startApiProcess } from '../src/testing/api-process.ts'
import { servers } from '../src/testing/control-plane-processes.ts'
import { startControlPlane } from '../src/testing/control-plane.ts'
import { createSqliteStore } from '../src/store/sqlite-store.ts'

const AT_ONCE = 32
const LISTS = 5
const CHANGES = 20
/** So many of each kind of request before anything is measured. */
const WARM = 300
const MAPS = '/api/v1/namespaces/default/configmaps'
const TICKS_PER_SECOND = 100

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '2000' },
    objects: { type: 'string', default: '10000' },
    watches: { type: 'string', default: '1000' },
    cold: { type: 'string', default: '100000' },
  },
})
const REQUESTS = Number(values.requests)
const OBJECTS = Number(values.objects)
const WATCHES = Number(values.watches)
const COLD = Number(values.cold)

interface Home {
  readonly name: string
  readonly transport: Transport
  /** Processes whose time and memory count. */
  readonly pids: readonly number[]
  close(): Promise<void>
}

/** Figures of one home by what they are of. */
type Figures = Map<string, number>

async function openOurs(folder: string): Promise<Home> {
  const server = await startApiProcess(join(folder, 'hub.db'))
  const { url, ca, admin } = server
  const { transport, close } = createUndiciTransport({
    server: url,
    ca,
    cert: admin.certificate,
    key: new Secret(admin.privateKey),
  })
  return {
    name: 'ours',
    transport,
    pids: [server.pid],
    close: async () => {
      await close()
      await server.kill()
    },
  }
}

async function openReal(): Promise<Home> {
  const plane = await startControlPlane({ durable: true })
  const { transport, close } = createUndiciTransport({
    server: plane.url,
    ca: plane.ca,
    cert: plane.adminCert,
    key: new Secret(plane.adminKey),
  })
  return {
    name: 'real',
    transport,
    pids: processesOf(servers().group),
    close: async () => {
      await close()
      await plane.stop()
    },
  }
}

/** The processes of a group, without its leader, who only supervises. */
function processesOf(group: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== group && Number(statOf(pid)?.[2]) === group)
}

/** The fields of /proc/PID/stat after the command. */
function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function cpuSeconds(pids: readonly number[]): number {
  const ticks = pids.map((pid) => statOf(pid) ?? []).map((stat) => Number(stat[11] ?? 0) + Number(stat[12] ?? 0))
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND
}

function residentMb(pids: readonly number[]): number {
  return pids
    .map((pid) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096)
    .reduce((sum, bytes) => sum + bytes / 1e6, 0)
}

async function ask(home: Home, method: string, path: string, body?: object): Promise<void> {
  const contentType = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json'
  const response = await home.transport(
    {
      method,
      path,
      headers: { accept: 'application/json', ...(body && { 'content-type': contentType }) },
      ...(body && { body: utf8(JSON.stringify(body)) }),
    },
    AbortSignal.timeout(60_000),
  )
  const bytes = await readBody(response.body, 1 << 28)
  if (response.status >= 300) throw new Error(`${home.name}: ${method} ${path}: ${Buffer.from(bytes).toString()}`)
}

const mapOf = (name: string, n: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { app: 'bench' } },
  data: { text: `${n} `.repeat(500).slice(0, 500) },
})

async function inParallel(count: number, run: (n: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await run(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** Runs something `count` times and notes how often it would have run in one second of the servers' time. */
async function measure(
  home: Home,
  figures: Figures,
  { what, count }: { what: string; count: number },
  run: () => Promise<void>,
) {
  const before = cpuSeconds(home.pids)
  await run()
  figures.set(what, count / Math.max(cpuSeconds(home.pids) - before, 1 / TICKS_PER_SECOND))
}

async function run(home: Home): Promise<Figures> {
  const figures: Figures = new Map()
  const requests: readonly (readonly [string, (n: number) => Promise<void>])[] = [
    ['durable creates', (n) => ask(home, 'POST', MAPS, mapOf(`m${n}`, n))],
    ['gets', (n) => ask(home, 'GET', `${MAPS}/m${n}`)],
    ['apply patches', (n) => ask(home, 'PATCH', `${MAPS}/m${n}?fieldManager=bench&force=true`, mapOf(`m${n}`, n + 1))],
  ]
  for (const [, send] of requests) await inParallel(WARM, send)
  for (const [what, send] of requests) {
    await measure(home, figures, { what, count: REQUESTS }, () => inParallel(REQUESTS, (n) => send(WARM + n)))
  }
  const stored = WARM + REQUESTS
  await inParallel(OBJECTS - stored, (n) => ask(home, 'POST', MAPS, mapOf(`m${stored + n}`, n)))
  await measure(home, figures, { what: `lists of ${OBJECTS}`, count: LISTS }, async () => {
    for (let n = 0; n < LISTS; n += 1) await ask(home, 'GET', MAPS)
  })
  await fanOut(home, figures)
  return figures
}

async function fanOut(home: Home, figures: Figures): Promise<void> {
  const ended = new AbortController()
  let events = 0
  const begun = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const path = `${MAPS}?watch=true&fieldSelector=metadata.name%3Dm0&timeoutSeconds=3000`
  const open = () => home.transport({ method: 'GET', path, headers: { accept: 'application/json' } }, ended.signal)
  // Each has a connection of its own; a few handshakes at a time, so that none waits too long.
  const watches: Awaited<ReturnType<Transport>>[] = []
  while (watches.length < WATCHES)
    watches.push(...(await Promise.all(Array.from({ length: Math.min(20, WATCHES - watches.length) }, open))))
  const reading = watches.map(async ({ body }) => {
    for await (const chunk of body) {
      for (const byte of chunk) if (byte === 10) events += 1
      if (events >= WATCHES) begun.resolve()
      if (events >= WATCHES * (CHANGES + 1)) arrived.resolve()
    }
  })
  for (const one of reading) one.catch(() => {})
  await begun.promise
  figures.set(`MB with ${OBJECTS} objects and ${WATCHES} watches`, residentMb(home.pids))
  await measure(home, figures, { what: `changes to ${WATCHES} watchers`, count: CHANGES }, async () => {
    for (let n = 0; n < CHANGES; n += 1) await ask(home, 'PUT', `${MAPS}/m0`, mapOf('m0', n + 100))
    await arrived.promise
  })
  ended.abort()
}

/** Starts ours on many objects; they are written past the API, which is not what is measured. */
async function coldStart(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
  try {
    const store = createSqliteStore({ path: join(folder, 'hub.db'), defer: setImmediate })
    const uid = '00000000-0000-4000-8000-000000000000'
    for (let first = 0; first < count; first += 1000) {
      const writes = Array.from({ length: Math.min(1000, count - first) }, (_, n) => {
        const object = mapOf(`m${first + n}`, n)
        const metadata = { ...object.metadata, namespace: 'default', uid, creationTimestamp: '2026-11-16T00:00:00Z' }
        const value = (revision: number) =>
          JSON.stringify({ ...object, metadata: { ...metadata, resourceVersion: String(revision) } })
        return store.commit({ key: `/_/configmaps/default/m${first + n}`, expect: 0, value })
      })
      await Promise.all(writes)
    }
    await store.close()
    const before = performance.now()
    const home = await openOurs(folder)
    await ask(home, 'GET', `${MAPS}/m7`)
    const seconds = (performance.now() - before) / 1000
    process.stdout.write(
      `cold start with ${count} objects: ${seconds.toFixed(2)} s, ${cpuSeconds(home.pids).toFixed(2)} CPU-seconds, ${residentMb(home.pids).toFixed(0)} MB\n`,
    )
    await home.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
const results: Figures[] = []
for (const open of [() => openOurs(folder), openReal]) {
  const home = await open()
  try {
    results.push(await run(home))
  } finally {
    await home.close()
  }
}
rmSync(folder, { recursive: true })
const [ours, real] = results as [Figures, Figures]
process.stdout.write(`${'per CPU-second'.padEnd(46)} ours     real    ratio\n`)
for (const [what, figure] of ours) {
  const other = real.get(what)!
  const cells = [figure.toFixed(figure < 100 ? 1 : 0), other.toFixed(other < 100 ? 1 : 0), (figure / other).toFixed(2)]
  process.stdout.write(`${what.padEnd(42)} ${cells.map((cell) => cell.padStart(8)).join(' ')}\n`)
}
process.stdout.write(
  'Both are durable before they answer. etcd can also have several members, which one node cannot: a lost machine loses nothing.\n',
)
await coldStart(COLD)
process.exit(0)
