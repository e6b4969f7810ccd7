/** Finds the reasons and condition types that the sources use, so that the table of conditions can be checked both ways. */
import { isTest } from './source-tree.ts'
import type { SourceFile } from './source-tree.ts'

/** A reason or condition type, and the file that uses it. */
export interface Use {
  readonly name: string
  readonly path: string
}

/** Functions and classes that take a reason, with the position of the argument. */
const REASON_ARGUMENTS: Readonly<Record<string, number>> = {
  'conditions.set': 2,
  'new Waiting': 0,
  'new Stalled': 0,
  'new SourceError': 0,
  'new WireError': 0,
  'new NoAccess': 0,
  holdOf: 0,
  offline: 0,
  refuse: 0,
  refused: 0,
  held: 0,
  stalled: 1,
}

/** Rooms in which a member `reason: 'X'` is a reason of a condition; elsewhere the API has reasons of its own. */
const MEMBERS = [
  'src/controllers/',
  'src/plan/projects/',
  'src/plan/rollout/',
  'src/plan/fleet/',
  'src/dialects/flux/status/',
  'src/source/',
  'src/agent/documents/',
  'src/agent/pushed/',
]

/** The API server answers with reasons of Kubernetes; simulations and testing are no part of the product. */
const NOT_SCANNED = ['src/testing/', 'src/sim/', 'src/apiserver/']

const WORD = /'([A-Z][A-Za-z]+)'/g

/** Reasons of conditions, waits, refusals and errors. */
export function usedReasons(files: readonly SourceFile[]): Use[] {
  return product(files).flatMap(({ path, text }) => [
    ...Object.entries(REASON_ARGUMENTS).flatMap(([call, position]) =>
      callArguments(text, call).flatMap((given) => words(given[position] ?? '').map((name) => ({ name, path }))),
    ),
    ...(MEMBERS.some((room) => path.startsWith(room))
      ? [...text.matchAll(/\breason(?::| =) ([^\n]*)/g)].flatMap(([, rest]) =>
          words(rest!.split(/,\s*\w+:/)[0]!).map((name) => ({ name, path })),
        )
      : []),
    ...[...text.matchAll(/^export const \w+ = ('[A-Z]\w+')$/gm)]
      .filter(() => path.startsWith('src/source/'))
      .flatMap(([, word]) => words(word!).map((name) => ({ name, path }))),
  ])
}

/** Types of conditions. */
export function usedConditionTypes(files: readonly SourceFile[]): Use[] {
  return product(files).flatMap(({ path, text }) =>
    [
      ...callArguments(text, 'conditions.set').map((given) => given[0] ?? ''),
      ...[...text.matchAll(/\bfailureCondition: ('\w+')/g)].map(([, type]) => type!),
    ].flatMap((given) => words(given).map((name) => ({ name, path }))),
  )
}

function product(files: readonly SourceFile[]): SourceFile[] {
  return files
    .filter(({ path }) => !isTest(path) && !NOT_SCANNED.some((room) => path.startsWith(room)))
    .map((file) => ({ ...file, text: file.text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '') }))
}

function words(text: string): string[] {
  return [...text.matchAll(WORD)].map(([, name]) => name!)
}

/** The arguments of every call of `name`, as text. */
function callArguments(text: string, name: string): string[][] {
  const calls = new RegExp(`(?<![\\w.])(?:\\w+\\.)?${name.replace('.', '\\.')}\\(`, 'g')
  return [...text.matchAll(calls)].map((match) => splitArguments(text, match.index + match[0].length))
}

function splitArguments(text: string, from: number): string[] {
  const given: string[] = []
  let [depth, start, quote] = [0, from, '']
  for (let at = from; at < text.length; at++) {
    const char = text[at]!
    if (quote !== '') {
      if (char === '\\') at++
      else if (char === quote) quote = ''
    } else if (char === "'" || char === '"' || char === '`') quote = char
    else if ('([{'.includes(char)) depth++
    else if (')]}'.includes(char) && depth-- === 0) return [...given, text.slice(start, at).trim()]
    else if (char === ',' && depth === 0) {
      given.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  return given
}
