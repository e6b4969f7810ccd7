/**
 * Runs a tutorial as its reader would, from its Markdown.
 *
 *     ```console              `$ command`, then lines its output must have in order; … stands for any text, {name} for one word
 *     ```console background   the command goes on; the next step begins when it has said its lines
 *     ```console until        the command is repeated until it says its lines
 *     ```yaml FILE            what to write into FILE
 *
 * A `{name}` that an output showed is put in for `{name}` in later commands.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** One thing a reader does. */
export type Step =
  | { readonly kind: 'File'; readonly line: number; readonly file: string; readonly text: string }
  | {
      readonly kind: 'Command'
      readonly line: number
      readonly how: 'once' | 'background' | 'until'
      readonly command: string
      readonly expected: readonly string[]
    }

/** What to do, in order. */
export function stepsOf(markdown: string): readonly Step[] {
  const steps: Step[] = []
  const fences = markdown.matchAll(/^```(\S+)(?: (\S+))?\n([^]*?)^```$/gm)
  for (const { 0: whole, 1: language = '', 2: word, 3: text = '', index } of fences) {
    const line = markdown.slice(0, index).split('\n').length
    if (language === 'console') steps.push(...commandsOf(text, line, word))
    else if (word !== undefined) steps.push({ kind: 'File', line, file: word, text })
    else throw new Error(`line ${line}: a block that no reader can follow: ${whole.slice(0, 40)}`)
  }
  return steps
}

function commandsOf(text: string, line: number, how = 'once'): Step[] {
  if (how !== 'once' && how !== 'background' && how !== 'until') throw new Error(`line ${line}: console ${how}?`)
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...expected] = part.split('\n')
      return { kind: 'Command', line, how, command, expected: expected.filter((one) => one !== '') }
    })
}

/** Where and how steps are run. */
export interface Reader {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** How long a step may take. */
  readonly withinMs: number
  /** Called with what ends a command that goes on. */
  onBackground(stop: () => Promise<void>): void
}

/** Follows a tutorial; an error names the line and shows what was printed. */
export async function followTutorial(file: string, reader: Reader): Promise<number> {
  const steps = stepsOf(readFileSync(file, 'utf8'))
  const known = new Map<string, string>()
  for (const step of steps) {
    if (step.kind === 'File') {
      mkdirSync(dirname(join(reader.folder, step.file)), { recursive: true })
      writeFileSync(join(reader.folder, step.file), step.text)
      continue
    }
    const command = step.command.replaceAll(/\{(\w+)\}/g, (whole, name: string) => known.get(name) ?? whole)
    const pattern = patternOf(step.expected, known)
    const shown = await run({ ...step, command }, pattern, reader)
    for (const [name, value] of Object.entries(pattern.exec(shown)?.groups ?? {})) known.set(name, value)
  }
  return steps.length
}

type CommandStep = Extract<Step, { kind: 'Command' }>

async function run(step: CommandStep, pattern: RegExp, reader: Reader): Promise<string> {
  const until = performance.now() + reader.withinMs
  let last = ''
  for (;;) {
    const left = Math.max(1, until - performance.now())
    const { text, code } = await runOnce(step, pattern, { ...reader, withinMs: left })
    if (code !== undefined || last === '') last = text
    const isRight = pattern.test(text) && (code === 0 || code === undefined || step.how === 'until')
    if (isRight) return text
    if (step.how !== 'until' || performance.now() > until) {
      const ended = code === undefined ? 'still runs' : `ended with ${code}`
      throw new Error(
        `line ${step.line}: ${step.command}\n${ended} and did not say\n  ${step.expected.join('\n  ')}\nbut\n  ${last.replaceAll('\n', '\n  ')}`,
      )
    }
    await sleep(500)
  }
}

/** Environment goes from one command to the next, as in one terminal. */
async function runOnce(
  { command, how }: CommandStep,
  pattern: RegExp,
  { folder, env, withinMs, onBackground }: Reader,
): Promise<{ readonly text: string; readonly code: number | undefined }> {
  const kept = join(folder, '.environment')
  const script =
    how === 'background'
      ? `. "${kept}" 2>/dev/null; exec ${command}`
      : `. "${kept}" 2>/dev/null; ${command}\ncode=$?; export -p > "${kept}"; exit $code`
  const child = spawn('bash', ['-c', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const closed = new Promise<void>((done) => child.once('close', () => done()))
  const stop = async () => {
    try {
      process.kill(-child.pid!, 'SIGTERM')
    } catch {
      // gone already
    }
    await closed
  }
  let text = ''
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      void stop()
      resolve({ text, code: undefined })
    }, withinMs)
    const hear = (part: Buffer): void => {
      text += part.toString()
      if (how !== 'background' || !pattern.test(text)) return
      clearTimeout(timer)
      onBackground(stop)
      resolve({ text, code: undefined })
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('error', reject)
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ text, code: code ?? 1 })
    })
  })
}

/** Lines in order, with anything between them. */
function patternOf(expected: readonly string[], known: ReadonlyMap<string, string>): RegExp {
  const seen = new Set<string>()
  const lines = expected.map((line) =>
    line
      .trim()
      .split(/(…|\{\w+\}| +)/)
      .map((part) => {
        if (part === '…') return '.*'
        if (/^ +$/.test(part)) return ' +'
        const name = /^\{(\w+)\}$/.exec(part)?.[1]
        if (name === undefined) return RegExp.escape(part)
        if (known.has(name)) return RegExp.escape(known.get(name)!)
        if (seen.has(name)) return `\\k<${name}>`
        seen.add(name)
        return `(?<${name}>\\S+)`
      })
      .join(''),
  )
  return new RegExp(lines.map((line) => `^\\s*${line}\\s*$`).join('[^]*?'), 'm')
}
