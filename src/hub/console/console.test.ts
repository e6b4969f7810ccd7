import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { connectTo, rawGet, sendRaw, statusesIn } from '../../testing/hub/hostile-requests.ts'
import { startConsole } from './console.ts'
import type { FleetSnapshot, FleetView } from './fleet-view.ts'
import { listenForMetrics } from '../metrics/metrics-listener.ts'

const EMPTY: FleetSnapshot = { total: 0, counts: {}, apart: {}, clusters: [], bundles: [], rollouts: [] }
const PORTS = { clock: systemClock, ids: systemIds, log: silentLogger, metrics: async () => 'flotilla_clusters 3\n' }

function viewOf() {
  let snapshot = EMPTY
  const listeners = new Set<() => void>()
  const view: FleetView = {
    snapshot: () => snapshot,
    facts: () => ({ clusters: [], reports: [], assignments: [], bundles: [], placements: [], rollouts: [] }),
    onChange: (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    run: async () => {},
  }
  return {
    view,
    listeners,
    change: (next: FleetSnapshot) => {
      snapshot = next
      for (const listener of listeners) listener()
    },
  }
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
}

function ask(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(url, { headers, method, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }))
    })
      .on('error', reject)
      .end()
  })
}

async function started(t: { after(fn: () => Promise<void>): void }) {
  const fleet = viewOf()
  const listen = { host: '127.0.0.1', port: 0 }
  const console = await startConsole({ ...PORTS, listen, view: fleet.view })
  t.after(() => console.close())
  return { console, fleet, base: `http://127.0.0.1:${console.address.port}` }
}

async function signedIn(url: string): Promise<Record<string, string>> {
  const { headers } = await ask(url)
  return { cookie: String(headers['set-cookie']).split(';')[0]! }
}

test('nothing is shown without the code, and the code works once', async (t) => {
  const { console, base } = await started(t)
  for (const path of ['/', '/events', '/page.js', '/?code=wrong'])
    assert.equal((await ask(base + path)).status, 401, path)
  const url = console.signInUrl()
  const first = await ask(url)
  assert.equal(first.status, 200)
  const cookie = String(first.headers['set-cookie'])
  assert.match(cookie, /^flotilla_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
  assert.equal((await ask(url)).status, 401)
  assert.equal((await ask(base, { cookie: cookie.split(';')[0]! })).status, 200)
  assert.equal((await ask(base, { cookie: 'flotilla_session=x' })).status, 401)
})

test('the page is served with a strict policy and without types', async (t) => {
  const { console, base } = await started(t)
  const headers = await signedIn(console.signInUrl())
  const page = await ask(base, headers)
  assert.match(String(page.headers['content-security-policy']), /^default-src 'none'; script-src 'self'/)
  assert.match(page.text, /<script type="module" src="\/page.js">/)
  const script = await ask(`${base}/page.js`, headers)
  assert.equal(script.headers['content-type'], 'text/javascript; charset=utf-8')
  assert.doesNotMatch(script.text, /import type|: HTMLElement/)
  assert.doesNotMatch(script.text, /innerHTML\s*=/)
  assert.equal((await ask(`${base}/../config.ts`, headers)).status, 404)
  assert.equal((await ask(base, headers, 'POST')).status, 405)
})

test('metrics need no sign-in, but the right name; a failure is a 500 with its reason', async (t) => {
  const { base } = await started(t)
  const scraped = await ask(`${base}/metrics`)
  assert.deepEqual([scraped.status, scraped.text], [200, 'flotilla_clusters 3\n'])
  assert.equal(scraped.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  assert.equal((await ask(`${base}/metrics`, { host: 'evil.example' })).status, 421)

  let problem: string | undefined
  const broken = await listenForMetrics({
    listen: { host: '127.0.0.1', port: 0 },
    text: () => Promise.reject(new Error('no api thread')),
    notReady: () => problem,
    log: silentLogger,
  })
  t.after(() => broken.close())
  const failed = await ask(`http://127.0.0.1:${broken.port}/metrics`)
  assert.deepEqual([failed.status, failed.text], [500, 'the metrics cannot be collected: no api thread\n'])
  assert.equal((await ask(`http://127.0.0.1:${broken.port}/`)).status, 404)
  const probe = async (path: string) => {
    const { status, text } = await ask(`http://127.0.0.1:${broken.port}/${path}`)
    return `${status} ${text}`
  }
  assert.deepEqual([await probe('livez'), await probe('readyz')], ['200 ok', '200 ok'])
  problem = 'the api thread does not run'
  assert.deepEqual(
    [await probe('livez'), await probe('readyz')],
    ['200 ok', '500 not ready: the api thread does not run\n'],
  )
})

test('a name that leads here from elsewhere is refused', async (t) => {
  const { console, base } = await started(t)
  const headers = await signedIn(console.signInUrl())
  assert.equal((await ask(base, { ...headers, host: 'evil.example' })).status, 421)
  assert.equal((await ask(base, { ...headers, host: `localhost:${console.address.port}` })).status, 200)
})

test('a page of another origin gets nothing, but a link to the page may be followed', async (t) => {
  const { console, base } = await started(t)
  const cookie = await signedIn(console.signInUrl())
  const image = { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
  const script = { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
  const visit = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  const frame = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }
  const statusOf = async (site: string, how: Record<string, string>, path: string) =>
    (await ask(base + path, { ...cookie, 'sec-fetch-site': site, ...how })).status
  // Another port of this machine is another origin of the same site.
  for (const site of ['cross-site', 'same-site', 'something new', 'none, cross-site']) {
    for (const path of ['/', '/metrics', '/events', '/page.js', '/none']) {
      for (const how of [image, script, frame, {}]) {
        assert.equal(await statusOf(site, how, path), 403, `${site} ${path} ${JSON.stringify(how)}`)
      }
      if (path !== '/') assert.equal(await statusOf(site, visit, path), 403, `${site} ${path}`)
    }
    assert.equal(await statusOf(site, visit, '/'), 200)
    const { pathname, search } = new URL(console.signInUrl())
    const link = { 'sec-fetch-site': site, ...visit }
    assert.equal((await ask(base + pathname + search, link)).status, 200, 'a sign-in address may be a link')
    assert.equal((await ask(base, link)).status, 401, 'a visit alone shows nothing')
  }
  assert.equal(await statusOf('same-origin', script, '/page.js'), 200)
  assert.equal(await statusOf('none', visit, '/metrics'), 200)
})

test('the host of an absolute target counts, not that of the header', async (t) => {
  const { console } = await started(t)
  const { port } = console.address
  const statusOf = async (target: string, host: string) =>
    statusesIn(await sendRaw(connectTo(port), rawGet(target, host)))
  assert.deepEqual(await statusOf(`http://127.0.0.1:${port}/metrics`, 'x'), [200])
  assert.deepEqual(await statusOf('http://evil.example/metrics', `127.0.0.1:${port}`), [421])
})

test('events bring the fleet at once and again when it changes, and leave nothing behind', async (t) => {
  const { console, fleet, base } = await started(t)
  const headers = await signedIn(console.signInUrl())
  const events: FleetSnapshot[] = []
  const gone = Promise.withResolvers<void>()
  const stream = request(`${base}/events`, { headers, agent: false }, (response) => {
    let pending = ''
    response.setEncoding('utf8').on('data', (chunk: string) => {
      pending += chunk
      for (let end = pending.indexOf('\n\n'); end >= 0; end = pending.indexOf('\n\n')) {
        events.push(JSON.parse(pending.slice(0, end).split('data: ')[1]!) as FleetSnapshot)
        pending = pending.slice(end + 2)
        if (events.length === 1) fleet.change({ ...EMPTY, total: 7 })
        if (events.length === 2) stream.destroy()
      }
    })
    response.on('close', gone.resolve)
  })
  stream.on('error', () => {})
  stream.end()
  await gone.promise
  assert.deepEqual(
    events.map(({ total }) => total),
    [0, 7],
  )
  while (fleet.listeners.size > 0) await systemClock.sleep(5)
})

test('the console never listens where others can reach it', async () => {
  const { view } = viewOf()
  const listen = { host: '0.0.0.0', port: 0 }
  await assert.rejects(startConsole({ ...PORTS, listen, view }), /loopback only, not on 0.0.0.0/)
})
