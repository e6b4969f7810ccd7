/** Lints the templates of a policy, without resolving them. */
import { findMismatchedDelimiters } from './delimiters.ts'
import type { LintFinding, LintRule } from './finding.ts'
import { findMismatchedQuotes, findUnquotedTemplates } from './quotes.ts'
import { findInvalidVariables, findUnusedVariables } from './variables.ts'

const RULES: readonly LintRule[] = [
  findTrailingWhitespace,
  findMismatchedDelimiters,
  findUnquotedTemplates,
  findUnusedVariables,
  findInvalidVariables,
  findMismatchedQuotes,
]

/** The findings of all rules, by line and message. */
export function lintPolicy(text: string): LintFinding[] {
  const lines = text.split('\n')
  return RULES.flatMap((rule) => rule(lines)).sort((a, b) => a.line - b.line || compare(a, b))
}

// The original sorts by the message that begins with a capital letter.
function compare(a: LintFinding, b: LintFinding): number {
  const key = ({ message }: LintFinding): string => message.charAt(0).toUpperCase() + message.slice(1)
  return key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0
}

/** The findings as the command prints them. */
export function printFindings(findings: readonly LintFinding[]): string {
  const lines = findings.map(({ line, rule, message, shown }) => `line ${line}: ${rule}: ${message}:\n\t${shown}\n`)
  return `Found linting issues:\n${lines.join('')}`
}

function findTrailingWhitespace(lines: readonly string[]): LintFinding[] {
  return lines.flatMap((line, index): LintFinding[] => {
    const trimmed = line.replace(/^[ \t]+/, '')
    if (trimmed === '' || trimmed.startsWith('#') || !/[ \t]$/.test(trimmed)) return []
    return [
      {
        line: index + 1,
        rule: 'trailingWhitespace',
        level: 'warning',
        message: 'trailing whitespace detected',
        shown: `${trimmed}<<<`,
      },
    ]
  })
}
