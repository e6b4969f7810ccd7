/**
 * What the CLI prints, as golden text against the live demo; and each command it tells people to run works as printed.
 * FLOTILLA_GOLDEN=write writes the outputs in `golden/` anew: read the difference.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { test } from 'node:test'
import { readEnvironment } from '../../src/cli/config.ts'
import { runCli } from '../../src/cli/run.ts'
import { createTerminal } from '../../src/cli/print/terminal.ts'
import { eventually, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import { hintsIn, maskOf, recorded, tourSteps, wordsOf } from './transcript.ts'
import type { Printed } from './transcript.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const CHAPTERS = globSync(join(import.meta.dirname, 'golden/*.txt')).toSorted()
// A command that goes on is let go after it began.
const GOES_ON_MS = 1_500

/** A command that an output told to run, and whose output that was. */
type Hint = readonly [from: string, hint: string]

/** Done, interrupted by the test, a finding with its own exit code, or a question that needs a terminal. */
function isFine(command: string, { text, code }: Printed): boolean {
  if (code === 0 || code === 130) return true
  if (code === 2) return text.includes('--yes')
  // One approval is enough, and several outputs ask for it.
  if (code === 5) return text.includes('is already open')
  return code === 1 && /^bin\/flotilla (check|diff)\b/.test(command)
}

/** Runs `flotilla …` in this process: a hundred processes would be a minute of nothing but starting. */
async function runHere(args: readonly string[], state: string, signal: AbortSignal): Promise<Printed> {
  let text = ''
  const stream = { write: (part: string) => void (text += part), isTTY: false }
  const { PATH } = process.env
  const environment = readEnvironment({ PATH, LANG: 'C.UTF-8', INIT_CWD: ROOT, FLOTILLA_STATE_DIR: state })
  const code = await runCli(args, {
    environment,
    signal,
    stdin: (async function* () {})(),
    terminalFor: (color) => createTerminal({ stdout: stream, stderr: stream, stdinIsTTY: false, environment, color }),
  })
  return { text, code }
}

test('every chapter prints what it did, and what it says to run works', async (t) => {
  const state = temporaryFolder(t)
  const demo = startFlotilla(t, ['demo', '--clusters', '5'], { env: { FLOTILLA_STATE_DIR: state, INIT_CWD: ROOT } })
  const [said, kubeconfig = '', git = ''] = await demo.says(
    /^[^]*kubeconfig +(\S+)\n +git +(\S+)\n[^]*Try in another terminal:\n(.*\n){3}/,
  )
  const fleet = join(temporaryFolder(t), 'fleet')
  execFileSync('git', ['clone', '--quiet', git, fleet])
  process.chdir(fleet)
  const hub = kubeconfig.replace(/\/admin\.kubeconfig$/, '')
  const mask = maskOf({ HUB: hub, FLEET: fleet, STATE: state, GIT: git })
  const run = async (command: string, signal = AbortSignal.any([])): Promise<Printed> => {
    const [program = '', ...args] = wordsOf(command.replaceAll('$HUB', hub))
    if (basename(program) === 'flotilla') return await runHere(args, state, signal)
    return { text: execFileSync(program, args, { encoding: 'utf8' }), code: 0 }
  }

  const tried = new Set<string>()
  const tryOut = async ([from, hint]: Hint): Promise<void> => {
    if (tried.has(hint)) return
    tried.add(hint)
    const { text, code } = await run(hint, AbortSignal.timeout(GOES_ON_MS))
    assert.ok(isFine(hint, { text, code }), `${from} says to run\n  ${hint}\nwhich exits with ${code}:\n${text}`)
  }
  for (const file of CHAPTERS) {
    const golden = readFileSync(file, 'utf8')
    const lines: string[] = []
    const hints: Hint[] = []
    for (const step of tourSteps(golden)) {
      if (step.kind === 'Say') {
        lines.push(step.text)
      } else if (step.kind === 'Until') {
        const saw = async () => step.pattern.test((await run(step.command)).text) || undefined
        await eventually(`${step.command} ~ ${step.pattern.source}`, saw)
        lines.push(`? ${step.command} ~ ${step.pattern.source}`)
      } else {
        const printed = await run(step.command)
        lines.push(recorded(step.command, printed, mask))
        // What a hint of before told to do is done.
        if (isFine(`bin/${step.command}`, printed)) tried.add(`bin/${step.command}`)
        hints.push(...hintsIn(printed.text).map((hint): Hint => [step.command, hint]))
      }
    }
    const shown = `${lines.join('\n')}\n`
    if (process.env['FLOTILLA_GOLDEN'] === 'write') writeFileSync(file, shown)
    else assert.equal(shown, golden, `${basename(file)} differs; FLOTILLA_GOLDEN=write writes it anew`)
    for (const hint of hints) await tryOut(hint)
  }
  for (const hint of hintsIn(said)) await tryOut(['the demo', hint])
  assert.ok(tried.size > 25, [...tried].join('\n'))
  process.chdir(ROOT)
  assert.equal((await demo.stop('SIGINT')).code, 0)
})
