/**
 * Measurements of the sources: pure functions over the files, printed by scripts/measures.ts and held by the house
 * rules.
 */
import { isTest } from './source-tree.ts'
import type { SourceFile } from './source-tree.ts'

/** Median, 90th percentile and maximum of some counts. */
export interface Spread {
  readonly median: number
  readonly p90: number
  readonly max: number
}

/** The words that name no actor; the glossary lists what to write instead. */
export const BANNED_WORDS = /\b(somebody|nobody|everybody|anybody|whoever)\b/gi

const INDEFINITE_WORDS = /\b(those|who|whom|others?|things?|something|anything|everything|ones?|such)\b/gi

const CONDITIONAL_SPREAD = /\.\.\.\((?:(?!\.\.\.\()[\s\S]){1,160}?(?:\?\s*\{\}\s*:|:\s*\{\}\s*\))/g

const CAST = /[\w)\]}'"!] as (?!const\b)[A-Za-z{[(]/g

/** The spread of some counts. */
export function spread(counts: readonly number[]): Spread {
  const sorted = counts.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { median: at(0.5), p90: at(0.9), max: sorted.at(-1) ?? 0 }
}

/** Files that make up the product: no tests, no generated tables. */
export function productFiles(files: readonly SourceFile[]): SourceFile[] {
  return files.filter(({ path }) => !isTest(path) && !/\.(generated|fixture)\.ts$/.test(path))
}

/** The number of lines of a file. */
export function lineCount(file: SourceFile): number {
  return file.text.trimEnd().split('\n').length
}

/** Source files in each folder; test files do not count, the files of src/testing do. */
export function filesPerFolder(files: readonly SourceFile[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { path } of files) {
    if (/\.test\.tsx?$/.test(path)) continue
    const folder = path.slice(0, path.lastIndexOf('/'))
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return counts
}

/** A function with a block body, as the formatter lays it out. */
export interface FunctionSpan {
  readonly line: number
  readonly lines: number
  readonly head: string
}

const FUNCTION_START =
  /^(\s*)(?:.*\bfunction\b.*|.*=>|(?:(?:static|async|get|set|override|readonly|private) )*[#\w]+\(.*\).*|\).*)\s*\{$/
const NO_FUNCTION =
  /^\s*(?:\}?\s*(?:if|for|while|switch|catch|else|do|try)\b|export (?:interface|class|type)\b|interface\b|class\b|return\s*\{)/

/** The functions of a file. The formatter closes a body at the indentation of the line that opened it. */
export function functionSpans(text: string): FunctionSpan[] {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    const indent = FUNCTION_START.exec(line)?.[1]
    if (indent === undefined || NO_FUNCTION.test(line)) return []
    const close = new RegExp(`^${indent}\\}`)
    const end = lines.findIndex((other, at) => at > index && close.test(other))
    if (end < 0) return []
    // A head over several lines ends in `) {` or `}: X) {`: it began at the last line above with the same indentation
    // that opens it.
    let start = index
    if (/^\s*[)}]/.test(line)) {
      for (start = index - 1; start > 0 && !new RegExp(`^${indent}[^\\s)}]`).test(lines[start]!); start -= 1);
    }
    if (NO_FUNCTION.test(lines[start]!)) return []
    return [{ line: start + 1, lines: end - start + 1, head: lines[start]!.trim() }]
  })
}

/** The comments of a file as text. Strings that look like comments are rare enough not to matter for a measure. */
export function commentText(text: string): string {
  const blocks = [...text.matchAll(/\/\*[\s\S]*?\*\//g)].map(([block]) =>
    block.replaceAll(/^\s*\*+\s?|\/\*+|\*+\//gm, ' '),
  )
  const lines = [...text.matchAll(/(?:^|\s)\/\/(?!\/)(.*)$/gm)].map(([, line]) => line!)
  return [...blocks, ...lines].join('\n')
}

/** A file's code without comments, strings and imports. */
function codeText(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/^(?:import|export)\b[^'"`;]*?from '[^']*'$/gm, '')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''")
    .replaceAll(/`(?:[^`\\$]|\\.|\$(?!\{))*`/g, '``')
}

function countOf(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length
}

/** All measures of the plan. */
export interface Measures {
  readonly files: number
  readonly sourceLines: number
  readonly fileLines: Spread
  readonly functionLines: Spread
  readonly folderFiles: Spread
  readonly bannedWords: number
  readonly indefinitePer1000: number
  readonly testedShare: number
  readonly testLinesPerSourceLine: number
  readonly conditionalSpreads: number
  readonly castsPer1000: number
}

/** The first line of a file may name the test that guards it: `// Tested by src/agent/link/link.contract.test.ts`. */
export const TESTED_BY = /^(?:\/\/|\/\*\*?) ?Tested by ((?:src|test)\/[\w./-]+\.test\.ts)\b/

/** True where a file has a test of its name in any tier, or names one in its first line. */
export function isTested(file: SourceFile, paths: ReadonlySet<string>): boolean {
  const note = TESTED_BY.exec(file.text)?.[1]
  if (note !== undefined) return paths.has(note)
  const stem = file.path.replace(/\.ts$/, '')
  return ['', '.contract', '.sim', '.oracle', '.real', '.browser', '.deep'].some((tier) =>
    paths.has(`${stem}${tier}.test.ts`),
  )
}

/** Measures the sources below src/; `tests` are the test files of the whole clone. */
export function measure(sources: readonly SourceFile[], tests: readonly SourceFile[]): Measures {
  const product = productFiles(sources)
  const lines = product.reduce((sum, file) => sum + lineCount(file), 0)
  const comments = product.map(({ text }) => commentText(text)).join('\n')
  const words = countOf(comments, /[A-Za-z][A-Za-z'-]*/g)
  const paths = new Set([...sources, ...tests].map(({ path }) => path))
  const testLines = tests.reduce((sum, file) => sum + lineCount(file), 0)
  const count = (pattern: RegExp): number =>
    product.reduce((sum, { text }) => sum + countOf(codeText(text), pattern), 0)
  return {
    files: product.length,
    sourceLines: lines,
    fileLines: spread(product.map(lineCount)),
    functionLines: spread(product.flatMap(({ text }) => functionSpans(text).map((span) => span.lines))),
    folderFiles: spread([...filesPerFolder(sources).values()]),
    bannedWords: countOf(comments, BANNED_WORDS),
    indefinitePer1000: (1000 * countOf(comments, INDEFINITE_WORDS)) / words,
    testedShare: product.filter((file) => isTested(file, paths)).length / product.length,
    testLinesPerSourceLine: testLines / lines,
    conditionalSpreads: count(CONDITIONAL_SPREAD),
    castsPer1000: (1000 * count(CAST)) / lines,
  }
}
