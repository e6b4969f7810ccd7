/** The newest lines of the agent's log in memory, for `flotilla agent logs`. */
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import { formatTime } from '../../core/time/time.ts'
import { LIMITS } from '../../wire/limits.ts'

/** A logger that keeps its newest lines. */
export interface LogTail {
  /** Writes every line to the underlying logger, and keeps lines of level info and above. */
  readonly log: Logger
  /** Oldest first. */
  lines(): string[]
}

// Secret values have a type that does not print. This pattern is for fields that another system named.
const PRIVATE = /secret|token|password|authorization|cookie|key$/i

/** Creates a log tail with as many lines as a report may have. */
export function createLogTail(under: Logger, clock: Pick<Clock, 'now'>): LogTail {
  const kept: string[] = []
  const keep = (level: string, message: string, fields: object): void => {
    kept.push(lineOf(`${formatTime(clock.now())} ${level} ${message}`, fields))
    if (kept.length > LIMITS.logLines) kept.shift()
  }
  const over = (logger: Logger, context: object): Logger => ({
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => {
      keep('info', message, { ...context, ...fields })
      logger.info(fields, message)
    },
    warn: (fields, message) => {
      keep('warn', message, { ...context, ...fields })
      logger.warn(fields, message)
    },
    error: (fields, message) => {
      keep('error', message, { ...context, ...fields })
      logger.error(fields, message)
    },
    child: (fields) => over(logger.child(fields), { ...context, ...fields }),
  })
  return { log: over(under, {}), lines: () => [...kept] }
}

/** A line of text with strings, numbers, Booleans and the messages of errors; objects are left out. */
function lineOf(begin: string, fields: object): string {
  const parts = Object.entries(fields).flatMap(([name, value]): string[] => {
    if (PRIVATE.test(name)) return []
    if (value instanceof Error) return [`${name}=${JSON.stringify(toError(value).message)}`]
    return ['string', 'number', 'boolean'].includes(typeof value) ? [`${name}=${JSON.stringify(value)}`] : []
  })
  return [begin, ...parts]
    .join(' ')
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, LIMITS.logLineChars)
}
