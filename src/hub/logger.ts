import { destination, pino } from 'pino'
import type { Logger } from '../core/log.ts'

/** How much is logged. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** A pino logger to stderr, synchronous so that the last words of a dying process are heard. */
export function createLogger(level: LogLevel, fields: object = {}): Logger {
  return pino({ level, base: { ...fields } }, destination({ fd: 2, sync: true }))
}
