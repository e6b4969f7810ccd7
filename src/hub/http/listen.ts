import type { Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { ListenAddress } from './listen-address.ts'

/** A listener that takes connections. */
export interface Listening {
  readonly port: number
  /** Ends open connections too. */
  close(): Promise<void>
}

/** Makes a server listen; rejects when the address is taken. */
export async function listenOn(server: Server | TlsServer, { host, port }: ListenAddress): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
