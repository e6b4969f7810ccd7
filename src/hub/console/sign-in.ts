// Tested by src/hub/console/console.test.ts
/** How a browser signs in, sees its sessions and ends them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { fromUtf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import { readBody } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import { Secret } from '../../core/secret.ts'
import { formatTime } from '../../core/time/time.ts'
import type { ConsoleSession, ConsoleSessions } from './console-sessions.ts'
import { sendFailure, sendJson, sendText } from './respond.ts'
import type { SignInMethod } from './session-row.ts'
import type { UserApi } from './user-api.ts'

/** Opens the API with a token, or as the administrator for the owner of the data directory. */
export type OpenApi = (token: Secret<string> | 'administrator') => UserApi

export interface SignIn {
  /** Answers the address with a one-time code. */
  byCode(response: ServerResponse, asked: { code: string; session: ConsoleSession | undefined }): Promise<void>
  /** Answers a request that has a token in its body. */
  byToken(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Answers requests about sessions; false if this is none. */
  serveSessions(
    request: IncomingMessage,
    response: ServerResponse,
    about: { readonly path: string; readonly session: ConsoleSession },
  ): boolean
}

/** Opens a session for credentials that the API accepts; the answer is the Set-Cookie header. */
export type OpenSession = (api: UserApi, method: SignInMethod, endsMs?: number) => Promise<string>

/** What a person without a session is told. */
export const SIGN_IN_ADVICE =
  'Not signed in. Open the address that the hub printed when it started; its code works once.\n' +
  'Get a new address with "flotilla hub sign-in --data DIR", or "flotilla demo page" for the demo.\n'

const MAX_TOKEN_BYTES = 64 * 1024

interface SessionCookie {
  readonly sessions: ConsoleSessions
  readonly cookie: () => string
  /** `; Secure` with TLS, else empty. */
  readonly secure: string
}

export function createOpenSession({ sessions, cookie, secure }: SessionCookie): OpenSession {
  return async (api, method, endsMs) => {
    try {
      const identity = await api.whoAmI()
      const value = sessions.open(compact({ ...identity, method, api, endsMs }))
      return `${cookie()}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}`
    } catch (caught) {
      await api.close()
      throw caught
    }
  }
}

/** Makes the ways to sign in with a code or a token. */
export function createSignIn({
  sessions,
  openApi,
  openSession,
  cookie,
  secure,
}: SessionCookie & { readonly openApi: OpenApi; readonly openSession: OpenSession }): SignIn {
  return {
    byCode: async (response, { code, session }) => {
      if (session) return moveOn(response, {})
      if (!sessions.takeCode(code)) {
        return sendText(response, 401, `This code was used already or is wrong. ${SIGN_IN_ADVICE}`)
      }
      moveOn(response, { 'set-cookie': await openSession(openApi('administrator'), 'code') })
    },
    byToken: async (request, response) => {
      const token = tokenOf(fromUtf8(await readBody(request, MAX_TOKEN_BYTES)))
      if (token === undefined) {
        return sendFailure(response, 400, 'BadRequest', 'the body must be {"token": "…"} with a token of one word')
      }
      try {
        const set = await openSession(openApi(new Secret(token)), 'token')
        sendText(response, 200, '{}', { 'content-type': 'application/json', 'set-cookie': set })
      } catch (caught) {
        if (!isApiError(caught, 'Unauthorized')) throw caught
        sendFailure(
          response,
          401,
          'Unauthorized',
          'the hub does not accept the token: it expired, or is of another hub',
        )
      }
    },
    serveSessions: (request, response, { path, session }) => {
      const asked = `${request.method} ${path}`
      if (asked === 'GET /console/session') {
        const { username, groups, method, endsMs } = session
        sendJson(response, 200, { username, groups, method, ends: formatTime(endsMs) })
      } else if (asked === 'GET /console/sessions') {
        sendJson(response, 200, { items: sessions.list(session) })
      } else if (asked === 'POST /console/sign-out') {
        sessions.revoke(session, session.id)
        sendText(response, 200, '{}', {
          'content-type': 'application/json',
          'set-cookie': `${cookie()}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0${secure}`,
        })
      } else if (request.method === 'DELETE' && path.startsWith('/console/sessions/')) {
        const id = path.slice('/console/sessions/'.length)
        if (sessions.revoke(session, id)) sendJson(response, 200, {})
        else sendFailure(response, 404, 'NotFound', `you have no session ${JSON.stringify(id)}`)
      } else {
        return false
      }
      return true
    },
  }
}

function tokenOf(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text)
    const token = isObject(body) ? body['token'] : undefined
    return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token.trim()) ? token.trim() : undefined
  } catch {
    return undefined
  }
}

/**
 * Answers with a page that moves on by itself: a redirect from another site's link would not carry a strict cookie.
 */
export function moveOn(response: ServerResponse, headers: Record<string, string | string[]>, page = '/'): void {
  const url = page.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  sendText(response, 200, `<!doctype html><meta http-equiv="refresh" content="0; url=${url}"><title>Flotilla</title>`, {
    'content-type': 'text/html; charset=utf-8',
    ...headers,
  })
}
