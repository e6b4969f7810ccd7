import { parseDuration } from '../../core/time/duration.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'

/** Milliseconds of a duration flag like `30m`, `24h` or `7d`. The duration must be positive. */
export function readDuration(text: string, flag: string): number {
  const days = /^(\d{1,5})d$/.exec(text)
  const ms = days ? Number(days[1]) * 24 * 3_600_000 : parseDuration(text)
  if (ms === undefined || ms <= 0) {
    throw new CliError(EXIT.usage, {
      what: `invalid ${flag} ${JSON.stringify(text)}: must be a duration such as 30m, 24h or 7d`,
    })
  }
  return ms
}
