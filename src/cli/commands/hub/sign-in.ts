/** `flotilla hub sign-in`: a new address of the console of a local hub. */
import { join } from 'node:path'
import { postToSocket } from '../../api/local-socket.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

const NO_LISTENER = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR'])

/** Prints the address. Only users with access to the data directory of the hub can get one. */
export async function hubSignIn(data: string, { terminal }: { readonly terminal: Terminal }): Promise<void> {
  const { CONSOLE_SOCKET } = await import('../../../hub/console/console-socket.ts')
  const { status, text } = await postToSocket(join(data, CONSOLE_SOCKET), '/sign-in').catch((cause: unknown) => {
    const { code = '' } = cause as NodeJS.ErrnoException
    if (code === 'EACCES') {
      const todo = 'run the command as the user of the hub'
      throw new CliError(EXIT.forbidden, { where: data, what: 'permission denied', todo })
    }
    if (!NO_LISTENER.has(code)) throw cause
    const todo = `start a hub with "flotilla hub run --data ${data}"`
    throw new CliError(EXIT.notFound, { where: data, what: 'no hub runs with this data directory', todo }, { cause })
  })
  if (status !== 200) throw new Error(`the hub answered with ${status}: ${text}`)
  terminal.data(`${text}\n`)
  terminal.step('ok', 'the address signs in one browser, once')
}
