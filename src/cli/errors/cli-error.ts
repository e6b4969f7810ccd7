/** How a command ends: exit codes, and the two lines of an error. */

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

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The meaning of each exit code, as the help prints it. */
export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [EXIT.ok, 'success'],
  [EXIT.failed, 'failure'],
  [EXIT.usage, 'wrong usage, refused or cancelled'],
  [EXIT.notFound, 'not found'],
  [EXIT.forbidden, 'not authenticated or not allowed'],
  [EXIT.conflict, 'conflict with another change, frozen, or waiting for an approval'],
  [EXIT.timeout, 'timeout, or still in progress'],
  [EXIT.interrupted, 'interrupted (Ctrl-C)'],
]

/**
 * An error as data. `formatErrorReport` prints it as two lines:
 *
 *     error: /etc/hub.yaml: cannot read the file: permission denied
 *     hint: run the command as the user of the hub
 *
 * with `where` "/etc/hub.yaml", `what` "cannot read the file", `why` "permission denied" and the hint as `todo`.
 */
export interface ErrorReport {
  /** The failure, in lower case and without a full stop. */
  readonly what: string
  /** The object, file or address of the failure. */
  readonly where?: string
  /** The cause, often in the words of the program that reported it. */
  readonly why?: string
  /** The command or change that helps. */
  readonly todo?: string
}

/** An error that a command reports in its final words and with its own exit code. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly report: ErrorReport
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, report: ErrorReport, options?: ErrorOptions) {
    super(report.what, options)
    this.exitCode = exitCode
    this.report = report
  }
}

/** Prints an error: `error: WHERE: WHAT: WHY` and `hint: TODO`, without the parts that are not known. */
export function formatErrorReport({ where, what, why, todo }: ErrorReport): string {
  const cause = [where, what, why].filter((part) => part !== undefined && part !== '').map((part) => oneLine(part!))
  const hint = todo === undefined || todo === '' ? '' : `hint: ${oneLine(todo)}\n`
  return `error: ${cause.join(': ')}\n${hint}`
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, '; ')
}
