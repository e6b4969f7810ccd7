/** How a command ends: its exit codes, and errors told in four lines. */

/** Exit codes; `flotilla help exit-codes` prints this table. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  forbidden: 4,
  conflict: 5,
  timeout: 8,
  interrupted: 130,
} as const

/** One of the exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** What each exit code means, for people. */
export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [EXIT.ok, 'done'],
  [EXIT.failed, 'failed'],
  [EXIT.usage, 'used wrongly, refused or cancelled'],
  [EXIT.notFound, 'not found'],
  [EXIT.forbidden, 'not signed in, or not allowed'],
  [EXIT.conflict, 'in conflict with somebody else, frozen, or waiting for an approval'],
  [EXIT.timeout, 'timed out while it was still going on'],
  [EXIT.interrupted, 'interrupted (Ctrl-C)'],
]

/** What a person needs to know about a failure; each part is one line. */
export interface ErrorReport {
  /** What failed. */
  readonly what: string
  /** On which object, file or address. */
  readonly where?: string
  /** The reason in the words of whoever refused. */
  readonly why?: string
  /** The command or change that helps. */
  readonly todo?: string
}

/** A failure that is already in words for the person at the terminal. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly trouble: ErrorReport
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, trouble: ErrorReport, options?: ErrorOptions) {
    super(trouble.what, options)
    this.exitCode = exitCode
    this.trouble = trouble
  }
}

/** The four lines of an error: what, where, why, what to do; parts that are not known are left out. */
export function formatErrorReport(trouble: ErrorReport): string {
  const lines = [`error: ${trouble.what}`]
  if (trouble.where) lines.push(`  where: ${oneLine(trouble.where)}`)
  if (trouble.why) lines.push(`  why:   ${oneLine(trouble.why)}`)
  if (trouble.todo) lines.push(`  do:    ${oneLine(trouble.todo)}`)
  return `${lines.join('\n')}\n`
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, '; ')
}
