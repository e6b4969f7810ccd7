/**
 * The console's listener: the page's files, sign-in and sessions, the list of clusters with its changes, and the API
 * under the user's own rights. Beyond loopback only with TLS and an issuer that users sign in with.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { base64url } from '../../core/bytes.ts'
import { Stalled } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { formatAddress, isLoopback } from '../http/listen-address.ts'
import type { ListenAddress } from '../http/listen-address.ts'
import { listenOn } from '../http/listen.ts'
import { createPlainServer } from '../http/plain-server.ts'
import type { RequestTarget } from '../http/plain-server.ts'
import { sendMetrics } from '../metrics/metrics-listener.ts'
import { ACTION_HEADER, forwardToApi, isApiPath } from './api-proxy.ts'
import type { ConsoleAssets } from './console-assets.ts'
import { createConsoleSessions, sessionCookie } from './console-sessions.ts'
import { keepCertificate } from './console-certificate.ts'
import type { ConsoleCertificate } from './console-certificate.ts'
import type { ConsoleSession, ConsoleSessions } from './console-sessions.ts'
import { LIST_CLUSTERS, streamEvents } from './fleet-events.ts'
import type { FleetView } from './fleet-view.ts'
import type { CodeFlow } from '../../client/oidc/code-flow.ts'
import { isForeign, sendFailure, sendJson, sendText } from './respond.ts'
import { sendDocument, sendAsset, sendSnapshot } from './send-files.ts'
import { createOidcSignIn, OIDC_BEGIN, OIDC_CALLBACK } from './oidc-sign-in.ts'
import { createOpenSession, createSignIn } from './sign-in.ts'
import type { OpenApi, SignIn } from './sign-in.ts'

/** A running console. */
export interface Console {
  readonly address: ListenAddress
  /** An address of the console. On loopback, it signs one browser in, once. */
  signInUrl(): string
  close(): Promise<void>
}

/** What a console is made of. */
export interface ConsoleOptions {
  readonly listen: ListenAddress
  /** `https://HOST[:PORT]` that people open, where it is not the address of the listener. */
  readonly url?: string | undefined
  /** If omitted, the console speaks plain HTTP, on loopback only. */
  readonly certificate?: ConsoleCertificate | undefined
  /** The issuer that people sign in with. */
  readonly oidc?: ConsoleIssuer | undefined
  readonly view: FleetView
  readonly assets: ConsoleAssets
  /** Opens the API for a user that signs in. */
  readonly openApi: OpenApi
  /** What Prometheus scrapes: numbers without names, so it needs no sign-in on loopback. */
  readonly metrics: () => Promise<string>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
}

/** An issuer as the sign-in page names it, and the flow with it. */
export interface ConsoleIssuer {
  readonly issuer: string
  readonly flow: CodeFlow
}

/** Starts the console. */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const { listen, view, assets, metrics, clock, ids, log, certificate, oidc } = options
  const isLocal = isLoopback(listen.host)
  if (!isLocal && !(certificate && oidc)) {
    throw new Stalled(
      'ConsoleNotLoopback',
      `without TLS and an OpenID Connect issuer, the console listens on loopback only, not on ${listen.host}`,
    )
  }
  const scheme = certificate ? 'https' : 'http'
  const secure = certificate ? '; Secure' : ''
  let port = 0
  const cookie = () => sessionCookie(port, certificate !== undefined)
  const sessions = createConsoleSessions({ ids, clock, cookie })
  const openSession = createOpenSession({ sessions, cookie, secure })
  const signIn = createSignIn({ sessions, openApi: options.openApi, openSession, cookie, secure })
  const oidcSignIn =
    oidc &&
    createOidcSignIn({
      flow: oidc.flow,
      openApi: options.openApi,
      openSession,
      clock,
      ids,
      log,
      cookie: () => `${certificate ? '__Host-' : ''}flotilla_oidc_${port}`,
      secure,
    })
  const stop = new AbortController()
  let hosts: ReadonlySet<string> = new Set()

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    { path, query, host }: RequestTarget,
  ): Promise<void> {
    // A page of another site that resolves its name to this address must not get an answer.
    if (!hosts.has(host)) return sendText(response, 421, 'this address is not served here\n')
    const isPage = isPagePath(path)
    // The issuer sends the browser back as a link would.
    if (isForeign(request.headers, isPage || path === OIDC_CALLBACK)) {
      return sendText(response, 403, 'pages of other origins may not ask this one\n')
    }
    if (request.method === 'GET') {
      // Numbers of the fleet are for this machine; others scrape `metricsListen`.
      if (path === '/metrics' && isLocal) return await sendMetrics(response, metrics)
      const asset = isPage ? undefined : await assets.get(path)
      if (asset) return sendAsset(request, response, asset)
      if (path === '/console/sign-in') return sendJson(response, 200, { issuer: oidc?.issuer, hasCodes: isLocal })
      const origin = `${scheme}://${host}`
      if (oidcSignIn && path === OIDC_BEGIN) {
        return await oidcSignIn.begin(response, { origin, next: query.get('next') })
      }
      if (oidcSignIn && path === OIDC_CALLBACK) {
        return await oidcSignIn.finish(response, { origin, query, cookies: request.headers.cookie })
      }
    } else if (isPage) {
      return sendText(response, 405, 'only GET\n')
    } else if (request.headers[ACTION_HEADER] === undefined) {
      return sendFailure(response, 403, 'Forbidden', `the header ${ACTION_HEADER} is missing`)
    }
    const session = sessions.find(request.headers.cookie)
    const code = query.get('code')
    if (isPage && code !== null) return await signIn.byCode(response, { code, session })
    if (isPage) {
      if (session) assets.prepare()
      return await sendDocument(response, {
        assets,
        isSignedIn: session !== undefined,
        nonce: base64url(ids.bytes(18)),
      })
    }
    if (path === '/console/sign-in' && request.method === 'POST') return await signIn.byToken(request, response)
    if (!session) return sendFailure(response, 401, 'Unauthorized', 'not signed in, or the session has ended')
    return await serveSession(request, response, {
      path,
      query,
      session,
      sessions,
      signIn,
      view,
      metrics,
      clock,
      stop: stop.signal,
    })
  }

  const tls = certificate && { tls: await certificate.read() }
  const server = createPlainServer({ name: 'console', log, answer, ...tls })
  const listening = await listenOn(server, listen)
  port = listening.port
  const address = { host: listen.host, port }
  const page = options.url ?? `${scheme}://${formatAddress(address)}`
  const ownPages = [
    `${scheme}://${formatAddress(address)}`,
    `${scheme}://${formatAddress({ host: 'localhost', port })}`,
  ]
  const pages = options.url === undefined || isLocal ? [page, ...ownPages] : [page]
  // As browsers write a host: without the port of the scheme.
  hosts = new Set(pages.map((one) => new URL(one).host))
  const keeping = keepCertificate(server, certificate, { clock, log, signal: stop.signal })
  return {
    address,
    // A code is the administrator's: it is for the machine of the hub alone.
    signInUrl: () => (isLocal ? `${page}/?code=${sessions.newCode()}` : `${page}/`),
    close: async () => {
      stop.abort()
      await keeping
      assets.close()
      await sessions.close()
      await listening.close()
    },
  }
}

interface SessionRequest
  extends Pick<RequestTarget, 'path' | 'query'>, Pick<ConsoleOptions, 'view' | 'clock' | 'metrics'> {
  readonly session: ConsoleSession
  readonly sessions: ConsoleSessions
  readonly signIn: SignIn
  /** Aborted when the console closes. */
  readonly stop: AbortSignal
}

/** Answers a request of a browser that is signed in. */
async function serveSession(
  request: IncomingMessage,
  response: ServerResponse,
  { path, query, session, sessions, signIn, view, metrics, clock, stop }: SessionRequest,
): Promise<void> {
  if (isApiPath(path)) {
    const endSession = () => void sessions.revoke(session, session.id)
    return await forwardToApi(request, response, { session, endSession })
  }
  if (path === '/console/events' && request.method === 'GET') {
    const last = request.headers['last-event-id']
    const from = typeof last === 'string' ? last : (query.get('from') ?? undefined)
    const touch = () => void sessions.find(request.headers.cookie)
    return await streamEvents(response, { view, clock, session, touch, stop, from })
  }
  // Numbers of the fleet are for those who may see the fleet.
  if ((path === '/console/fleet' || path === '/console/metrics') && request.method === 'GET') {
    if (await session.api.may(LIST_CLUSTERS)) {
      return path === '/console/metrics'
        ? await sendMetrics(response, metrics)
        : await sendSnapshot(request, response, view.feed)
    }
    return sendFailure(
      response,
      403,
      'Forbidden',
      `user ${JSON.stringify(session.username)} cannot list clusters.flotilla.dev`,
    )
  }
  if (signIn.serveSessions(request, response, { path, session })) return
  sendFailure(response, 404, 'NotFound', 'not found')
}

/** Whether a path is shown by the document; the script in it knows which page that is. */
function isPagePath(path: string): boolean {
  return !isApiPath(path) && !/^\/(console\/|assets\/|metrics$|favicon\.svg$)/.test(path)
}
