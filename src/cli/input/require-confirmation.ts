import { CliError, EXIT } from '../errors/cli-error.ts'
import type { Terminal } from '../print/terminal.ts'

/** What a confirmation needs. */
export interface ConfirmationInput {
  readonly flags: { readonly yes?: boolean }
  readonly terminal: Pick<Terminal, 'isInteractive'>
  readonly confirm: (question: string) => Promise<boolean>
}

/** Asks the user to confirm a change, unless --yes is given. `what` is the change, as a clause. */
export async function requireConfirmation(
  what: string,
  { flags, terminal, confirm }: ConfirmationInput,
): Promise<void> {
  if (flags.yes) return
  if (!terminal.isInteractive) {
    throw new CliError(EXIT.usage, { what, why: 'stdin is not a terminal', todo: 'pass --yes to confirm' })
  }
  if (!(await confirm(`${what}. Continue?`))) throw new CliError(EXIT.usage, { what: 'cancelled; nothing was changed' })
}
