// Tested by src/render/policy-template/lint/lint-policy.test.ts.
/** The rules unquotedTemplateValues and mismatchedQuotes. */
import { codeLines } from './finding.ts'
import type { LintFinding } from './finding.ts'

const RAW = 'object-templates-raw: '

/** Finds templates that stand without single quotes as the value of a key or as an item of a list. */
export function findUnquotedTemplates(lines: readonly string[]): LintFinding[] {
  const findings: LintFinding[] = []
  let isRaw = false
  for (const [index, line] of lines.entries()) {
    const trimmed = line.trim()
    if (trimmed.startsWith(RAW)) isRaw = true
    if (isRaw) {
      if (trimmed.startsWith('object-templates:')) isRaw = false
      continue
    }
    if (trimmed === '' || trimmed.startsWith('#')) continue
    const message = unquotedIn(line)
    if (message !== undefined) {
      findings.push({ line: index + 1, rule: 'unquotedTemplateValues', level: 'warning', message, shown: trimmed })
    }
  }
  return findings
}

function unquotedIn(line: string): string | undefined {
  if (/^\s*-\s*\{\{.*\}\}/.test(line)) return 'templates for array items should be single-quoted'
  if (isTemplateValue(line)) return 'templates should be single-quoted'
  return /\}\}'["']\s*$/.test(line) ? 'extra quote after closing template delimiter' : undefined
}

/** Whether the text after the first colon begins with a template. */
function isTemplateValue(line: string): boolean {
  const colon = line.indexOf(':')
  return colon > 0 && line.slice(0, colon).length > 0 && /^\s*\{\{.*\}\}/.test(line.slice(colon + 1))
}

const BAD_DOUBLE = /^\s*\w[-\w./_]*\w\s*:\s*"(?:[^"\\]|\\.)*"(?:[^"\\]|\\.|")*"$/
const BAD_SINGLE = /^\s*\w[-\w./_]*\w\s*:\s*'(?:'[^']*|[^'{}]*')'$/

/** Finds quotes that are not closed within a template, and quotes that are not escaped within a value. */
export function findMismatchedQuotes(lines: readonly string[]): LintFinding[] {
  const findings: LintFinding[] = []
  const counts: QuoteCounts = { single: 0, double: 0, isInside: false }
  for (const { number, trimmed } of codeLines(lines)) {
    if (!counts.isInside) Object.assign(counts, { single: 0, double: 0 })
    const isOdd = hasOddQuotes(trimmed, counts)
    if (isOdd || hasBadDoubleQuote(trimmed) || BAD_SINGLE.test(trimmed)) {
      const message = 'unmatched or invalid quote detected'
      findings.push({ line: number, rule: 'mismatchedQuotes', level: 'warning', message, shown: trimmed })
    }
  }
  return findings
}

interface QuoteCounts {
  single: number
  double: number
  isInside: boolean
}

/** Whether a template ends in the line with a quote that was opened in it; counts what a template leaves open. */
function hasOddQuotes(text: string, counts: QuoteCounts): boolean {
  const before = { ...counts }
  let inDouble = false
  for (let at = 0; at < text.length; at++) {
    if (text.startsWith('{{', at)) counts.isInside = true
    if (text.startsWith('}}', at)) {
      counts.isInside = false
      const isOdd = (now: number, then: number): boolean => now % 2 === 1 && then % 2 === 0
      if (isOdd(counts.single, before.single) || isOdd(counts.double, before.double)) return true
    }
    if (!counts.isInside) continue
    if (text[at] === "'" && !inDouble) counts.single += 1
    if (text[at] === '"') {
      counts.double += 1
      inDouble = !inDouble
    }
  }
  return false
}

/** Bounded, because the expression takes quadratic time. */
const LONGEST = 10_000

function hasBadDoubleQuote(text: string): boolean {
  return text.length <= LONGEST && BAD_DOUBLE.test(text)
}
