import type { Logger } from '../../core/log.ts'
import type { ProcessBoundary } from './process-boundary.ts'
import type { History } from './history.ts'

/** What a simulated process's log is made of. */
export interface SimulatedLogOptions {
  readonly process: string
  readonly gate: ProcessBoundary
  readonly history: History
  /** A violated invariant is not something to log and go on from. */
  readonly failed: (error: Error) => void
}

/** A logger whose lines are part of the history; debug lines are not kept. */
export function simulatedLog(options: SimulatedLogOptions, bound: object = {}): Logger {
  const { process, gate, history, failed } = options

  function write(level: string, fields: object, message: string): void {
    if (!gate.alive()) return
    const { err, ...rest } = { ...bound, ...fields } as { err?: unknown }
    const error = err instanceof Error ? err : undefined
    history.record(`log ${process} ${level} ${message} ${JSON.stringify(rest)}${error ? ` ${error.message}` : ''}`)
    if (error && isViolation(error)) failed(error)
  }

  return {
    debug: () => {},
    info: (fields, message) => write('info', fields, message),
    warn: (fields, message) => write('warn', fields, message),
    error: (fields, message) => write('error', fields, message),
    child: (fields) => simulatedLog(options, { ...bound, ...fields }),
  }
}

function isViolation(error: Error): boolean {
  return error.message.startsWith('invariant violated') || error instanceof TypeError || error instanceof ReferenceError
}
