/** The newest lines of the agent's log, kept in memory so that somebody at the hub can ask for them. */
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import { formatTime } from '../../core/time/time.ts'
import { LIMITS } from '../../wire/limits.ts'

/** A logger that remembers. */
export interface LogTail {
  /** Says everything to the logger it was made over, and keeps what is not for debugging. */
  readonly log: Logger
  /** Oldest first. */
  lines(): string[]
}

// Secrets are a type that does not print; this is for words that others chose.
const PRIVATE = /secret|token|password|authorization|cookie|key$/i

/** Keeps as many lines as a report may carry. */
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

/** One line of text: only words, numbers and the message of an error, so that nothing large or nested leaves. */
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
