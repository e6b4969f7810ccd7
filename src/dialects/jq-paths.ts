/**
 * The fields that a jq expression of an ignored field means, as JSONPath: fields, indexes, `[]` and `select` with
 * comparisons. Expressions that compute something have no such form.
 */

/** The paths, or undefined when the expression is more than paths. */
export function jsonPathsOfJq(expression: string): readonly string[] | undefined {
  if (expression.length > MAX_LENGTH) return undefined
  const reader = new JqReader(expression)
  const paths = reader.alternatives()
  return reader.isDone && paths !== undefined && paths.length <= MAX_PATHS ? paths : undefined
}

const MAX_LENGTH = 1024
const MAX_PATHS = 32

/** A comparison of `select`: the path below the item, and the value as JSON. */
interface Comparison {
  readonly path: string
  readonly operator: '==' | '!='
  readonly value: string
}

class JqReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isDone(): boolean {
    this.#take(/\s*/y)
    return this.#at === this.#text.length
  }

  /** `PATH, PATH`. */
  alternatives(): string[] | undefined {
    const all: string[] = []
    do {
      const paths = this.#pipeline()
      if (paths === undefined) return undefined
      all.push(...paths)
    } while (this.#take(/\s*,/y))
    return all
  }

  /** `PATH | PATH | select(…)`, or the same in parentheses. */
  #pipeline(): string[] | undefined {
    let paths = ['']
    do {
      const next = this.#term(paths)
      if (next === undefined || next.length > MAX_PATHS) return undefined
      paths = next
    } while (this.#take(/\s*\|/y))
    return paths.every((path) => path !== '') ? paths : undefined
  }

  #term(paths: readonly string[]): string[] | undefined {
    if (this.#take(/\s*select\s*\(/y)) {
      const comparisons = this.#comparisons()
      if (comparisons === undefined || !this.#take(/\s*\)/y)) return undefined
      // Only an item of a list or map can be selected.
      if (!paths.every((path) => path.endsWith(ALL))) return undefined
      return paths.flatMap((path) =>
        comparisons.map((one) => `${path.slice(0, -ALL.length)}[?(@${one.path}${one.operator}${one.value})]`),
      )
    }
    const path = this.#path()
    return path === undefined ? undefined : paths.map((before) => before + path)
  }

  /** `.a == "x" or .a == "y"`. */
  #comparisons(): Comparison[] | undefined {
    const found: Comparison[] = []
    do {
      const path = this.#path()
      const operator = this.#take(/\s*(==|!=)/y)?.[1] as Comparison['operator'] | undefined
      const value = operator && this.#take(/\s*("(?:[^"\\]|\\["\\/])*"|-?\d+(?:\.\d+)?|true|false)/y)?.[1]
      // Only plain fields can be compared, and a text that the other syntax can hold.
      if (value === undefined || path === undefined || !isPlainPath(path)) return undefined
      const text = value.startsWith('"') ? (JSON.parse(value) as string) : undefined
      if (text?.includes('"')) return undefined
      found.push({ path, operator: operator!, value: text === undefined ? value : `"${text}"` })
    } while (this.#take(/\s*or\b/y))
    // Alternatives are paths of their own; `!=` would match too much with them.
    return found.length > 1 && found.some(({ operator }) => operator === '!=') ? undefined : found
  }

  #path(): string | undefined {
    this.#take(/\s*/y)
    if (this.#text[this.#at] !== '.') return undefined
    let path = ''
    for (;;) {
      const step = this.#step(path === '')
      if (step === undefined) break
      path += step
      this.#take(/\?/y)
    }
    if (path === '') this.#at += 1
    return path
  }

  #step(isFirst: boolean): string | undefined {
    const name = this.#take(/\.([A-Za-z_][A-Za-z0-9_]*)/y)?.[1]
    if (name !== undefined) return `.${name}`
    const quoted = this.#take(
      isFirst ? /\.\[?("(?:[^"\\]|\\["\\/])*")\]?/y : /(?:\.|\.?\[)("(?:[^"\\]|\\["\\/])*")\]?/y,
    )
    if (quoted) return fieldOf(JSON.parse(quoted[1]!) as string)
    if (this.#take(isFirst ? /\.\[\s*\]/y : /\.?\[\s*\]/y)) return ALL
    const index = this.#take(isFirst ? /\.\[\s*(-?\d{1,6})\s*\]/y : /\.?\[\s*(-?\d{1,6})\s*\]/y)?.[1]
    return index === undefined ? undefined : `[${index}]`
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (!match) return undefined
    this.#at = pattern.lastIndex
    return match
  }
}

const ALL = '[*]'

function fieldOf(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? `.${name}` : `["${name.replaceAll(/["\\]/g, String.raw`\$&`)}"]`
}

/** A path of plain fields, such as `.spec.replicas`. */
function isPlainPath(path: string): boolean {
  const [before, ...fields] = path.split('.')
  return before === '' && fields.length > 0 && fields.every((field) => /^[A-Za-z0-9_-]+$/.test(field))
}
