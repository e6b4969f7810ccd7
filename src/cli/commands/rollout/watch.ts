/** `flotilla rollout watch`: a rollout as it moves; redrawn in place on a terminal, a line for each change otherwise. */
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { conditionOf, headLine, needsApproval, ringLines } from '../../print/print-rollout.ts'
import { exitCodeOf, namespaceOf, ROLLOUT, findRollout } from './rollout.ts'
import type { RolloutInput } from './rollout.ts'

/** What the command works with. */
export interface WatchInput extends RolloutInput {
  readonly flags: RolloutInput['flags'] & { readonly exitStatus?: boolean }
  readonly signal: AbortSignal
}

const ENDED: readonly (string | undefined)[] = ['Completed', 'Failed', 'Aborted', 'Superseded']
const RESUME_MS = 1000

/** Follows a rollout, or a bundle's newest one, until it is through, stopped or taken over. */
export async function rolloutWatch(name: string, input: WatchInput): Promise<ExitCode> {
  const { terminal, flags } = input
  const first = await findRollout(name, input)
  const draw = terminal.isLive ? liveDrawing(input) : lineDrawing(input)
  for await (const rollout of versionsOf(first, input)) {
    draw(rollout)
    if (ENDED.includes(rollout.status?.phase)) return flags.exitStatus ? exitCodeOf(rollout) : EXIT.ok
    // A script that asks for the outcome cannot give the answer that is waited for.
    if (flags.exitStatus && !terminal.isLive && needsApproval(rollout)) {
      const { name: called } = rollout.metadata
      terminal.step('next', `flotilla rollout approve ${called} -n ${namespaceOf(input)}`)
      return EXIT.conflict
    }
  }
  return EXIT.interrupted
}

/** Every version the API shows, the one at hand first; a watch that ends is begun again. */
async function* versionsOf(first: Rollout, { connection, signal }: WatchInput): AsyncIterable<Rollout> {
  const client = clientOver(connection.rest)
  const { name, namespace = '' } = first.metadata
  let current = first
  yield current
  while (!signal.aborted) {
    const { resourceVersion = '' } = current.metadata
    try {
      const options = { namespace, fieldSelector: `metadata.name=${name}`, resourceVersion }
      for await (const event of client.watch(ROLLOUT, options, signal)) {
        if (event.type === 'BOOKMARK') continue
        if (event.type === 'DELETED') {
          throw new CliError(EXIT.notFound, { what: `rollout ${name} was deleted while it was watched` })
        }
        current = event.object
        yield current
      }
    } catch (caught) {
      if (signal.aborted) return
      if (!isApiError(caught, 'Expired')) throw caught
    }
    await systemClock.sleep(RESUME_MS, signal).catch(() => {}) // aborted: the loop ends
    if (signal.aborted) return
    const now = await client.get(ROLLOUT, { name, namespace }, signal)
    if (now.metadata.resourceVersion !== resourceVersion) yield (current = now)
  }
}

/** Why it is where it is, with commands as this person would type them. */
function whyHeld(rollout: Rollout, { terminal }: WatchInput): string {
  const held = conditionOf(rollout, 'Held')
  return terminal.command((held?.status === 'True' ? held.message : conditionOf(rollout, 'Ready')?.message) ?? '')
}

/** Draws over what it drew before; lines never wrap, so that it knows how many they are. */
function liveDrawing(input: WatchInput): (rollout: Rollout) => void {
  const { terminal } = input
  let drawn = 0
  return (rollout) => {
    const width = Math.max(20, terminal.columns - 1)
    const rings = ringLines(rollout)
      .split('\n')
      .map((line) => [...line].slice(0, width).join(''))
    const shown = [...wrapped(headLine(rollout), width), ...rings, ...wrapped(whyHeld(rollout, input), width)]
    if (!ENDED.includes(rollout.status?.phase)) shown.push('Ctrl-C leaves; it goes on.'.slice(0, width))
    const back = drawn === 0 ? '' : `\u001b[${drawn}A\u001b[J`
    drawn = shown.length
    terminal.data(`${back}${shown.join('\n')}\n`)
  }
}

/** A sentence in lines of at most so many characters, broken between words where that is possible. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (let rest = text; rest !== '';) {
    const at = rest.length <= width ? rest.length : rest.lastIndexOf(' ', width)
    const end = at <= 0 ? width : at
    lines.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(end).trimStart()
  }
  return lines
}

/** One line for each change of what a person would tell: phase, numbers of the moving ring, why it waits. */
function lineDrawing(input: WatchInput): (rollout: Rollout) => void {
  let before = ''
  return (rollout) => {
    const { status } = rollout
    const at = rollout.spec.rings.findIndex(({ name }) => name === status?.ring)
    const ring = status?.rings?.[at]
    const moving = ring
      ? `ring ${at + 1}/${rollout.spec.rings.length} ${ring.name} ${ring.ready ?? 0}/${ring.members ?? 0}`
      : ''
    const parts = [status?.phase ?? 'Pending', moving, whyHeld(rollout, input)]
    const line = parts.filter((part) => part !== '').join('  ')
    if (line !== before) input.terminal.data(`${line}\n`)
    before = line
  }
}
