/** `flotilla demo release|break|…`: plays a situation in the demo that runs. */
import { isObject } from '../../../core/json.ts'
import { postToSocket } from '../../api/local-socket.ts'
import type { CliEnvironment } from '../../config.ts'
import { readDemoState } from '../../api/demo-state.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

/** What a play works with. */
export interface DemoPlayInput {
  readonly terminal: Terminal
  readonly environment: Pick<CliEnvironment, 'demoStateFile'>
}

/** A situation, where it happens, and whether it ends. */
export interface DemoPlay {
  readonly situation: string
  readonly target: string | undefined
  readonly undo: boolean
}

/** Asks the running demo for a situation, and says how to look at it. */
export async function demoPlay(play: DemoPlay, { terminal, environment }: DemoPlayInput): Promise<void> {
  const demo = await readDemoState(environment.demoStateFile)
  if (!demo) {
    throw new CliError(EXIT.notFound, {
      what: 'no demo is running here',
      where: environment.demoStateFile,
      todo: `start one in another terminal: flotilla demo`,
    })
  }
  const { status, text } = await postToSocket(demo.door, '/', JSON.stringify(play))
  const body: unknown = JSON.parse(text)
  if (!isObject(body) || status !== 200) {
    const why = isObject(body) ? String(body['refused']) : `answered with ${status}`
    throw new CliError(status === 409 ? EXIT.usage : EXIT.failed, {
      what: `demo ${play.situation}: ${why}`,
      todo: `see what can be played: flotilla demo ${play.situation} --help`,
    })
  }
  if (typeof body['data'] === 'string') terminal.data(`${body['data']}\n`)
  terminal.step('ok', String(body['done']))
  const next = Array.isArray(body['next']) ? body['next'].map(String) : []
  for (const words of next) terminal.step('next', `flotilla ${words}`)
}
