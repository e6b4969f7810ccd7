// Tested by src/dialects/flux/recorded.contract.test.ts.
/** SOPS files as JSON: the order of keys is kept, which JSON.parse does not do. */
import { formatTimestamp } from '../../../yaml/timestamp.ts'
import { SopsError } from '../sops-error.ts'
import { SopsBranch, SopsComment, SopsTime } from '../sops-tree.ts'
import type { SopsFile, SopsItem, SopsValue } from '../sops-tree.ts'

const MAX_DEPTH = 500

/** Reads a file; throws SopsError. */
export function readJson(text: string): SopsFile {
  try {
    JSON.parse(text)
  } catch {
    throw new SopsError('the text is not JSON')
  }
  const branch = new JsonReader(text).value(0)
  if (!(branch instanceof SopsBranch)) throw new SopsError('Expected JSON object start, got another value')
  const metadata = branch.take('sops')
  if (!(metadata instanceof SopsBranch)) throw new SopsError('sops metadata not found')
  return { branches: [branch], metadata }
}

const SPACE = /[\s,:]*/y
const STRING = /"(?:[^"\\]|\\.)*"/y
const NUMBER = /[-+.\deE]+/y

/** Reads a text that is known to be JSON. */
class JsonReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(depth: number): SopsValue {
    if (depth > MAX_DEPTH) throw new SopsError(`the file is nested more than ${MAX_DEPTH} levels deep`)
    this.#take(SPACE)
    switch (this.#text[this.#at]) {
      case '{':
        return this.#branch(depth)
      case '[':
        return this.#list(depth)
      case '"':
        return this.#string()
      case 't':
        this.#at += 4
        return true
      case 'f':
        this.#at += 5
        return false
      case 'n':
        this.#at += 4
        return null
      default:
        // A float, as in Go, also where the text is an integer.
        return JSON.parse(this.#take(NUMBER)) as number
    }
  }

  #branch(depth: number): SopsBranch {
    const items: SopsItem[] = []
    this.#at += 1
    for (this.#take(SPACE); this.#text[this.#at] !== '}'; this.#take(SPACE)) {
      const key = this.#string()
      items.push({ key, value: this.value(depth + 1) })
    }
    this.#at += 1
    return new SopsBranch(items)
  }

  #list(depth: number): SopsValue[] {
    const items: SopsValue[] = []
    this.#at += 1
    for (this.#take(SPACE); this.#text[this.#at] !== ']'; this.#take(SPACE)) items.push(this.value(depth + 1))
    this.#at += 1
    return items
  }

  #string(): string {
    return JSON.parse(this.#take(STRING)) as string
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [found = ''] = pattern.exec(this.#text) ?? []
    this.#at += found.length
    return found
  }
}

/** Writes the first branch as Go's json.MarshalIndent does, with tabs; JSON has no comments. */
export function writeJson([branch = new SopsBranch()]: readonly SopsBranch[]): string {
  return `${jsonText(branch, '')}\n`
}

function jsonText(value: SopsValue, indent: string): string {
  const inner = `${indent}\t`
  const enclosed = (lines: readonly string[], [open, close]: readonly [string, string]): string =>
    lines.length === 0 ? open + close : `${open}\n${inner}${lines.join(`,\n${inner}`)}\n${indent}${close}`
  if (value instanceof SopsBranch) {
    const lines = value.items.flatMap((item) =>
      item.key === undefined ? [] : [`${quoted(item.key)}: ${jsonText(item.value, inner)}`],
    )
    return enclosed(lines, ['{', '}'])
  }
  if (Array.isArray(value)) {
    const lines = value.filter((item) => !(item instanceof SopsComment)).map((item) => jsonText(item, inner))
    return enclosed(lines, ['[', ']'])
  }
  if (value instanceof SopsTime) return quoted(formatTimestamp(value.time) ?? value.text)
  if (value instanceof SopsComment) return 'null'
  if (value instanceof Uint8Array) return quoted(new TextDecoder().decode(value))
  return typeof value === 'string' ? quoted(value) : String(value)
}

function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}
