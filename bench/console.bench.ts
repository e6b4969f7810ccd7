// What the console costs with thousands of clusters: bytes of the first data, time of a keystroke in the filter and of a batch of
// changes, memory of the tab, and the hub's CPU for each open console. The hub's part is real; its fleet is made up.
// node bench/console.bench.ts [--clusters 5000] [--consoles 50] [--seconds 10]
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { CDPSession, Page } from 'playwright-core'
import { launchChromium } from '../scripts/console-chromium.ts'
import { buildConsole, CONSOLE_DIST } from '../scripts/console-workspace.ts'
import { bytesBody } from '../src/core/http.ts'
import { utf8 } from '../src/core/bytes.ts'
import { silentLogger } from '../src/core/log.ts'
import { systemIds } from '../src/core/system-ids.ts'
import { systemClock } from '../src/core/time/system-clock.ts'
import { createConsoleAssets } from '../src/hub/console/console-assets.ts'
import { startConsole } from '../src/hub/console/console.ts'
import type { FleetRow } from '../src/hub/console/fleet-row.ts'
import { rowOf, viewForTests } from '../src/testing/hub/console-parts.ts'

const { values: flags } = parseArgs({
  options: {
    clusters: { type: 'string', default: '5000' },
    consoles: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '10' },
  },
})
const CLUSTERS = Number(flags.clusters)
const CONSOLES = Number(flags.consoles)
const SECONDS = Number(flags.seconds)
const BATCHES = 20
/** Of 50 clusters one changes in a batch. */
const SHARE = 50
/** Changes in a second in the steady state. */
const RATE = 10

const STATES = ['Ready', 'Ready', 'Ready', 'Ready', 'Ready', 'Ready', 'Progressing', 'Offline', 'Drifted', 'Failed']
const REGIONS = ['north', 'south', 'east', 'west']
const RINGS = ['lab', 'canary', 'early', 'half', 'rest']
let version = 0

/** A cluster of a fleet in which a rollout moves; no two clusters joined or changed at the same time. */
function clusterAt(at: number, state = STATES[at % STATES.length]!): FleetRow {
  return rowOf(`store-${String(at).padStart(5, '0')}`, {
    state,
    since: 1_700_000_000 + ((at * 7_919) % 5_000_000),
    seen: state === 'Offline' ? 1_760_000_000 - at : 0,
    isHeard: state !== 'Offline',
    certificate: 1_800_000_000 + ((at * 104_729) % 1_200_000),
    ready: state === 'Ready' ? 12 : 11,
    bundles: 12,
    message: state === 'Ready' ? '' : `Of 12 bundles: 11 Ready, 1 ${state}.`,
    labels: { region: REGIONS[at % 4]!, ring: RINGS[at % 5]!, tier: 'store', site: `s-${at % 500}` },
  })
}

await buildConsole()
const fleet = viewForTests()
for (let at = 0; at < CLUSTERS; at += 1) fleet.put(clusterAt(at))
const answer = JSON.stringify({ items: [], status: { allowed: true } })
const hub = await startConsole({
  clock: systemClock,
  ids: systemIds,
  log: silentLogger,
  metrics: async () => '',
  listen: { host: '127.0.0.1', port: 0 },
  view: fleet.view,
  assets: createConsoleAssets({ places: { folder: CONSOLE_DIST }, log: silentLogger }),
  openApi: () => ({
    transport: async () => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: bytesBody(utf8(answer)),
    }),
    whoAmI: async () => ({ username: 'admin', groups: [] }),
    may: async () => true,
    close: async () => {},
  }),
})

const print = (what: string, measured: string, budget: string): void =>
  console.log(`${what.padEnd(46)} ${measured.padStart(14)}   ${budget}`)

/** CPU seconds of this process, which is the hub, for each second. */
async function cpuPerSecond(): Promise<number> {
  const before = process.cpuUsage()
  for (let at = 0; at < SECONDS * RATE; at += 1) {
    version += 1
    fleet.put(clusterAt((version * 37) % CLUSTERS, STATES[version % STATES.length]))
    await sleep(1_000 / RATE)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6 / SECONDS
}

/** Opens the stream of an open console; returns how to close it. */
async function openStream(cookie: string): Promise<() => void> {
  const url = new URL('/console/events', hub.signInUrl())
  return await new Promise((opened) => {
    const asked = request(url, { headers: { cookie }, agent: false }, (response) => {
      response.resume()
      response.on('error', () => {})
      opened(() => asked.destroy())
    })
    asked.on('error', () => {}).end()
  })
}

async function signIn(): Promise<string> {
  return await new Promise((done, failed) => {
    request(hub.signInUrl(), { agent: false }, (response) => {
      response.resume()
      done(String(response.headers['set-cookie']).split(';')[0]!)
    })
      .on('error', failed)
      .end()
  })
}

async function hubCost(): Promise<void> {
  const alone = await cpuPerSecond()
  const cookie = await signIn()
  const streams: (() => void)[] = []
  for (let at = 0; at < CONSOLES; at += 1) streams.push(await openStream(cookie))
  await sleep(1_000)
  const open = await cpuPerSecond()
  for (const close of streams) close()
  print(
    `CPU of the hub per open console, ${RATE} changes a second`,
    `${(((open - alone) / CONSOLES) * 1_000).toFixed(2)} ms/s`,
    '< 1 ms/s',
  )
}

async function metricOf(session: CDPSession, wanted: string): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === wanted)?.value ?? 0
}

/** The longest of the times from a key to the next frame, and all of them; the browser rounds to 8 ms. */
async function keystrokes(page: Page): Promise<readonly number[]> {
  await page.evaluate(`window.keys = []; new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.name === 'keydown') window.keys.push(entry.duration)
  }).observe({ type: 'event', durationThreshold: 16 })`)
  await page.focus('[data-filter]')
  const text = 'region:north store-0'
  for (const key of text) {
    await page.keyboard.press(key === ' ' ? 'Space' : key)
    await page.waitForTimeout(120)
  }
  const slow = await page.evaluate<number[]>('window.keys')
  await page.fill('[data-filter]', '')
  return [...slow, ...Array.from({ length: text.length - slow.length }, () => 16)].toSorted((a, b) => a - b)
}

/** CPU milliseconds of the main thread for one batch, beyond those at rest. */
async function batchCost(page: Page, session: CDPSession): Promise<{ readonly mean: number; readonly rest: number }> {
  const during = async (work: () => Promise<void>): Promise<number> => {
    const before = await metricOf(session, 'TaskDuration')
    await work()
    return ((await metricOf(session, 'TaskDuration')) - before) * 1_000
  }
  const rest = await during(async () => await sleep(BATCHES * 500))
  const busy = await during(async () => {
    for (let batch = 0; batch < BATCHES; batch += 1) {
      for (let at = batch; at < CLUSTERS; at += SHARE) fleet.put(clusterAt(at, STATES[(at + batch) % STATES.length]))
      await sleep(500)
    }
  })
  await page.waitForTimeout(500)
  return { mean: (busy - rest) / BATCHES, rest: rest / BATCHES }
}

/** Memory of the page's process that no other process shares. */
function privateBytes(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const kilobytes = [...rollup.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].map(([, text]) => Number(text))
  return kilobytes.reduce((sum, one) => sum + one, 0) * 1024
}

async function pageCost(): Promise<void> {
  const browser = await launchChromium()
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    const session = await page.context().newCDPSession(page)
    // CPU time of threads: other work of the machine does not count.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    await session.send('Network.enable')
    const urls = new Map<string, string>()
    let firstData = 0
    session.on('Network.responseReceived', ({ requestId, response }) => void urls.set(requestId, response.url))
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (urls.get(requestId)?.endsWith('/console/fleet')) firstData = encodedDataLength
    })
    const begun = performance.now()
    await page.goto(hub.signInUrl())
    await page.waitForSelector('[data-cluster]')
    const shownMs = performance.now() - begun
    await page.waitForTimeout(2_000)
    print('first data, compressed', `${(firstData / 1_000).toFixed(0)} KB`, '<= 100 KB')
    print('from the request to the first rows', `${shownMs.toFixed(0)} ms`, '')
    const keys = await keystrokes(page)
    print(
      'key to next frame, median and longest',
      `${keys[Math.floor(keys.length / 2)]} and ${keys.at(-1)} ms`,
      '< 50 ms',
    )
    const { mean, rest } = await batchCost(page, session)
    print(
      `CPU of the main thread, batch of ${Math.ceil(CLUSTERS / SHARE)} changes`,
      `${mean.toFixed(1)} ms`,
      `<= 16 ms (${rest.toFixed(1)} ms in the same time at rest)`,
    )
    await session.send('HeapProfiler.collectGarbage')
    const heap = await metricOf(session, 'JSHeapUsedSize')
    const root = await browser.newBrowserCDPSession()
    const { processInfo } = await root.send('SystemInfo.getProcessInfo')
    const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => privateBytes(id))
    print(
      'memory of the tab: JS heap, whole process',
      `${(heap / 1e6).toFixed(0)}, ${(Math.max(...renderers) / 1e6).toFixed(0)} MB`,
      '< 150 MB',
    )
  } finally {
    await browser.close()
  }
}

console.log(`${CLUSTERS} clusters`)
await hubCost()
await pageCost()
await hub.close()
