/** `flotilla hub sign-in`: a new address of the live page, from the hub that holds a directory. */
import { join } from 'node:path'
import { postToSocket } from '../../api/local-socket.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

const NOBODY = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR'])

/** Prints the address; only who may enter the hub's directory gets one. */
export async function hubSignIn(data: string, { terminal }: { readonly terminal: Terminal }): Promise<void> {
  const { CONSOLE_SOCKET: CONSOLE_DOOR } = await import('../../../hub/console/console-socket.ts')
  const { status, text } = await postToSocket(join(data, CONSOLE_DOOR), '/sign-in').catch((cause: unknown) => {
    const { code = '' } = cause as NodeJS.ErrnoException
    if (code === 'EACCES') {
      const todo = 'run this as the user that runs the hub'
      throw new CliError(EXIT.forbidden, { what: 'this directory belongs to somebody else', where: data, todo })
    }
    if (!NOBODY.has(code)) throw cause
    const todo = `start one: flotilla hub run --data ${data}`
    throw new CliError(EXIT.notFound, { what: 'no hub runs with this directory', where: data, todo }, { cause })
  })
  if (status !== 200) throw new Error(`the hub answered with ${status}: ${text}`)
  terminal.data(`${text}\n`)
  terminal.step('ok', 'signs one browser in, once')
}
