/** Exit codes of `backup` and `restore`. */
import { errorHints, Stalled } from '../../core/errors.ts'
import { CliError, EXIT } from './cli-error.ts'
import type { ExitCode } from './cli-error.ts'

/** By the reason of the error. Other errors exit with 1. */
const EXIT_CODES = new Map<string, ExitCode>([
  ['NoDatabase', EXIT.usage],
  ['NotEmpty', EXIT.usage],
  ['NoBackup', EXIT.notFound],
  ['KeysMissing', EXIT.usage],
])

/** Runs `work` and gives its errors the exit code of their reason. */
export async function withBackupErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (caught) {
    const exitCode = caught instanceof Stalled ? EXIT_CODES.get(caught.reason) : undefined
    if (!(caught instanceof Stalled) || exitCode === undefined) throw caught
    throw new CliError(exitCode, { what: caught.message, ...errorHints(caught) }, { cause: caught })
  }
}
