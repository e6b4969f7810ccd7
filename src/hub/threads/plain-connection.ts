/** Connections as plain data, for messages between threads: a Secret does not survive the journey, on purpose. */
import type { Connection } from '../../client/connection.ts'
import { Secret } from '../../core/secret.ts'

/** A Connection with its secrets open; only for starting a thread. */
export interface PlainConnection extends Omit<Connection, 'key' | 'token'> {
  readonly key?: string
  readonly token?: string
}

/** Opens a connection's secrets. */
export function plainConnection({ key, token, ...rest }: Connection): PlainConnection {
  return { ...rest, ...(key && { key: key.reveal() }), ...(token && { token: token.reveal() }) }
}

/** Closes them again. */
export function toConnection({ key, token, ...rest }: PlainConnection): Connection {
  return {
    ...rest,
    ...(key !== undefined && { key: new Secret(key) }),
    ...(token !== undefined && { token: new Secret(token) }),
  }
}
