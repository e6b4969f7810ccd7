// Tested by src/render/policy-template/lint/lint-policy.test.ts.
/** The rule mismatchedDelimiters: each `{`, `{{` and `{{hub` has its end. */
import { codeLines } from './finding.ts'
import type { LintFinding } from './finding.ts'

const DELIMITER = /\{\{(?:hub)?-?|-?(?:hub)?\}\}|[{}]/g

interface Delimiter {
  readonly text: string
  readonly line: number
  readonly opens: boolean
  readonly isHub: boolean
  readonly isJson: boolean
}

/** Finds delimiters without their counterpart. */
export function findMismatchedDelimiters(lines: readonly string[]): LintFinding[] {
  const findings: LintFinding[] = []
  const report = (line: number, message: string): void => {
    findings.push({ line, rule: 'mismatchedDelimiters', level: 'error', message, shown: lines[line - 1]!.trim() })
  }
  const open: Delimiter[] = []
  for (const delimiter of delimitersOf(lines)) {
    if (delimiter.opens) open.push(delimiter)
    else if (open.length === 0) report(delimiter.line, `unmatched closing delimiter '${delimiter.text}'`)
    else close(delimiter, open, report)
  }
  for (const { line, text } of open) report(line, `unmatched opening delimiter '${text}'`)
  return findings
}

function delimitersOf(lines: readonly string[]): Delimiter[] {
  return codeLines(lines).flatMap(({ number, trimmed }) =>
    [...trimmed.matchAll(DELIMITER)].map(([text]) => ({
      text,
      line: number,
      opens: text.startsWith('{'),
      isHub: text.includes('hub'),
      isJson: text === '{' || text === '}',
    })),
  )
}

function close(given: Delimiter, open: Delimiter[], report: (line: number, message: string) => void): void {
  let delimiter = given
  let opening = open.pop()!
  // Two ends of JSON objects look like the end of a template.
  if (delimiter.text === '}}' && opening.isJson) {
    const next = open.pop()
    if (!next) return report(delimiter.line, "unmatched closing JSON delimiter '}'")
    if (next.isJson) return
    opening = next
    delimiter = { ...delimiter, text: '}', isJson: true }
  }
  if (opening.isHub !== delimiter.isHub && !delimiter.isJson) {
    report(opening.line, 'mismatched hub and managed cluster delimiters')
  } else if (opening.isJson !== delimiter.isJson) {
    report(opening.line, 'mismatched JSON and template delimiters')
  }
}
