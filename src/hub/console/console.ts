/**
 * The console's listener: one static page and its stream of events, on loopback, without client certificates.
 * The address with the one-time code signs a browser in; everything else needs the cookie.
 */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../core/time/clock.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { formatAddress, isLoopback } from '../http/listen-address.ts'
import type { ListenAddress } from '../http/listen-address.ts'
import { SESSION_COOKIE, createConsoleSessions } from './console-sessions.ts'
import type { FleetView } from './fleet-view.ts'
import { listenOn } from '../http/listen.ts'
import { sendMetrics } from '../metrics/metrics-listener.ts'
import { createPlainServer } from '../http/plain-server.ts'
import type { RequestTarget } from '../http/plain-server.ts'
import { Stalled } from '../../core/errors.ts'

/** A running console. */
export interface Console {
  readonly address: ListenAddress
  /** A fresh address that signs one browser in. */
  signInUrl(): string
  close(): Promise<void>
}

/** What a console is made of. */
export interface ConsoleOptions {
  readonly listen: ListenAddress
  readonly view: FleetView
  /** What Prometheus scrapes: numbers without names, so it needs no sign-in on loopback. */
  readonly metrics: () => Promise<string>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
}

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

const FILES: Readonly<Record<string, readonly [file: string, type: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/page.css': ['page.css', 'text/css; charset=utf-8'],
  '/page.js': ['page.js', 'text/javascript; charset=utf-8'],
}

/** Changes are collected for this long, so that a busy fleet costs a browser a few updates a second. */
const COALESCE_MS = 200
/** Ages grow even when nothing changes. */
const REFRESH_MS = 5_000

/** Starts the console. */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const { listen, view, metrics, clock, ids, log } = options
  if (!isLoopback(listen.host)) {
    throw new Stalled(
      'ConsoleNotLoopback',
      `the console speaks plain http and listens on loopback only, not on ${listen.host}`,
    )
  }
  const sessions = createConsoleSessions(ids)
  const stop = new AbortController()
  const files = await readFiles()
  let hosts: ReadonlySet<string> = new Set()

  function answer(
    request: IncomingMessage,
    response: ServerResponse,
    { path, query, host }: RequestTarget,
  ): void | Promise<void> {
    // A page of another site that resolves its name to this address must not get an answer.
    if (!hosts.has(host)) return send(response, 421, 'this address is not served here\n')
    if (isForeign(request.headers, path)) return send(response, 403, 'pages of other origins may not ask this one\n')
    if (request.method !== 'GET') return send(response, 405, 'only GET\n')
    if (path === '/metrics') return sendMetrics(response, metrics)
    const code = query.get('code')
    const isSignedIn = sessions.isSignedIn(request.headers.cookie)
    if (path === '/' && code !== null) return signIn(response, isSignedIn ? 'already' : sessions.exchange(code))
    if (!isSignedIn) return send(response, 401, SIGN_IN_ADVICE)
    if (path === '/events') return streamEvents(response, view, clock, stop.signal)
    const file = FILES[path]
    const text = file && files.get(file[0])
    if (!file || text === undefined) return send(response, 404, 'not found\n')
    send(response, 200, text, { 'content-type': file[1] })
  }

  const listening = await listenOn(createPlainServer({ name: 'console', log, answer }), listen)
  const { port } = listening
  const address = { host: listen.host, port }
  hosts = new Set([formatAddress(address), formatAddress({ host: 'localhost', port })])
  return {
    address,
    signInUrl: () => `http://${formatAddress(address)}/?code=${sessions.newCode()}`,
    close: async () => {
      stop.abort()
      await listening.close()
    },
  }
}

/**
 * Whether a page of another origin made the browser ask. Browsers say so in Sec-Fetch-Site; other programs send no
 * such header. All ports of a host are one site, so that `same-site` is another origin, too. A person who follows a
 * link to the page itself is let in, as from a ticket with a sign-in address: the answer is a document of its own,
 * the other page can neither read nor frame it, nothing is changed but by a code that the link must know, and the
 * strict cookie does not come along from another site.
 */
function isForeign(headers: IncomingHttpHeaders, path: string): boolean {
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin' || site === 'none') return false
  const isVisit = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return !(isVisit && path === '/')
}

const SIGN_IN_ADVICE =
  'Not signed in. Open the address that the hub printed when it started; its code works once.\n' +
  'Get a new address with "flotilla hub sign-in --data DIR", or "flotilla demo page" for the demo.\n'

/**
 * Answers with a page that moves on by itself: a redirect from another site's link would not carry a strict cookie.
 */
function signIn(response: ServerResponse, session: string | undefined): void {
  if (session === undefined) return send(response, 401, `This code was used already or is wrong. ${SIGN_IN_ADVICE}`)
  const cookie = `${SESSION_COOKIE}=${session}; Path=/; HttpOnly; SameSite=Strict`
  send(response, 200, '<!doctype html><meta http-equiv="refresh" content="0; url=/"><title>Flotilla</title>', {
    'content-type': 'text/html; charset=utf-8',
    ...(session !== 'already' && { 'set-cookie': cookie }),
  })
}

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...HEADERS, ...headers })
  response.end(body)
}

async function streamEvents(response: ServerResponse, view: FleetView, clock: Clock, stop: AbortSignal): Promise<void> {
  response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' })
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const ended = AbortSignal.any([gone.signal, stop])
  let wake: (() => void) | undefined
  const unsubscribe = view.onChange(() => wake?.())
  try {
    while (!ended.aborted) {
      const changed = new Promise<void>((resolve) => (wake = resolve))
      response.write(`event: fleet\ndata: ${JSON.stringify(view.snapshot())}\n\n`)
      await clock.sleep(COALESCE_MS, ended)
      const refresh = new AbortController()
      await Promise.race([changed, clock.sleep(REFRESH_MS, AbortSignal.any([ended, refresh.signal])).catch(() => {})])
      refresh.abort()
    }
  } catch {
    // the browser left, or the hub is stopping
  } finally {
    unsubscribe()
    response.end()
  }
}

/** The page's files: as they are built, or (in a clone) with the types taken out of the script. */
async function readFiles(): Promise<ReadonlyMap<string, string>> {
  const folder = join(import.meta.dirname, 'page')
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8')
  const script = await read('page.js').catch(async () => withoutTypes(await read('page.ts')))
  return new Map([
    ['index.html', await read('index.html')],
    ['page.css', await read('page.css')],
    ['page.js', script],
  ])
}

async function withoutTypes(source: string): Promise<string> {
  // What Node does to every file of this program, it calls experimental when asked for by name.
  const execArgv = ['--disable-warning=ExperimentalWarning']
  const thread = new Worker(new URL('./page-script-thread.ts', import.meta.url), { workerData: source, execArgv })
  const [script] = (await once(thread, 'message')) as [string]
  return script
}
