/** Runs the git program: argument arrays, a minimal environment, bounded output, and a time limit. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toError } from '../../core/errors.ts'

/** How git is found and which environment it inherits. */
export interface GitProgram {
  /** The directories with programs (PATH). */
  readonly path: string
  /** The home directory for git, created by `prepareGitHome`. */
  readonly home: string
  /** Proxy settings and similar variables by name. No other variable is inherited. */
  readonly environment?: Readonly<Record<string, string>>
  /** The ssh program. Defaults to `ssh`. */
  readonly ssh?: string
  /** Receives the process group of each run, and its end: ending a thread does not end its processes. */
  readonly noteProcess?: (group: number) => () => void
}

/** A run. */
export interface GitRun {
  readonly args: readonly string[]
  /** Configuration of this run. It is passed in the environment, which other users cannot read. */
  readonly config?: Readonly<Record<string, string>>
  /** Allowed transports. Defaults to none. */
  readonly protocols?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: string
  readonly maxOutput?: number
  /** Receives the output; without it the output is collected. */
  readonly onOutput?: (chunk: Uint8Array) => void | Promise<void>
  readonly signal: AbortSignal
}

/** A failed run, with the output of git. */
export class GitError extends Error {
  override readonly name = 'GitError'
  readonly stderr: string
  readonly code: number | null

  constructor(args: readonly string[], code: number | null, stderr: string) {
    super(`git ${args[0] ?? ''} ended with ${code ?? 'a signal'}: ${lastLine(stderr)}`)
    this.stderr = stderr
    this.code = code
  }
}

const MAX_OUTPUT = 16 * 1024 * 1024
const MAX_STDERR = 64 * 1024

/**
 * Settings of every run: no hooks, no helpers, no prompts, no background collection, no submodules. They are in a file,
 * because the git process that serves a local repository ignores the environment.
 */
const CONFIG = `# Written by Flotilla.
[core]
	hooksPath = /dev/null
	fsmonitor = false
	askPass =
[credential]
	helper =
[gc]
	auto = 0
[maintenance]
	auto = false
[fetch]
	recurseSubmodules = false
[submodule]
	recurse = false
[protocol]
	allow = never
[http]
	lowSpeedLimit = 1000
	lowSpeedTime = 20
[transfer]
	credentialsInUrl = die
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
# Local repositories are on an allow list of the hub; who owns them does not matter then.
[safe]
	directory = *
`

/** Creates the home directory for git. */
export async function prepareGitHome(home: string): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 })
  await writeFile(join(home, 'gitconfig'), CONFIG, { mode: 0o600 })
}

/** Runs git. Resolves with the output; rejects with GitError or the signal's reason. */
export async function runGit(program: GitProgram, run: GitRun): Promise<Uint8Array> {
  const { signal, args, maxOutput = MAX_OUTPUT } = run
  signal.throwIfAborted()
  const child = spawn('git', [...args], {
    cwd: program.home,
    env: environmentOf(program, run),
    // A process group of its own, so that helper processes end with it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // gone already
    }
  }
  const noteEnd = child.pid === undefined ? undefined : program.noteProcess?.(child.pid)
  let failure: Error | undefined
  const onAbort = (): void => {
    failure ??= toError(signal.reason)
    kill()
  }
  signal.addEventListener('abort', onAbort, { once: true })
  const exited = once(child, 'close') as Promise<[number | null]>
  exited.catch(() => {}) // awaited below
  child.stdin.on('error', () => {}) // a program that ended early does not read on
  child.stdin.end(run.input ?? '')
  try {
    const stderr = collectTail(child.stderr)
    const stdout = collect(child.stdout, run.onOutput, maxOutput).catch((caught: unknown) => {
      failure ??= toError(caught)
      kill()
      return new Uint8Array()
    })
    const [code] = await exited
    const output = await stdout
    if (failure) throw failure
    if (code !== 0) throw new GitError(args, code, await stderr)
    return output
  } finally {
    signal.removeEventListener('abort', onAbort)
    kill()
    noteEnd?.()
  }
}

function environmentOf(program: GitProgram, run: GitRun): Record<string, string> {
  const protocols = run.protocols ?? []
  const config = Object.entries(run.config ?? {})
  const environment: Record<string, string> = {
    ...program.environment,
    PATH: program.path,
    HOME: program.home,
    XDG_CONFIG_HOME: program.home,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: join(program.home, 'gitconfig'),
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_ALLOW_PROTOCOL: protocols.join(':'),
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_OPTIONAL_LOCKS: '0',
    ...run.environment,
    GIT_CONFIG_COUNT: String(config.length),
  }
  for (const [index, [key, value]] of config.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = key
    environment[`GIT_CONFIG_VALUE_${index}`] = value
  }
  return environment
}

async function collect(
  stream: AsyncIterable<Uint8Array>,
  onOutput: GitRun['onOutput'],
  maxOutput: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    if (onOutput) {
      await onOutput(chunk)
      continue
    }
    size += chunk.byteLength
    if (size > maxOutput) throw new RangeError(`the output of git is larger than ${maxOutput} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

async function collectTail(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let tail = ''
  for await (const chunk of stream) tail = (tail + Buffer.from(chunk).toString('utf8')).slice(-MAX_STDERR)
  return tail
}

/** The most useful line of git's output: the last line, without its prefix. */
export function lastLine(stderr: string): string {
  const lines = stderr
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const fatal = lines.findLast((line) => /^(fatal|error|remote|ssh|ERROR|Host key)/.test(line)) ?? lines.at(-1) ?? ''
  return fatal.replace(/^(fatal|error): /, '').slice(0, 300)
}
