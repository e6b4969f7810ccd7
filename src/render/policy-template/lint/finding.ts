/** What the rules of the linter find. */

/** A finding in the text of a policy. */
export interface LintFinding {
  /** Counted from 1. */
  readonly line: number
  readonly rule: string
  /** `error` if the templates cannot be resolved, `warning` otherwise. */
  readonly level: 'error' | 'warning'
  readonly message: string
  /** The line that is shown. */
  readonly shown: string
}

/** A rule gets the lines of a text. */
export type LintRule = (lines: readonly string[]) => LintFinding[]

/** The lines that are not empty and no comments, trimmed, with their numbers. */
export function codeLines(
  lines: readonly string[],
): { readonly number: number; readonly line: string; readonly trimmed: string }[] {
  return lines
    .map((line, index) => ({ number: index + 1, line, trimmed: line.trim() }))
    .filter(({ trimmed }) => trimmed !== '' && !trimmed.startsWith('#'))
}
