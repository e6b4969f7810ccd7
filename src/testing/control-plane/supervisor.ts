// A process between the tests and the servers they start. The tests may be killed at any moment; this one notices by
// its channel closing, ends every server and removes their files. It leads a process group of its own, so that nothing
// that ends the tests' group ends this one before its work is done.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, rmSync } from 'node:fs'

/** What the tests ask for. */
export type SupervisorRequest =
  | {
      readonly op: 'start'
      readonly id: number
      readonly command: string
      readonly args: readonly string[]
      readonly log: string
    }
  | { readonly op: 'kill'; readonly id: number }

/** What the supervisor tells: a server ended, by itself or because it was asked to. */
export interface SupervisorEvent {
  readonly id: number
  readonly code: number | null
}

/** Serves one test process until its channel closes; `dir` is the folder that goes with it. */
function supervise(dir: string): void {
  const children = new Map<number, ChildProcess>()
  const tell = (event: SupervisorEvent): void => {
    if (process.connected) process.send?.(event)
  }
  process.on('message', (request: SupervisorRequest) => {
    if (request.op === 'kill') {
      if (!children.get(request.id)?.kill('SIGKILL')) tell({ id: request.id, code: null })
      return
    }
    const log = openSync(request.log, 'a')
    // HOME: none of these servers may read or write the person's own configuration.
    const env = { PATH: process.env['PATH'], HOME: dir, TMPDIR: dir }
    const child = spawn(request.command, request.args, { cwd: dir, env, stdio: ['ignore', log, log] })
    closeSync(log)
    children.set(request.id, child)
    const ended = (code: number | null): void => {
      if (children.delete(request.id)) tell({ id: request.id, code })
    }
    child.on('error', () => ended(127))
    child.on('exit', ended)
  })
  process.on('disconnect', () => {
    for (const child of children.values()) child.kill('SIGKILL')
    const finish = (): void => {
      if (children.size > 0) return
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
      process.kill(-process.pid, 'SIGKILL') // whatever a server itself has started, and this process
    }
    for (const child of children.values()) child.on('exit', finish)
    finish()
  })
}

if (import.meta.main) supervise(process.argv[2]!)
