// One command line of `helm template`, run by a real helm and by our own command, in a folder made for it.
import { execFile } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readEnvironment } from '../../cli/config.ts'
import { runCli } from '../../cli/run.ts'
import type { Terminal } from '../../cli/print/terminal.ts'
import { inParallel } from '../../core/async/in-parallel.ts'
import { fromGoBytes, goBytes } from '../../render/gotemplate/go-string.ts'
import type { HelmVersion } from '../../render/helm/profile.ts'
import { compareOutputs } from './compare.ts'
import type { RunOutput, Verdict } from './compare.ts'
import type { OddCommand } from './fuzz/odd-commands.ts'

/** What a command line gave; stdout as Latin-1, so that no byte is lost. */
export interface CommandOutput extends RunOutput {
  readonly code: number
  /** The files below `OUT`, each with its content. */
  readonly written: string
}

/** Makes the folder of a command; a name that cannot be is left out. */
function makeFolder({ files, links }: Pick<OddCommand, 'files' | 'links'>): string {
  const dir = mkdtempSync(join(tmpdir(), 'helm-command-'))
  for (const [name, content] of files) tryTo(dir, name, (path) => writeFileSync(path, content))
  for (const [name, target] of links) tryTo(dir, name, (path) => symlinkSync(target, path))
  for (const name of files.keys()) if (name.endsWith('.sh')) chmodSync(join(dir, name), 0o755)
  return dir
}

function tryTo(dir: string, name: string, write: (path: string) => void): void {
  try {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    write(join(dir, name))
  } catch (error) {
    // A file stands where a folder should be, or the other way round.
    if (!/^(?:EEXIST|EISDIR|ENOTDIR|EINVAL)$/.test((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** What is in `OUT` before a run, which the run before it took along. */
function makeOut({ files }: Pick<OddCommand, 'files'>, dir: string): void {
  for (const [name, content] of files) {
    if (name.startsWith('OUT/')) tryTo(dir, name, (path) => writeFileSync(path, content))
  }
}

/** Runs a helm binary in the folder; it sees nothing of this machine's own settings. */
async function runReal(binary: string, command: OddCommand, dir: string): Promise<CommandOutput> {
  const { args, stdin } = command
  makeOut(command, dir)
  const env = { PATH: process.env['PATH'], HOME: join(dir, 'home'), KUBECONFIG: join(dir, 'home/none') }
  return await new Promise((resolve) => {
    const options = { cwd: dir, env, encoding: 'buffer' as const, maxBuffer: 1 << 27, timeout: 120_000 }
    const child = execFile(binary, ['template', ...args], options, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : 1) : 0
      resolve({ ...outcome(stdout, stderr, code), written: takeWritten(dir) })
    })
    child.stdin?.on('error', () => {}) // a helm that does not read its input
    child.stdin?.end(stdin)
  })
}

function outcome(stdout: Uint8Array, stderr: Uint8Array, code: number): Omit<CommandOutput, 'written'> {
  // In an error, bytes that are no letters are replaced, as a terminal does; with --debug Helm 3 also tells where it
  // was.
  const said = new TextDecoder().decode(stderr).replace(/^helm\.go:\d+: [^]*/m, '')
  return { stdout: Buffer.from(stdout).toString('latin1'), stderr: said, code, failed: code !== 0 }
}

/** Runs our command in the folder; this process works there meanwhile, so that only one runs at a time. */
async function runOurs(version: HelmVersion, command: OddCommand, dir: string): Promise<CommandOutput> {
  const { args, stdin } = command
  makeOut(command, dir)
  let [out, err] = ['', '']
  const terminal = {
    data: (text: string) => void (out += text),
    say: (text: string) => void (err += `${text}\n`),
  } as unknown as Terminal
  const home = process.cwd()
  process.chdir(dir)
  try {
    const code = await runCli(['template', '--helm', version === 'helm3' ? '3' : '4', ...args], {
      environment: readEnvironment({ PATH: process.env['PATH'] }),
      signal: new AbortController().signal,
      stdin: (async function* () {
        yield Buffer.from(stdin)
      })(),
      terminalFor: () => terminal,
      writeBytes: (bytes) => void (out += fromGoBytes(bytes)),
    })
    return { ...outcome(goBytes(out), goBytes(err), code), written: takeWritten(dir) }
  } finally {
    process.chdir(home)
  }
}

/** What was written into `OUT`, which is gone then; as Latin-1, so that no byte is lost. */
export function takeWritten(dir: string): string {
  const folder = join(dir, 'OUT')
  if (!lstatSync(folder, { throwIfNoEntry: false })) return ''
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  const files = names.filter((name) => lstatSync(join(folder, name)).isFile())
  const text = files.map((name) => `${name}\n${readFileSync(join(folder, name), 'latin1')}`).join('')
  rmSync(folder, { recursive: true })
  return text
}

/** How both compare; `own words` is a refusal of ours that helm shares, told in another way. */
export interface CommandVerdict {
  readonly kind: Verdict['kind'] | 'own words' | 'helm died'
  readonly detail?: string
}

/** With some values helm's output hangs on the order in which Go walks a map: one of its outputs has to be ours. */
const ASKED_AT_MOST = 10

/** Who is compared with whom. */
export interface Judged {
  readonly version: HelmVersion
  readonly binary: string
}

const AT_ONCE = 4

/** Runs commands with both, and gives back what differs, each with its name; `tell` hears every verdict. */
export async function differences(
  commands: Iterable<readonly [name: string, command: OddCommand]>,
  judged: Judged,
  tell: (name: string, verdict: CommandVerdict) => void = () => {},
): Promise<string[]> {
  const different: string[] = []
  const alone = oneAtATime()
  await inParallel(commands, AT_ONCE, async ([name, command]) => {
    const verdict = await judgeCommand(command, judged, alone)
    tell(name, verdict)
    if (!AGREED.has(verdict.kind)) different.push(`${name}: ${verdict.kind} ${verdict.detail ?? ''}`)
  })
  return different
}

/** Runs a command with both and compares what they print, say and write, and how they end. */
async function judgeCommand(command: OddCommand, { version, binary }: Judged, alone: Alone): Promise<CommandVerdict> {
  const dir = makeFolder(command)
  try {
    const first = await runReal(binary, command, dir)
    const mine = await alone(async () => await runOurs(version, command, dir))
    let verdict = compareCommands(first, first, mine)
    for (let asked = 1; asked < ASKED_AT_MOST && !AGREED.has(verdict.kind); asked++) {
      verdict = compareCommands(first, await runReal(binary, command, dir), mine)
    }
    return verdict
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Lets one at a time do something. */
type Alone = <T>(work: () => Promise<T>) => Promise<T>

function oneAtATime(): Alone {
  let last: Promise<unknown> = Promise.resolve()
  return async (work) => {
    const mine = last.then(work, work)
    last = mine.catch(() => {})
    return await mine
  }
}

/** Verdicts that are no difference. */
const AGREED: ReadonlySet<CommandVerdict['kind']> = new Set([
  'identical',
  'random masked',
  'error on both',
  'own words',
  'helm died',
])

function compareCommands(first: CommandOutput, second: CommandOutput, mine: CommandOutput): CommandVerdict {
  if (/^(?:panic|fatal error|runtime): /m.test(first.stderr)) {
    return mine.failed ? { kind: 'helm died' } : { kind: 'one errors', detail: first.stderr.slice(0, 500) }
  }
  if (first.failed && mine.failed && first.code !== mine.code) {
    return { kind: 'different', detail: `status ${first.code}, ours is ${mine.code}: ${mine.stderr}` }
  }
  if (first.failed && mine.failed && /^error: /m.test(mine.stderr)) {
    return { kind: 'own words', detail: `helm: ${first.stderr}ours: ${mine.stderr}` }
  }
  const verdict = compareOutputs(first, second, mine)
  if (!AGREED.has(verdict.kind)) return verdict
  if (first.failed && inNoOrder(first.stdout) !== inNoOrder(mine.stdout)) {
    return { kind: 'different', detail: `with the error\n- ${first.stdout}\n+ ${mine.stdout}` }
  }
  if (first.written !== mine.written && second.written !== mine.written) {
    return { kind: 'different', detail: `written\n- ${first.written}\n+ ${mine.written}` }
  }
  return verdict
}

/** What helm prints before an error comes in random order, and loses the space at its end. */
function inNoOrder(text: string): string {
  const documents = text.split(/^---\n/m).map((document) => document.trimEnd())
  return documents.sort().join('---\n')
}
