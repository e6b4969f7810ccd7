// Compares what the real helm printed with what we did. Two runs of the real one show which lines are random.

/** One run of a template command. */
export interface RunOutput {
  readonly stdout: string
  readonly stderr: string
  readonly failed: boolean
}

/** How two runs compare. */
export interface Verdict {
  readonly kind: 'identical' | 'random masked' | 'different' | 'error on both' | 'errors differ' | 'one errors'
  readonly detail?: string
}

/** What follows `Error: ` on stderr. */
export function errorText(stderr: string): string {
  const at = stderr.search(/^Error: /m)
  return (at < 0 ? stderr : stderr.slice(at)).trim()
}

/** Compares ours with two runs of the real one. */
export function compareOutputs(first: RunOutput, second: RunOutput, mine: RunOutput): Verdict {
  if (first.failed !== mine.failed) {
    const said = first.failed ? `helm: ${errorText(first.stderr)}` : `ours: ${errorText(mine.stderr)}`
    return { kind: 'one errors', detail: said }
  }
  if (first.failed) {
    const [wanted, again, got] = [first, second, mine].map(({ stderr }) => errorText(stderr)) as [
      string,
      string,
      string,
    ]
    return wanted === got || again === got || sameSchemaReport(wanted, got) || isRandom(wanted, again, got)
      ? { kind: 'error on both' }
      : { kind: 'errors differ', detail: `helm: ${wanted}\nours: ${got}` }
  }
  if (first.stdout === mine.stdout || second.stdout === mine.stdout) return { kind: 'identical' }
  const problem = maskedProblem(first.stdout, second.stdout, mine.stdout)
  return problem === undefined ? { kind: 'random masked' } : { kind: 'different', detail: problem }
}

/** Lines that are equal in both runs of helm must be ours too; undefined when they are. */
function maskedProblem(first: string, second: string, mine: string): string | undefined {
  if (first === second) return firstDifference(first, mine)
  const [a, b, c] = [first, second, mine].map(documents) as [string[], string[], string[]]
  if (a.length !== b.length) return undefined
  if (a.length !== c.length) return `${a.length} documents, ours has ${c.length}`
  // What is random by order only (keys of a map) can stand anywhere.
  if (sorted(a) === sorted(b)) return sorted(a) === sorted(c) ? undefined : firstDifference(sorted(a), sorted(c))
  for (const [at, document] of a.entries()) {
    const problem = document === b[at] ? firstDifference(document, c[at]!) : maskedDocument(document, b[at]!, c[at]!)
    if (problem !== undefined) return problem
  }
  return undefined
}

function maskedDocument(first: string, second: string, mine: string): string | undefined {
  const [a, b, c] = [first, second, mine].map((text) => pemInOneLine(text).split('\n')) as [
    string[],
    string[],
    string[],
  ]
  if (a.length !== b.length || a.toSorted().join('\n') === b.toSorted().join('\n')) return undefined
  if (a.length !== c.length) return `${a[0]}: ${a.length} lines, ours has ${c.length}`
  const at = a.findIndex((line, index) => line === b[index] && line !== c[index])
  return at < 0 ? undefined : `${a[0]}: line ${at + 1}\n- ${a[at]}\n+ ${c[at]}`
}

/**
 * A certificate's random parts have one byte more or less at times, which moves all that follows: it is compared as
 * one.
 */
function pemInOneLine(text: string): string {
  return text.replaceAll(/-----BEGIN ([A-Z ]+)-----[^-]*-----END \1-----/g, (pem) => pem.replaceAll('\n', ' '))
}

function documents(text: string): string[] {
  return text.split(/^---\n/m).slice(1)
}

function sorted(items: readonly string[]): string {
  return items.toSorted().join('')
}

function firstDifference(wanted: string, got: string): string | undefined {
  if (wanted === got) return undefined
  const [a, b] = [wanted.split('\n'), got.split('\n')]
  const at = a.findIndex((line, index) => line !== b[index])
  const line = at < 0 ? a.length : at
  const source = a.slice(0, line + 1).findLast((text) => text.startsWith('# Source')) ?? ''
  return `${source} line ${line + 1}\n- ${a[line] ?? '(end)'}\n+ ${b[line] ?? '(end)'}`
}

/**
 * Whether helm itself says something else each time, in another order or with random values, and we the same but for
 * these.
 */
function isRandom(first: string, second: string, mine: string): boolean {
  if (first === second) return false
  const words = (text: string) => sorted(text.split(/[\s,]+/))
  if (words(first) === words(second)) return words(first) === words(mine)
  return maskedDocument(first, second, mine) === undefined
}

/** Schema reports come in random order. */
function sameSchemaReport(wanted: string, got: string): boolean {
  const intro = "values don't meet the specifications of the schema(s)"
  return wanted.includes(intro) && got.includes(intro) && schemaLines(wanted) === schemaLines(got)
}

/**
 * Lines, and names within a line, in no order, which is random in helm. Why a format is not met is left out, which we
 * do not say, and what became of a schema elsewhere, which we never fetch.
 */
export function schemaLines(report: string): string {
  return report
    .split('\n')
    .map((line) => line.replace(/^(?:failing loading|Get) "https?:.*/, 'a schema elsewhere'))
    .map((line) => line.replace(/( is not valid [a-z-]+): .*/, '$1'))
    .map((line) => line.replace(/'[^']*'(?:, '[^']*')+/g, (names) => names.split(', ').sort().join(', ')))
    .sort()
    .join('\n')
    .trim()
}
