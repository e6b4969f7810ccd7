/** A Unix socket in the data directory, for its owner only, that returns a new sign-in address of the console. */
import { chmod, rm } from 'node:fs/promises'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import { createPlainServer } from '../http/plain-server.ts'

/** The socket's name in the hub's directory. */
export const CONSOLE_SOCKET = 'console.sock'

/** Opens the door at a path. A hub without one works as well, so what is in the way is only told. */
export async function openConsoleSocket(
  path: string,
  { signInUrl, log }: { readonly signInUrl: () => string; readonly log: Logger },
): Promise<{ close(): Promise<void> }> {
  const server = createPlainServer({
    name: 'console socket',
    log,
    answer(request, response, { path: asked }) {
      const isRight = request.method === 'POST' && asked === '/sign-in'
      response.writeHead(isRight ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
      response.end(isRight ? signInUrl() : 'not found')
    },
  })
  try {
    // That of a hub that was killed; the directory is held by this one.
    await rm(path, { force: true })
    await new Promise<void>((opened, failed) => {
      server.once('error', failed)
      server.listen(path, opened)
    })
    await chmod(path, 0o600)
  } catch (caught) {
    log.warn({ path, error: toError(caught).message }, 'flotilla hub sign-in will not work')
  }
  return {
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}
