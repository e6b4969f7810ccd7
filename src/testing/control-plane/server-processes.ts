// Servers for tests that cannot outlive them: started through a supervisor, one per test process.
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SupervisorEvent, SupervisorRequest } from './supervisor.ts'

/** A server that runs until it is killed or its test process ends. */
export interface Server {
  readonly name: string
  /** Whether it still runs. */
  alive(): boolean
  /** The last lines it wrote, for messages. */
  log(): string
  /** Ends it at once and resolves when it is gone. */
  kill(): Promise<void>
}

/** The servers of this test process and the folder they share. */
export interface Servers {
  readonly dir: string
  /** The process group of all servers. */
  readonly group: number
  start(name: string, command: string, args: readonly string[]): Server
}

const LOG_LINES = 15

let shared: Servers | undefined

/** The servers of this test process. */
export function servers(): Servers {
  shared ??= superviseServers()
  return shared
}

function superviseServers(): Servers {
  const dir = mkdtempSync(join(tmpdir(), 'flotilla-servers-'))
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const supervisor = fork(join(import.meta.dirname, 'supervisor.ts'), [dir], {
    detached: true,
    env,
    execArgv: [], // not the flags of the test runner
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  if (supervisor.pid === undefined) throw new Error('the supervisor of test servers could not be started')
  // Servers must not keep a finished test process alive.
  supervisor.unref()
  supervisor.channel?.unref()
  const onEnd = new Map<number, () => void>()
  supervisor.on('message', (event: SupervisorEvent) => onEnd.get(event.id)?.())
  let nextId = 0
  return {
    dir,
    group: supervisor.pid,
    start(name, command, args) {
      const id = nextId++
      const log = join(dir, `${id}-${name}.log`)
      const ended = Promise.withResolvers<void>()
      let running = true
      onEnd.set(id, () => {
        running = false
        ended.resolve()
      })
      ask(supervisor, { op: 'start', id, command, args, log })
      return {
        name,
        alive: () => running,
        log: () => lastLines(log),
        async kill() {
          if (!running) return
          ask(supervisor, { op: 'kill', id })
          supervisor.channel?.ref()
          await ended.promise
          supervisor.channel?.unref()
        },
      }
    },
  }
}

function ask(supervisor: ChildProcess, request: SupervisorRequest): void {
  supervisor.send(request)
}

/** A free port of this machine. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port'))))
    })
  })
}

function lastLines(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n')
  } catch {
    return ''
  }
}
