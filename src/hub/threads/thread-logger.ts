import { silentLogger } from '../../core/log.ts'
import type { Logger } from '../../core/log.ts'
import type { LogLevel } from '../logger.ts'

/** A logger of a thread; one that says nothing loads nothing. */
export async function createThreadLogger(level: LogLevel, fields: object): Promise<Logger> {
  if (level === 'silent') return silentLogger
  const { createLogger } = await import('../logger.ts')
  return createLogger(level, fields)
}
