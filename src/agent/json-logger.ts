/** The agent's logger: one JSON object per line, nothing else; pino would cost the agent more memory than it saves work. */
import type { Clock } from '../core/time/clock.ts'
import { isObject } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import { formatMicroTime } from '../core/time/time.ts'

/** From the most to the least talkative. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** How much to say. */
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Makes a logger that writes lines. */
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

// An Error has no fields of its own in JSON: its name, words and cause are what a reader wants.
function plainError(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const code = isObject(value) && typeof value['code'] === 'string' ? { code: value['code'] } : {}
  return {
    name: value.name,
    message: value.message,
    ...code,
    ...(value.cause === undefined ? {} : { cause: value.cause }),
  }
}
