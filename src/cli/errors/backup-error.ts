/** What went wrong with a backup, in the four lines of every other error. */
import { Stalled } from '../../core/errors.ts'
import { CliError, EXIT } from './cli-error.ts'
import type { ExitCode } from './cli-error.ts'

const WORDS: Readonly<Record<string, { readonly what: string; readonly todo: string; readonly exit: ExitCode }>> = {
  NoDatabase: {
    what: 'this is not the data directory of an embedded hub',
    todo: 'name the directory that the hub was started with: --data DIR',
    exit: EXIT.usage,
  },
  NotEmpty: {
    what: 'nothing is overwritten',
    todo: 'give a name that is not there yet',
    exit: EXIT.usage,
  },
  NoBackup: {
    what: 'there is no backup to read',
    todo: 'name the file that a backup was written into',
    exit: EXIT.notFound,
  },
  KeysMissing: {
    what: 'the keys of the hub are not there',
    todo: 'name the folder with them, DIR/keys of the hub that was backed up: --keys DIR',
    exit: EXIT.usage,
  },
  BackupDamaged: {
    what: 'the backup is not whole, or no backup',
    todo: 'use another one, and prove it with --drill before you need it',
    exit: EXIT.failed,
  },
}

/** Does something with these files and folders; what the hub's code refuses is told as what, where, why and what to do. */
export async function withBackupErrors<T>(paths: readonly (string | undefined)[], work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (caught) {
    const words = caught instanceof Stalled ? WORDS[caught.reason] : undefined
    if (!(caught instanceof Stalled) || !words) throw caught
    const { what, todo, exit } = words
    const where = paths.find((path) => path !== undefined && caught.message.startsWith(`${path} `))
    const why = reasonOf(caught.message, where ?? '')
    throw new CliError(exit, { what, ...(where === undefined ? {} : { where }), why, todo }, { cause: caught })
  }
}

/** The sentence without the file's name, which stands above, and without its advice, which stands below. */
function reasonOf(message: string, where: string): string {
  const [sentence = ''] = message.split(/; use another backup$|: (?:give|name) the /)
  return sentence.replace(`${where} `, 'it ')
}
