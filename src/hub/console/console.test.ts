import assert from 'node:assert/strict'
import { request } from 'node:http'
import { request as overHttps } from 'node:https'
import { gzipSync } from 'node:zlib'
import { test } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { connectTo, rawGet, sendRaw, statusesIn } from '../../testing/hub/hostile-requests.ts'
import { ApiError } from '../../core/errors.ts'
import type { HttpRequest } from '../../core/http.ts'
import { bytesBody } from '../../core/http.ts'
import { utf8 } from '../../core/bytes.ts'
import { newAuthority } from '../../testing/control-plane/certificates.ts'
import { noAssets, rowOf, viewForTests } from '../../testing/hub/console-parts.ts'
import { listenForMetrics } from '../metrics/metrics-listener.ts'
import { startConsole } from './console.ts'
import type { ConsoleAssets } from './console-assets.ts'
import { decodeFleet } from './fleet-row.ts'
import type { FleetDelta, FleetSnapshot } from './fleet-row.ts'
import type { OpenApi } from './sign-in.ts'

const PORTS = { clock: systemClock, ids: systemIds, log: silentLogger, metrics: async () => 'flotilla_clusters 3\n' }

/** An API with two users: the administrator, and a viewer with the token `viewer-token` who may not list clusters. */
function apiForTests() {
  const requests: (HttpRequest & { readonly user: string })[] = []
  const expired = new Set<string>()
  const openApi: OpenApi = (token) => {
    const user = token === 'administrator' ? 'admin' : token.reveal() === 'viewer-token' ? 'viewer' : undefined
    return {
      transport: async (request) => {
        requests.push({ ...request, user: user! })
        const status = expired.has(user!) ? 401 : 200
        const headers = { 'content-type': 'application/json', 'audit-id': 'audit-1', 'set-cookie': 'x=y' }
        return { status, headers, body: bytesBody(utf8(`{"user":"${user}"}`)) }
      },
      whoAmI: async () => {
        if (user === undefined) throw new ApiError('Unauthorized', 'Unauthorized')
        return { username: user, groups: ['system:authenticated'] }
      },
      may: async () => user === 'admin',
      close: async () => {},
    }
  }
  return { openApi, requests, expired }
}

const builtAssets: ConsoleAssets = {
  ...noAssets,
  get: async (path) => {
    const text = path === '/' ? '<meta content="__NONCE__">' : path === '/assets/page.js' ? 'let x' : undefined
    if (text === undefined) return undefined
    const type = path === '/' ? 'text/html; charset=utf-8' : 'text/javascript; charset=utf-8'
    return { type, gzip: gzipSync(text), isImmutable: path !== '/' }
  },
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
}

function ask(url: string, headers: Record<string, string> = {}, method = 'GET', body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(url, { headers, method, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }))
    })
      .on('error', reject)
      .end(body)
  })
}

async function started(t: { after(fn: () => Promise<void>): void }, assets = builtAssets) {
  const fleet = viewForTests()
  const api = apiForTests()
  const listen = { host: '127.0.0.1', port: 0 }
  const console = await startConsole({ ...PORTS, listen, view: fleet.view, assets, openApi: api.openApi })
  t.after(() => console.close())
  return { console, fleet, api, base: `http://127.0.0.1:${console.address.port}` }
}

async function signedIn(url: string): Promise<Record<string, string>> {
  const { headers } = await ask(url)
  return { cookie: String(headers['set-cookie']).split(';')[0]! }
}

const ACTION = { 'x-flotilla-console': '1' }

async function asViewer(base: string): Promise<Record<string, string>> {
  const { headers } = await ask(`${base}/console/sign-in`, ACTION, 'POST', '{"token":"viewer-token"}')
  return { cookie: String(headers['set-cookie']).split(';')[0]! }
}

test('nothing is shown without a session, and a code works once', async (t) => {
  const { console, base } = await started(t)
  const paths = [
    '/',
    '/fleet',
    '/console/events',
    '/console/fleet',
    '/console/metrics',
    '/audit',
    '/console/session',
    '/apis/x',
    '/?code=wrong',
  ]
  for (const path of paths) assert.equal((await ask(base + path)).status, 401, path)
  const url = console.signInUrl()
  const first = await ask(url)
  assert.equal(first.status, 200)
  const cookie = String(first.headers['set-cookie'])
  const { port } = console.address
  assert.match(cookie, new RegExp(`^flotilla_session_${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`))
  assert.equal((await ask(url)).status, 401)
  assert.equal((await ask(base, { cookie: cookie.split(';')[0]! })).status, 200)
  assert.equal((await ask(base, { cookie: `flotilla_session_${port}=x` })).status, 401)
})

test('with TLS, cookies are bound to the host and never sent in the clear', async (t) => {
  const { certificate: cert, privateKey: key } = newAuthority().server()
  const console = await startConsole({
    ...PORTS,
    listen: { host: '127.0.0.1', port: 0 },
    view: viewForTests().view,
    assets: builtAssets,
    openApi: apiForTests().openApi,
    certificate: { read: async () => ({ cert, key }) },
  })
  t.after(() => console.close())
  const url = console.signInUrl()
  assert.match(url, /^https:\/\/127\.0\.0\.1:\d+\/\?code=/)
  const { port } = console.address
  const set = await new Promise<string>((resolve, reject) => {
    overHttps(url, { agent: false, rejectUnauthorized: false }, ({ headers }) => resolve(String(headers['set-cookie'])))
      .on('error', reject)
      .end()
  })
  assert.match(
    set,
    new RegExp(`^__Host-flotilla_session_${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Secure$`),
  )
})

test('a console beyond loopback needs TLS and an issuer, and has no codes', async (t) => {
  const { certificate: cert, privateKey: key } = newAuthority().server()
  const parts = { ...PORTS, assets: builtAssets, openApi: apiForTests().openApi, view: viewForTests().view }
  const listen = { host: '0.0.0.0', port: 0 }
  const certificate = { read: async () => ({ cert, key }) }
  const never = async () => assert.fail('the issuer is not asked')
  const oidc = { issuer: 'https://id.test', flow: { begin: never, finish: never, renew: never } }
  await assert.rejects(startConsole({ ...parts, listen }), /listens on loopback only, not on 0\.0\.0\.0/)
  await assert.rejects(startConsole({ ...parts, listen, certificate }), /listens on loopback only/)
  await assert.rejects(startConsole({ ...parts, listen, oidc }), /listens on loopback only/)
  const url = 'https://console.test'
  const console = await startConsole({ ...parts, listen, certificate, oidc, url })
  t.after(() => console.close())
  assert.equal(console.signInUrl(), 'https://console.test/')
  const status = (host: string, path = '/') =>
    new Promise((resolve, reject) => {
      const { port } = console.address
      overHttps({ port, path, headers: { host }, agent: false, rejectUnauthorized: false }, ({ statusCode }) =>
        resolve(statusCode),
      )
        .on('error', reject)
        .end()
    })
  assert.equal(await status('console.test'), 401)
  assert.equal(await status('console.test', '/metrics'), 401, 'numbers of the fleet are not for strangers')
  assert.equal(await status(`127.0.0.1:${console.address.port}`), 421)
})

test('CVE-2024-28175: the page is served with a strict policy and a nonce of its own', async (t) => {
  const { console, base } = await started(t)
  const headers = await signedIn(console.signInUrl())
  const page = await ask(`${base}/clusters/a`, headers)
  const policy = String(page.headers['content-security-policy'])
  const nonce = /style-src 'self' 'nonce-([\w-]{24})'/.exec(policy)?.[1]
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src/)
  assert.equal(page.text, `<meta content="${nonce}">`)
  assert.notEqual((await ask(base, headers)).text, page.text)
  const script = await ask(`${base}/assets/page.js`)
  assert.deepEqual([script.text, script.headers['cache-control']], ['let x', 'private, max-age=31536000, immutable'])
  assert.equal((await ask(`${base}/assets/none.js`, headers)).status, 404)
  assert.equal((await ask(base, headers, 'POST')).status, 405)
})

test('while the page is built its address says so, to signed-in users only', async (t) => {
  const { console, base } = await started(t, noAssets)
  const headers = await signedIn(console.signInUrl())
  const page = await ask(base, headers)
  assert.equal(page.status, 503)
  assert.match(page.text, /being built/)
  const stranger = await ask(base)
  assert.deepEqual([stranger.status, /being built/.test(stranger.text)], [401, false])
})

test('a token opens a session with the rights of its user; a wrong one is refused', async (t) => {
  const { base, api } = await started(t)
  const wrong = await ask(`${base}/console/sign-in`, ACTION, 'POST', '{"token":"x"}')
  assert.deepEqual([wrong.status, wrong.headers['set-cookie']], [401, undefined])
  for (const body of ['', '{}', '{"token":7}', '{"token":"two words"}', 'x'.repeat(100_000)]) {
    const { status } = await ask(`${base}/console/sign-in`, ACTION, 'POST', body)
    assert.ok(status >= 400, body.slice(0, 20))
  }
  const cookie = await asViewer(base)
  const session = JSON.parse((await ask(`${base}/console/session`, cookie)).text) as object
  assert.deepEqual(
    { ...session, ends: '' },
    {
      username: 'viewer',
      groups: ['system:authenticated'],
      method: 'token',
      ends: '',
    },
  )
  const fleet = await ask(`${base}/console/fleet`, cookie)
  assert.equal(fleet.status, 403)
  assert.match(fleet.text, /user \\"viewer\\" cannot list clusters.flotilla.dev/)
  const numbers = await ask(`${base}/console/metrics`, cookie)
  assert.equal(numbers.status, 403, 'numbers of the fleet need the right to see the fleet')
  api.expired.add('viewer')
  assert.equal((await ask(`${base}/apis/x`, cookie)).status, 401)
  assert.equal((await ask(`${base}/console/session`, cookie)).status, 401, 'the session ended with its token')
})

test('requests reach the API as the user, without headers that change who asks', async (t) => {
  const { base, api } = await started(t)
  const cookie = await asViewer(base)
  const path = '/apis/flotilla.dev/v1alpha1/clusters/a?fieldManager=x'
  const headers = { ...cookie, ...ACTION, 'content-type': 'application/merge-patch+json', 'x-flotilla-reason': 'a%20b' }
  const spoofed = { authorization: 'Bearer other', 'impersonate-user': 'admin', 'x-remote-user': 'admin' }
  const answer = await ask(base + path, { ...headers, ...spoofed }, 'PATCH', '{"spec":{}}')
  assert.deepEqual(
    [answer.status, answer.text, answer.headers['audit-id'], answer.headers['set-cookie']],
    [200, '{"user":"viewer"}', 'audit-1', undefined],
  )
  const { method, path: sent, headers: passed, user } = api.requests.at(-1)!
  assert.deepEqual([method, sent, user], ['PATCH', path, 'viewer'])
  assert.deepEqual(Object.keys(passed).sort(), ['accept', 'content-type', 'user-agent'])
  assert.match(passed['user-agent']!, /^flotilla-console\/\S+ \(a b\)$/)

  const count = api.requests.length
  assert.equal((await ask(base + path, cookie, 'PATCH', '{}')).status, 403, 'without the header of the console')
  assert.equal((await ask(`${base}/apis/x?watch=true`, cookie)).status, 405)
  assert.equal((await ask(`${base}/apis/x`, { ...cookie, ...ACTION }, 'OPTIONS')).status, 405)
  const large = 'x'.repeat(4 * 1024 * 1024)
  assert.equal((await ask(base + path, { ...cookie, ...ACTION }, 'POST', large)).status, 413)
  assert.equal(api.requests.length, count)
})

test('sessions are listed for their user and can be ended', async (t) => {
  const { console, base } = await started(t)
  const [one, two] = [await signedIn(console.signInUrl()), await signedIn(console.signInUrl())]
  const viewer = await asViewer(base)
  const list = async (cookie: Record<string, string>) =>
    (JSON.parse((await ask(`${base}/console/sessions`, cookie)).text) as { items: { id: string; isThis: boolean }[] })
      .items
  const mine = await list(one)
  assert.deepEqual(
    mine.map(({ isThis }) => isThis),
    [false, true],
  )
  assert.equal((await list(viewer)).length, 1)
  const other = mine.find(({ isThis }) => !isThis)!.id
  assert.equal((await ask(`${base}/console/sessions/${other}`, { ...viewer, ...ACTION }, 'DELETE')).status, 404)
  assert.equal((await ask(`${base}/console/sessions/${other}`, { ...one, ...ACTION }, 'DELETE')).status, 200)
  assert.equal((await ask(`${base}/console/session`, two)).status, 401)
  assert.equal((await ask(`${base}/console/sign-out`, { ...one, ...ACTION }, 'POST')).status, 200)
  assert.equal((await ask(`${base}/console/session`, one)).status, 401)
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

test('CVE-2019-13209: a page of another origin gets nothing, but a link to the page may be followed', async (t) => {
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
    for (const path of ['/', '/metrics', '/console/events', '/assets/page.js', '/apis/x']) {
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
  assert.equal(await statusOf('same-origin', script, '/assets/page.js'), 200)
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

test('the list of 10,000 clusters is at most 100 KB, in each encoding that a browser takes', async (t) => {
  const { console, fleet, base } = await started(t)
  for (let at = 0; at < 10_000; at += 1) {
    const labels = { region: ['north', 'south', 'east'][at % 3]!, site: `s-${at % 500}` }
    const since = 1_700_000_000 + ((at * 7_919) % 5_000_000)
    fleet.put(rowOf(`store-${at}`, { since, certificate: 1_800_000_000 + ((at * 104_729) % 1_200_000), labels }))
  }
  const headers = await signedIn(console.signInUrl())
  const sizes = new Map<string, number>()
  for (const accepted of ['gzip, deflate, br, zstd', 'gzip', 'br;q=0, gzip', 'deflate']) {
    const answer = await fetch(`${base}/console/fleet`, { headers: { ...headers, 'accept-encoding': accepted } })
    const encoding = answer.headers.get('content-encoding') ?? 'identity'
    sizes.set(`${accepted}: ${encoding}`, Number(answer.headers.get('content-length')))
    assert.equal(decodeFleet((await answer.json()) as FleetSnapshot).length, 10_000)
  }
  const all = 'gzip, deflate, br, zstd: br'
  assert.deepEqual([...sizes.keys()], [all, 'gzip: gzip', 'br;q=0, gzip: gzip', 'deflate: identity'])
  assert.ok(sizes.get(all)! <= 100_000, String(sizes.get(all)))
})

test('the list comes once, its changes come after it, and a stream leaves nothing behind', async (t) => {
  const { console, fleet, base } = await started(t)
  fleet.put(rowOf('a'))
  const headers = await signedIn(console.signInUrl())
  assert.equal((await ask(`${base}/console/metrics`, headers)).text, 'flotilla_clusters 3\n')
  const snapshot = JSON.parse((await ask(`${base}/console/fleet`, headers)).text) as FleetSnapshot
  assert.deepEqual(
    decodeFleet(snapshot).map(({ name }) => name),
    ['a'],
  )
  const from = `${snapshot.epoch}-${snapshot.revision}`
  fleet.put(rowOf('b'))
  const events: string[] = []
  const gone = Promise.withResolvers<void>()
  const stream = request(`${base}/console/events?from=${from}`, { headers, agent: false }, (response) => {
    let pending = ''
    response.setEncoding('utf8').on('data', (chunk: string) => {
      pending += chunk
      for (let end = pending.indexOf('\n\n'); end >= 0; end = pending.indexOf('\n\n')) {
        const [, event, data] = /^(?:id: \S+\n)?event: (\w+)\ndata: (.*)$/.exec(pending.slice(0, end))!
        pending = pending.slice(end + 2)
        if (event === 'beat') continue
        events.push(event === 'fleet' ? (JSON.parse(data!) as FleetDelta).rows.map(({ name }) => name).join() : data!)
        if (events.length === 2) fleet.put(rowOf('c'))
        if (events.length === 4) stream.destroy()
      }
    })
    response.on('close', gone.resolve)
  })
  stream.on('error', () => {})
  stream.end()
  await gone.promise
  assert.deepEqual(events, ['b', '["rollouts"]', 'c', '["clusters"]'])
  while (fleet.listeners.size > 0) await systemClock.sleep(5)
})

test('a browser of an earlier process of the hub is told to read the list again', async (t) => {
  const { console, fleet, base } = await started(t)
  fleet.put(rowOf('a'))
  const headers = { ...(await signedIn(console.signInUrl())), 'last-event-id': 'other-1' }
  const first = await new Promise<string>((resolve, reject) => {
    const stream = request(`${base}/console/events`, { headers, agent: false }, (response) => {
      response.setEncoding('utf8').once('data', (chunk: string) => {
        resolve(chunk)
        stream.destroy()
      })
    })
    stream.on('error', reject)
    stream.end()
  })
  assert.match(first, /^id: epoch-1\nevent: reset\n/)
})

test('a user without the right to list clusters hears of kinds, never of clusters', async (t) => {
  const { fleet, base } = await started(t)
  fleet.put(rowOf('secret-name'))
  const headers = await asViewer(base)
  const text = await new Promise<string>((resolve, reject) => {
    let all = ''
    const stream = request(`${base}/console/events`, { headers, agent: false }, (response) => {
      response.setEncoding('utf8').on('data', (chunk: string) => {
        all += chunk
        if (!all.includes('event: changed')) return fleet.put(rowOf('other-name'))
        resolve(all)
        stream.destroy()
      })
    })
    stream.on('error', reject)
    stream.end()
  })
  assert.doesNotMatch(text, /name|fleet/)
})

test('the console never listens where others can reach it', async () => {
  const { view } = viewForTests()
  const listen = { host: '0.0.0.0', port: 0 }
  const parts = { ...PORTS, listen, view, assets: noAssets, openApi: apiForTests().openApi }
  await assert.rejects(startConsole(parts), /loopback only, not on 0.0.0.0/)
})

test('a stream begins with all kinds: what changed before it was open is unknown', async (t) => {
  const { console, base } = await started(t)
  const headers = await signedIn(console.signInUrl())
  const first = await new Promise<string>((resolve, reject) => {
    const stream = request(`${base}/console/events`, { headers, agent: false }, (response) => {
      let all = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        all += chunk
        if (!all.includes('event: beat')) return
        stream.destroy()
        resolve(all)
      })
    })
    stream.on('error', reject).end()
  })
  assert.match(first, /event: changed\ndata: \["rollouts"\]\n/)
})
