/**
 * Our API server beside the real kube-apiserver and etcd, the same requests in one run:
 * node bench/api.bench.ts [--requests N] [--objects N] [--watches N] [--cold N]
 *
 * What counts is work per CPU-second of the servers (all threads of all their processes), so that other work on the
 * machine matters little; the client's own time is not counted. Both are warm before they are measured, and both have a
 * write on disk before they acknowledge it.
 */
import { parseArgs } from 'node:util'
import { utf8 } from '../src/core/bytes.ts'
import { readBody } from '../src/core/http.ts'
import type { HttpResponse } from '../src/core/http.ts'
import { openOurs, openReal } from './api-homes.ts'
import type { Home, Seed } from './api-homes.ts'

const AT_ONCE = 32
const LISTS = 5
const CHANGES = 20
const MAPS = '/api/v1/namespaces/default/configmaps'
const WAIT_MS = 120_000

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '3000' },
    objects: { type: 'string', default: '10000' },
    watches: { type: 'string', default: '1000' },
    cold: { type: 'string', default: '100000' },
  },
})
const REQUESTS = Number(values.requests)
/**
 * As many of each kind of request before anything is measured: a compiler that learns by watching has seen enough then.
 */
const WARM = REQUESTS
const OBJECTS = Math.max(Number(values.objects), WARM + REQUESTS)
const WATCHES = Number(values.watches)
const COLD = Number(values.cold)

interface Figure {
  readonly value: number
  /** Of work per CPU-second more is better; of megabytes and seconds less is. */
  readonly unit: 'per CPU-s' | 'MB' | 'CPU-s' | 's'
}

/** Figures of one home by what they are of. */
type Figures = Map<string, Figure>

const say = (text: string) => process.stdout.write(`${text}\n`)

async function ask(home: Home, method: string, path: string, body?: object): Promise<void> {
  const contentType = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json'
  const response = await home.transport(
    {
      method,
      path,
      headers: { accept: 'application/json', ...(body && { 'content-type': contentType }) },
      ...(body && { body: utf8(JSON.stringify(body)) }),
    },
    AbortSignal.timeout(WAIT_MS),
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

/** Runs something and notes how often it would have run in one second of the servers' time. */
async function measure(
  home: Home,
  figures: Figures,
  { what, count }: { what: string; count: number },
  run: () => Promise<void>,
) {
  const before = home.cpu()
  await run()
  figures.set(what, { value: count / Math.max(home.cpu() - before, 0.01), unit: 'per CPU-s' })
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
  await ask(home, 'GET', MAPS)
  await measure(home, figures, { what: `lists of ${OBJECTS}`, count: LISTS }, async () => {
    for (let n = 0; n < LISTS; n += 1) await ask(home, 'GET', MAPS)
  })
  await fanOut(home, figures)
  return figures
}

/** One object that many follow, each on a connection of its own. */
async function fanOut(home: Home, figures: Figures): Promise<void> {
  const ended = new AbortController()
  const path = `${MAPS}?watch=true&fieldSelector=metadata.name%3Dm0&timeoutSeconds=3000`
  const open = () => home.transport({ method: 'GET', path, headers: { accept: 'application/json' } }, ended.signal)
  let events = 0
  let wanted = { events: WATCHES, resolve: () => {} }
  const until = (count: number) =>
    new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${home.name}: ${events} events of ${count}`)), WAIT_MS)
      wanted = { events: count, resolve: () => resolve(clearTimeout(late)) }
      if (events >= count) wanted.resolve()
    })
  const read = async ({ body }: HttpResponse) => {
    for await (const chunk of body) {
      for (const byte of chunk) if (byte === 10) events += 1
      if (events >= wanted.events) wanted.resolve()
    }
  }
  // A few handshakes at a time, so that none waits too long.
  for (let opened = 0; opened < WATCHES; opened += 20) {
    const some = await Promise.all(Array.from({ length: Math.min(20, WATCHES - opened) }, open))
    for (const watch of some) read(watch).catch(() => {})
  }
  await until(WATCHES)
  figures.set(`memory with ${OBJECTS} objects and ${WATCHES} watches`, { value: home.residentMb(), unit: 'MB' })
  await measure(home, figures, { what: `changes seen by ${WATCHES} watchers`, count: CHANGES }, async () => {
    for (let n = 0; n < CHANGES; n += 1) await ask(home, 'PUT', `${MAPS}/m0`, mapOf('m0', n + 100))
    await until(WATCHES * (CHANGES + 1))
  })
  ended.abort()
}

function* seedOf(count: number): Seed {
  for (let n = 0; n < count; n += 1) {
    const object = mapOf(`m${n}`, n)
    const uid = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
    const metadata = { ...object.metadata, namespace: 'default', uid, creationTimestamp: '2026-11-16T00:00:00Z' }
    yield { name: `m${n}`, object: { ...object, metadata } }
  }
}

/** From the start of the process to the first object read, with many in the store. */
async function coldStart(open: typeof openOurs): Promise<Figures> {
  const home = await open({ connections: 1, seed: seedOf(COLD) })
  try {
    const before = performance.now()
    await ask(home, 'GET', `${MAPS}/m7`)
    const what = `cold start with ${COLD} objects`
    return new Map([
      [`${what}: time`, { value: (home.startedMs + performance.now() - before) / 1000, unit: 's' }],
      [`${what}: work`, { value: home.cpu(), unit: 'CPU-s' }],
      [`${what}: memory`, { value: home.residentMb(), unit: 'MB' }],
    ] satisfies [string, Figure][])
  } finally {
    await home.close()
  }
}

// What was compiled is kept from the first start on; a hub is not started for the first time each time.
await (await openOurs({ connections: 1 })).close()
const results: Figures[] = []
for (const open of [openOurs, openReal]) {
  const home = await open({ connections: WATCHES + AT_ONCE })
  try {
    const figures = await run(home)
    await home.close()
    results.push(new Map([...figures, ...(await coldStart(open))]))
    say(`${home.name}: measured after ${Math.round(performance.now() / 1000)} s`)
  } catch (error) {
    await home.close()
    throw error
  }
}
const [ours, real] = results as [Figures, Figures]
say(`${''.padEnd(46)}     ours     real  ours/real`)
for (const [what, { value, unit }] of ours) {
  const other = real.get(what)!.value
  const cells = [value, other].map((cell) => cell.toFixed(cell < 100 ? 1 : 0).padStart(8))
  say(`${`${what}, ${unit}`.padEnd(46)} ${cells.join(' ')} ${(value / other).toFixed(2).padStart(10)}`)
}
say(`
Both have a write on disk before they acknowledge it. What etcd gives that one node does not: with several members the
loss of a machine or its disk loses nothing and stops nothing, members are replaced while writes go on, and several
kube-apiservers serve one truth. One node is back after a restart, and has what its disk or its last backup has.`)
process.exit(0)
