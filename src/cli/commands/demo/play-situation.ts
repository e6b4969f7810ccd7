/** `flotilla demo release|break|…`: plays a situation in a running demo. */
import { isObject } from '../../../core/json.ts'
import { postToSocket } from '../../api/local-socket.ts'
import type { CliEnvironment } from '../../config.ts'
import { readDemoState } from '../../api/demo-state.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

export interface DemoPlayInput {
  readonly terminal: Terminal
  readonly environment: Pick<CliEnvironment, 'demoStateFile'>
}

/** A situation with its target. */
export interface DemoPlay {
  readonly situation: string
  readonly target: string | undefined
  readonly undo: boolean
}

/** Plays a situation and prints commands that show its effect. */
export async function demoPlay(play: DemoPlay, { terminal, environment }: DemoPlayInput): Promise<void> {
  const demo = await readDemoState(environment.demoStateFile)
  if (!demo) {
    throw new CliError(EXIT.notFound, {
      where: environment.demoStateFile,
      what: 'no demo is running',
      todo: 'start a demo in another terminal with "flotilla demo"',
    })
  }
  const { status, text } = await postToSocket(demo.door, '/', JSON.stringify(play))
  const body: unknown = JSON.parse(text)
  if (!isObject(body) || status !== 200) {
    const why = isObject(body) ? String(body['refused']) : `answered with ${status}`
    throw new CliError(status === 409 ? EXIT.usage : EXIT.failed, {
      what: `demo ${play.situation}: ${why}`,
      todo: `see "flotilla demo ${play.situation} --help"`,
    })
  }
  if (typeof body['data'] === 'string') terminal.data(`${body['data']}\n`)
  terminal.step('ok', String(body['done']))
  const next = Array.isArray(body['next']) ? body['next'].map(String) : []
  for (const words of next) terminal.step('next', `flotilla ${words}`)
}
