/** The agent's logger: one JSON object per line. pino would cost the agent more memory than it saves work. */
import { compact } from '../core/compact.ts'
import type { Clock } from '../core/time/clock.ts'
import { isObject } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import { formatMicroTime } from '../core/time/time.ts'

/** Log levels, from the most to the fewest lines. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** The lowest level that is written. */
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Creates a logger that writes lines. */
export function createJsonLogger(options: {
  readonly write: (line: string) => void
  readonly clock: Clock
  readonly level: LogLevel
}): Logger {
  const { write, clock } = options
  const lowest = LOG_LEVELS.indexOf(options.level)
  const loggerWith = (context: object): Logger => {
    const at = (level: LogLevel) => (fields: object, message: string) => {
      if (LOG_LEVELS.indexOf(level) < lowest) return
      write(
        `${JSON.stringify({ time: formatMicroTime(clock.now()), level, ...context, ...fields, msg: message }, plainError)}\n`,
      )
    }
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => loggerWith({ ...context, ...fields }),
    }
  }
  return loggerWith({})
}

// JSON.stringify writes an Error as {}: name, message, code and cause are written instead.
function plainError(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const code = isObject(value) && typeof value['code'] === 'string' ? { code: value['code'] } : {}
  return {
    name: value.name,
    message: value.message,
    ...code,
    ...compact({ cause: value.cause }),
  }
}
