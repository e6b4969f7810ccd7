import { CliError, EXIT } from '../errors/cli-error.ts'
import type { Terminal } from '../print/terminal.ts'

/** What a command needs to ask. */
export interface ConfirmationInput {
  readonly flags: { readonly yes?: boolean }
  readonly terminal: Pick<Terminal, 'isInteractive'>
  readonly confirm: (question: string) => Promise<boolean>
}

/** Says what is about to happen and goes on only when a person agrees, now or with --yes. */
export async function requireConfirmation(
  what: string,
  { flags, terminal, confirm }: ConfirmationInput,
): Promise<void> {
  if (flags.yes) return
  if (!terminal.isInteractive) {
    throw new CliError(EXIT.usage, { what, why: 'nobody can be asked', todo: 'say --yes if you mean it' })
  }
  if (!(await confirm(`${what}. Go on?`))) throw new CliError(EXIT.usage, { what: 'cancelled; nothing was changed' })
}
