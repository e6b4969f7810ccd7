// Tested by src/cli/commands/rollout/rollout.test.ts.
/** `flotilla rollout watch`: redraws the rollout on a terminal; prints one line for each change elsewhere. */
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { conditionOf, headLine, needsApproval, ringLines } from '../../print/print-rollout.ts'
import { withLocalTimes } from '../../print/print-time.ts'
import { exitCodeOf, namespaceOf, ROLLOUT, findRollout } from './rollout.ts'
import type { RolloutInput } from './rollout.ts'

export interface WatchInput extends RolloutInput {
  readonly flags: RolloutInput['flags'] & { readonly exitStatus?: boolean }
  readonly signal: AbortSignal
}

const ENDED: readonly (string | undefined)[] = ['Completed', 'Failed', 'Aborted', 'Superseded']
const RESUME_MS = 1000

/** Watches a rollout until it is completed, stopped or superseded. */
export async function rolloutWatch(name: string, input: WatchInput): Promise<ExitCode> {
  const { terminal, flags } = input
  const first = await findRollout(name, input)
  const draw = terminal.isLive ? liveDrawing(input) : lineDrawing(input)
  for await (const rollout of versionsOf(first, input)) {
    draw(rollout)
    if (ENDED.includes(rollout.status?.phase)) return flags.exitStatus ? exitCodeOf(rollout) : EXIT.ok
    // A script that waits for the outcome cannot approve the ring.
    if (flags.exitStatus && !terminal.isLive && needsApproval(rollout)) {
      const { name: called } = rollout.metadata
      terminal.step('next', `flotilla rollout approve ${called} -n ${namespaceOf(input)}`)
      return EXIT.conflict
    }
  }
  return EXIT.interrupted
}

/** Yields the versions of a rollout, beginning with `first`. A watch that ends is started again. */
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
          throw new CliError(EXIT.notFound, { what: `rollout "${name}" was deleted` })
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

/** The message of condition Held or Ready. */
function whyHeld(rollout: Rollout, { terminal }: WatchInput): string {
  const held = conditionOf(rollout, 'Held')
  const message = held?.status === 'True' ? held.message : conditionOf(rollout, 'Ready')?.message
  return terminal.command(withLocalTimes(message ?? ''))
}

/** Draws over the previous drawing. Lines are cut at the width, because wrapped lines could not be counted. */
function liveDrawing(input: WatchInput): (rollout: Rollout) => void {
  const { terminal } = input
  let drawn = 0
  return (rollout) => {
    const width = Math.max(20, terminal.columns - 1)
    const rings = ringLines(rollout, systemClock.now())
      .split('\n')
      .map((line) => [...line].slice(0, width).join(''))
    const shown = [...wrapped(headLine(rollout), width), ...rings, ...wrapped(whyHeld(rollout, input), width)]
    if (!ENDED.includes(rollout.status?.phase)) shown.push('Ctrl-C ends the watch only.'.slice(0, width))
    const back = drawn === 0 ? '' : `\u001b[${drawn}A\u001b[J`
    drawn = shown.length
    terminal.data(`${back}${shown.join('\n')}\n`)
  }
}

/** Wraps text at `width` characters, between words if possible. */
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

/** Prints a line when the phase, the counts of the current ring or the message change. */
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
