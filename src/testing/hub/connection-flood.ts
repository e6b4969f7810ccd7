/** Connections from several addresses of this machine, for tests of listeners whose connections are all taken. */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** Opens silent connections from one address, and waits until they are open. */
export async function openSilent(port: number, count: number, localAddress = '127.0.0.1'): Promise<readonly Socket[]> {
  const opening = Array.from({ length: count }, async () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.on('error', () => socket.destroy())
    await once(socket, 'connect')
    return socket
  })
  return await Promise.all(opening)
}
