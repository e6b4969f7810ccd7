/** The CLI as a process: what it says, how it ends, and nothing left of it afterwards. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts')

/** Listeners of a hub on ports that are free. */
export const FREE = [
  '--listen',
  '127.0.0.1:0',
  '--gateway-listen',
  '127.0.0.1:0',
  '--console-listen',
  '127.0.0.1:0',
] as const

/** A folder that cannot be created, not even by root. */
export const NO_FOLDER = '/dev/null/state'

/** How a process ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A running `flotilla …`. */
export interface FlotillaProcess {
  readonly pid: number
  /** Resolves with the match when stdout has it; rejects when the process ends without. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  /** Its log and whatever else it said on stderr so far. */
  logged(): string
  readonly ended: Promise<Ended>
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

/** How to start one. */
export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** What is run instead of the clone's CLI. */
  readonly program?: string
}

/** Something that runs functions at the end; a test context fits. */
export interface Cleanup {
  after(fn: () => void | Promise<void>): void
}

/** Ends what was begun last first, for it may still use what was there before. */
export function lastFirst(t: Cleanup): Cleanup {
  const ends: (() => void | Promise<void>)[] = []
  t.after(async () => {
    for (const end of ends.toReversed()) await end()
  })
  return { after: (end) => void ends.push(end) }
}

/** A folder that goes with the test. */
export function temporaryFolder(t: Cleanup): string {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-e2e-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts `flotilla …` without any kubeconfig or demo of the machine it runs on. */
export function startFlotilla(t: Cleanup, args: readonly string[], options: StartOptions = {}): FlotillaProcess {
  const fixed = { LANG: 'C.UTF-8', LC_ALL: '', NO_COLOR: '', FLOTILLA_STATE_DIR: NO_FOLDER }
  const env = { ...process.env, ...fixed, ...options.env }
  for (const name of ['KUBECONFIG', 'FLOTILLA_KUBECONFIG', 'NODE_TEST_CONTEXT']) {
    if (options.env?.[name] === undefined) delete (env as Record<string, string | undefined>)[name]
  }
  const [program, ...first] = options.program === undefined ? [process.execPath, MAIN] : [options.program]
  const child = spawn(program, [...first, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(options.input ?? '')
  t.after(() => void child.kill('SIGKILL'))
  return follow(child, args)
}

/** Runs `flotilla …` to its end. */
export async function runFlotilla(t: Cleanup, args: readonly string[], options: StartOptions = {}): Promise<Ended> {
  return await startFlotilla(t, args, options).ended
}

function follow(child: ChildProcess, args: readonly string[]): FlotillaProcess {
  let stdout = ''
  let stderr = ''
  const listeners = new Set<() => void>()
  const hear = (): void => {
    for (const listener of listeners) listener()
  }
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    hear()
  })
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<Ended>((done) => {
    child.on('close', (code, signal) => {
      done({ code, signal, stdout, stderr })
      hear()
    })
  })
  return {
    pid: child.pid!,
    ended,
    logged: () => stderr,
    says: (pattern) =>
      new Promise((found, reject) => {
        const look = (): void => {
          const match = pattern.exec(stdout)
          if (!match && child.exitCode === null && child.signalCode === null) return
          listeners.delete(look)
          if (match) found(match)
          else reject(new Error(`flotilla ${args.join(' ')} ended without ${String(pattern)}:\n${stdout}\n${stderr}`))
        }
        listeners.add(look)
        look()
      }),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      return await ended
    },
  }
}

const WITHIN_MS = 120_000
const AGAIN_MS = 300

/** What a look finds in the end. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined>,
  withinMs: number = WITHIN_MS,
): Promise<T> {
  const end = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`${what} did not happen within ${withinMs / 1000} s`)
    await sleep(AGAIN_MS)
  }
}
