import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { toError } from '../../core/errors.ts'

/** A free port, for an address that must be known before its listener starts. */
export async function freePort(host: string): Promise<number> {
  return await listenOnce(host, 0)
}

/** Why no program can listen on an address now; undefined if one can. */
export async function portProblem(host: string, port: number): Promise<string | undefined> {
  try {
    await listenOnce(host, port)
    return undefined
  } catch (caught) {
    const { code, message } = toError(caught) as NodeJS.ErrnoException
    return code === 'EADDRINUSE' ? 'in use' : message
  }
}

/** Listens for a moment; the port that was free. */
async function listenOnce(host: string, asked: number): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(asked, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}
