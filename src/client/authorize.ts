/** The authorization header of a connection. Tokens of pods are files that Kubernetes replaces before they expire. */
import { readFileSync } from 'node:fs'
import type { Clock } from '../core/time/clock.ts'
import { systemClock } from '../core/time/system-clock.ts'
import type { Connection } from './connection.ts'

/** A token is replaced long before it expires: reading it once a minute is early enough, as in client-go. */
const REREAD_MS = 60_000

type Headers = Readonly<Record<string, string>>

export interface AuthorizePorts {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly read: (file: string) => string
}

const PORTS: AuthorizePorts = { clock: systemClock, read: (file) => readFileSync(file, 'utf8') }

/** Adds the token of a connection to headers. While its file cannot be read, the last token stays. */
export function createAuthorize(
  { token, tokenFile }: Pick<Connection, 'token' | 'tokenFile'>,
  { clock, read }: AuthorizePorts = PORTS,
): (headers: Headers) => Headers {
  let current = token?.reveal()
  let readAt: number | undefined
  return (headers) => {
    const now = clock.monotonicMs()
    if (tokenFile !== undefined && (readAt === undefined || now - readAt >= REREAD_MS)) {
      readAt = now
      try {
        current = read(tokenFile).trim() || current
      } catch {
        // The file is being replaced, or the volume is gone: the server decides about the last token.
      }
    }
    return current === undefined ? headers : { ...headers, authorization: `Bearer ${current}` }
  }
}
