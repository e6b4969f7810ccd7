// Tested by src/render/policy-template/lint/lint-policy.test.ts.
/** The rules unusedVariables and invalidVariableSyntax. */
import { codeLines } from './finding.ts'
import type { LintFinding } from './finding.ts'

const TEMPLATE = /\{\{-?.*?-?\}\}/g
const HUB_TEMPLATE = /\{\{hub\s+.*?\s+hub\}\}/
const TEXT = /"(?:[^"\\]|\\[^])*"/g
const COMMENT = /\{\{-?\s*\/\*.*?\*\/\s*-?\}\}/g
const VARIABLE = /\$(\w+)(\s*(?::=|,))?/g

interface Action {
  readonly text: string
  readonly line: number
}

/** Finds variables that are set and never read, per object definition and, for templates of the hub, in the whole. */
export function findUnusedVariables(lines: readonly string[]): LintFinding[] {
  const toSpaces = (text: string): string => text.replaceAll(/[^\n]/g, ' ')
  const cleaned = lines.join('\n').replaceAll(TEXT, toSpaces).replaceAll(COMMENT, toSpaces).split('\n')
  const isRaw = lines.some((line) => /^\s*object-templates-raw\s*:/.test(line))
  const starts = isRaw ? [0] : [...lines.keys()].filter((index) => /^\s+objectDefinition:/.test(lines[index]!))
  const hub: Action[] = []
  const unused: Unused[] = []
  for (const [index, start] of starts.entries()) {
    const block = cleaned.slice(start, starts[index + 1] ?? lines.length)
    const actions = actionsOf(block, start)
    hub.push(...actions.filter(({ text }) => HUB_TEMPLATE.test(text)))
    unused.push(...unusedIn(actions.filter(({ text }) => !HUB_TEMPLATE.test(text))))
  }
  unused.push(...unusedIn(hub))
  return unused.map(({ name, line }) => ({
    line,
    rule: 'unusedVariables',
    level: 'warning',
    message: `variable ${name} is defined but not used within scope`,
    shown: lines[line - 1]!.trim(),
  }))
}

function actionsOf(block: readonly string[], offset: number): Action[] {
  return codeLines(block).flatMap(({ number, trimmed }) =>
    [...trimmed.matchAll(TEMPLATE)].map(([text]) => ({ text, line: offset + number })),
  )
}

interface Unused {
  readonly name: string
  readonly line: number
}

function unusedIn(actions: readonly Action[]): Unused[] {
  const latest = new Map<string, Unused>()
  const unused = new Set<Unused>()
  for (const { text, line } of actions) {
    for (const [, name = '', sets] of text.matchAll(VARIABLE)) {
      if (name === '_') continue
      if (sets === undefined) unused.delete(latest.get(name)!)
      else {
        const definition = { name, line }
        latest.set(name, definition)
        unused.add(definition)
      }
    }
  }
  return [...unused]
}

const VARIABLE_IN_PATH = /\$\w+(?:\.\w+)*\.\$(?:\.\w+)*/g

/** Finds a variable behind a dot. */
export function findInvalidVariables(lines: readonly string[]): LintFinding[] {
  return lines.flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return []
    return [...line.matchAll(VARIABLE_IN_PATH)].map((): LintFinding => ({
      line: index + 1,
      rule: 'invalidVariableSyntax',
      level: 'error',
      message: 'invalid variable reference inside dot operator',
      shown: line.trim(),
    }))
  })
}
