/**
 * The console's listener: the page's files, sign-in and sessions, the list of clusters with its changes, and the API
 * under the user's own rights. Loopback only, without client certificates.
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
import type { ConsoleSession } from './console-sessions.ts'
import { LIST_CLUSTERS, streamEvents } from './fleet-events.ts'
import type { FleetView } from './fleet-view.ts'
import { isForeign, sendFailure, sendText } from './respond.ts'
import { sendDocument, sendAsset, sendSnapshot } from './send-files.ts'
import { createSignIn } from './sign-in.ts'
import type { OpenApi } from './sign-in.ts'

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
  readonly assets: ConsoleAssets
  /** Opens the API for a user who signs in. */
  readonly openApi: OpenApi
  /** What Prometheus scrapes: numbers without names, so it needs no sign-in on loopback. */
  readonly metrics: () => Promise<string>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
}

/** Starts the console. */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const { listen, view, assets, metrics, clock, ids, log } = options
  if (!isLoopback(listen.host)) {
    throw new Stalled(
      'ConsoleNotLoopback',
      `the console speaks plain http and listens on loopback only, not on ${listen.host}`,
    )
  }
  let cookie = ''
  const sessions = createConsoleSessions({ ids, clock, cookie: () => cookie })
  const signIn = createSignIn({ sessions, openApi: options.openApi, cookie: () => cookie })
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
    if (isForeign(request.headers, isPage)) {
      return sendText(response, 403, 'pages of other origins may not ask this one\n')
    }
    if (request.method === 'GET') {
      if (path === '/metrics') return await sendMetrics(response, metrics)
      const asset = isPage ? undefined : await assets.get(path)
      if (asset) return sendAsset(request, response, asset)
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
    return await serve(request, response, { path, query, session })
  }

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    { path, query, session }: Pick<RequestTarget, 'path' | 'query'> & { readonly session: ConsoleSession },
  ): Promise<void> {
    if (isApiPath(path)) {
      const endSession = () => void sessions.revoke(session, session.id)
      return await forwardToApi(request, response, { session, endSession })
    }
    if (path === '/console/events' && request.method === 'GET') {
      const last = request.headers['last-event-id']
      const from = typeof last === 'string' ? last : (query.get('from') ?? undefined)
      const touch = () => void sessions.find(request.headers.cookie)
      return await streamEvents(response, { view, clock, session, touch, stop: stop.signal, from })
    }
    if (path === '/console/fleet' && request.method === 'GET') {
      if (await session.api.may(LIST_CLUSTERS)) return await sendSnapshot(request, response, view.feed)
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

  const listening = await listenOn(createPlainServer({ name: 'console', log, answer }), listen)
  const { port } = listening
  const address = { host: listen.host, port }
  cookie = sessionCookie(port)
  hosts = new Set([formatAddress(address), formatAddress({ host: 'localhost', port })])
  return {
    address,
    signInUrl: () => `http://${formatAddress(address)}/?code=${sessions.newCode()}`,
    close: async () => {
      stop.abort()
      assets.close()
      await sessions.close()
      await listening.close()
    },
  }
}

/** Whether a path is shown by the document; the script in it knows which page that is. */
function isPagePath(path: string): boolean {
  return !isApiPath(path) && !/^\/(console\/|assets\/|metrics$|favicon\.svg$)/.test(path)
}
