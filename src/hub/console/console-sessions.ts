/** Who may see the live page: a one-time code in the printed address is exchanged for a cookie. */
import { base64url, equalBytes, sha256 } from '../../core/bytes.ts'
import type { Ids } from '../../core/ids.ts'

/** Codes and cookies of one hub's page. */
export interface ConsoleSessions {
  /** A code for one sign-in. */
  newCode(): string
  /** The cookie's value for an unused code; undefined for anything else. */
  exchange(code: string): string | undefined
  /** Whether a Cookie header holds a session. */
  isSignedIn(cookieHeader: string | undefined): boolean
}

/** The cookie's name; one per port would need more, browsers share cookies between ports of a host. */
export const SESSION_COOKIE = 'flotilla_session'

const MAX_SESSIONS = 64
const MAX_CODES = 16

/** Makes the sessions of a page; they live as long as the hub's process. */
export function createConsoleSessions(ids: Pick<Ids, 'bytes'>): ConsoleSessions {
  // Only hashes are held, compared in constant time; the oldest go first when there are too many.
  const codes: Uint8Array[] = []
  const sessions: Uint8Array[] = []

  function remember(list: Uint8Array[], secret: string, max: number): string {
    list.push(sha256(secret))
    if (list.length > max) list.shift()
    return secret
  }

  function find(list: readonly Uint8Array[], secret: string): number {
    const hash = sha256(secret)
    return list.findIndex((known) => equalBytes(known, hash))
  }

  return {
    newCode: () => remember(codes, base64url(ids.bytes(18)), MAX_CODES),
    exchange: (code) => {
      const at = find(codes, code)
      if (at < 0) return undefined
      codes.splice(at, 1)
      return remember(sessions, base64url(ids.bytes(32)), MAX_SESSIONS)
    },
    isSignedIn: (header) =>
      (header ?? '')
        .split(';')
        .map((pair) => pair.trim().split('='))
        .some(([name, value]) => name === SESSION_COOKIE && value !== undefined && find(sessions, value) >= 0),
  }
}
