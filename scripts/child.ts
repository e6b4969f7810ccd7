// Child processes of the project's scripts: each in a process group of its own, ended with the script that started it.
import { spawn, type ChildProcess } from 'node:child_process'
import { constants } from 'node:os'

/** How a child ended and what it said (stdout and stderr in the order they came). */
export interface Ended {
  readonly code: number
  readonly output: string
  /** Whether it was ended because its deadline passed. */
  readonly late: boolean
}

/** Where and how a child runs. */
export interface ChildOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Gets each piece of output as it comes; without it the output is only collected. */
  readonly onOutput?: ((text: string) => void) | undefined
  /** After this long the child's whole group is ended. */
  readonly deadlineMs?: number
}

const running = new Set<ChildProcess>()
const NEVER_MS = 2 ** 31 - 1
const SAME_SIGNAL_MS = 500
const PATIENCE_MS = 5000

/** Runs a command to its end; a command that cannot be started ends with code 127. */
export function run(command: string, args: readonly string[], options: ChildOptions = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    let output = ''
    let late = false
    const deadline = setTimeout(() => {
      late = true
      endGroup(child, 'SIGKILL')
    }, options.deadlineMs ?? NEVER_MS)
    const take = (text: string): void => {
      output += text
      options.onOutput?.(text)
    }
    child.stdout.setEncoding('utf8').on('data', take)
    child.stderr.setEncoding('utf8').on('data', take)
    child.on('error', (error) => {
      running.delete(child)
      clearTimeout(deadline)
      resolve({ code: 127, output: output + error.message, late })
    })
    child.on('close', (code, signal) => {
      running.delete(child)
      clearTimeout(deadline)
      resolve({ code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), output, late })
    })
  })
}

/**
 * Ends every child's whole group with this script; a second Ctrl-C ends them at once. `then` cleans up before the exit.
 */
export function endChildrenWithScript(then: () => void = () => {}): void {
  const endAll = (signal: NodeJS.Signals): void => {
    for (const child of running) endGroup(child, signal)
  }
  let stoppingSince: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const exit = (): never => {
        endAll('SIGKILL')
        then()
        process.exit(128 + constants.signals[signal])
      }
      if (stoppingSince !== undefined) {
        // One Ctrl-C comes up to three times: from the terminal, from npm and from the bootstrap of older Nodes.
        if (performance.now() - stoppingSince > SAME_SIGNAL_MS) exit()
        return
      }
      stoppingSince = performance.now()
      endAll('SIGTERM')
      setTimeout(exit, PATIENCE_MS)
      setInterval(() => running.size === 0 && exit(), 20)
    })
  }
  process.on('exit', () => endAll('SIGKILL'))
}

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  } catch {
    // already gone
  }
}
