/**
 * Sessions of the console. A cookie stands for an identity towards the API: the credentials themselves stay in the hub,
 * and end with the session.
 */
import { base64url, equalBytes, sha256 } from '../../core/bytes.ts'
import type { Ids } from '../../core/ids.ts'
import type { Clock } from '../../core/time/clock.ts'
import { formatTime } from '../../core/time/time.ts'
import type { SessionRow, SignInMethod } from './session-row.ts'
import type { UserApi } from './user-api.ts'

/** Who a session acts for. */
export interface Identity {
  readonly username: string
  readonly groups: readonly string[]
}

/** A browser that is signed in. */
export interface ConsoleSession extends Identity {
  /** Public name of the session; not the cookie. */
  readonly id: string
  readonly method: SignInMethod
  readonly createdMs: number
  /** The session ends then at the latest. */
  readonly endsMs: number
  /** The API as this user. */
  readonly api: UserApi
  /** Aborted when the session ends. */
  readonly ended: AbortSignal
}

/** Sessions and one-time codes of a console. */
export interface ConsoleSessions {
  /** A code for a sign-in. */
  newCode(): string
  /** Uses a code up; false if it is unknown. */
  takeCode(code: string): boolean
  /** Opens a session; the answer is the value of its cookie. */
  open(session: Identity & { readonly method: SignInMethod; readonly api: UserApi; readonly endsMs?: number }): string
  /** The session of a Cookie header. To ask counts as use. */
  find(cookieHeader: string | undefined): ConsoleSession | undefined
  /** Sessions of the same user, newest first. */
  list(session: ConsoleSession): readonly SessionRow[]
  /** Ends a session of the same user; false if there is none with this id. */
  revoke(session: ConsoleSession, id: string): boolean
  close(): Promise<void>
}

/** The values of a cookie in a Cookie header. */
export function cookieValues(header: string | undefined, wanted: string): string[] {
  return (header ?? '')
    .split(';')
    .map((pair) => pair.trim().split('='))
    .flatMap(([name, value]) => (name === wanted && value !== undefined ? [value] : []))
}

/**
 * The cookie's name. Browsers share cookies between the ports of a host, so it has the port. The prefix makes browsers
 * refuse the cookie from another host of the same domain, which only works with TLS.
 */
export function sessionCookie(port: number, isSecure = false): string {
  return `${isSecure ? '__Host-' : ''}flotilla_session_${port}`
}

const MAX_SESSIONS = 2048
/** A user cannot end the sessions of others by opening many. */
const MAX_SESSIONS_OF_USER = 32
const MAX_CODES = 16
/** The longest time a session lasts. */
export const SESSION_MS = 12 * 3_600_000
/** A session that is not used for this long ends. */
export const IDLE_MS = 3_600_000

interface Held {
  readonly hash: Uint8Array
  readonly session: ConsoleSession
  readonly end: AbortController
  usedMs: number
}

/** Makes the sessions of a console; they live as long as the hub's process. */
export function createConsoleSessions({
  ids,
  clock,
  cookie,
}: {
  readonly ids: Pick<Ids, 'bytes' | 'suffix'>
  readonly clock: Pick<Clock, 'now'>
  /** The name of the cookie. */
  readonly cookie: () => string
}): ConsoleSessions {
  // Only hashes are held, compared in constant time; the oldest go first when there are too many.
  const codes: Uint8Array[] = []
  let sessions: Held[] = []

  function end(held: readonly Held[]): void {
    for (const { end: ending, session } of held) {
      ending.abort()
      session.api.close().catch(() => {}) // its requests were aborted already
    }
    sessions = sessions.filter((one) => !held.includes(one))
  }

  function endOld(): void {
    const now = clock.now()
    end(sessions.filter(({ session, usedMs }) => now >= session.endsMs || now - usedMs >= IDLE_MS))
  }

  return {
    newCode: () => {
      const code = base64url(ids.bytes(18))
      codes.push(sha256(code))
      if (codes.length > MAX_CODES) codes.shift()
      return code
    },
    takeCode: (code) => {
      const hash = sha256(code)
      const at = codes.findIndex((known) => equalBytes(known, hash))
      if (at < 0) return false
      codes.splice(at, 1)
      return true
    },
    open: ({ endsMs, ...identity }) => {
      endOld()
      const value = base64url(ids.bytes(32))
      const ending = new AbortController()
      const now = clock.now()
      const session: ConsoleSession = {
        ...identity,
        id: ids.suffix(10),
        createdMs: now,
        endsMs: Math.min(now + SESSION_MS, endsMs ?? Infinity),
        ended: ending.signal,
      }
      sessions.push({ hash: sha256(value), session, end: ending, usedMs: now })
      const own = sessions.filter((held) => held.session.username === session.username)
      if (own.length > MAX_SESSIONS_OF_USER) end([own[0]!])
      if (sessions.length > MAX_SESSIONS) end([sessions[0]!])
      return value
    },
    find: (header) => {
      endOld()
      for (const value of cookieValues(header, cookie())) {
        const hash = sha256(value)
        const held = sessions.find((known) => equalBytes(known.hash, hash))
        if (!held) continue
        held.usedMs = clock.now()
        return held.session
      }
      return undefined
    },
    list: (own) =>
      sessions
        .filter(({ session }) => session.username === own.username)
        .map(({ session, usedMs }) => ({
          id: session.id,
          method: session.method,
          created: formatTime(session.createdMs),
          used: formatTime(usedMs),
          ends: formatTime(Math.min(session.endsMs, usedMs + IDLE_MS)),
          isThis: session.id === own.id,
        }))
        .toReversed(),
    revoke: (own, id) => {
      const found = sessions.filter(({ session }) => session.id === id && session.username === own.username)
      end(found)
      return found.length > 0
    },
    close: async () => {
      const all = sessions
      end(all)
      await Promise.all(all.map(({ session }) => session.api.close()))
    },
  }
}
