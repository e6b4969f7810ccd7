/**
 * Reads the plain YAML of which most files consist, line by line and without tokens: block mappings and sequences,
 * plain and quoted scalars, literal blocks, lists in brackets on one line. It gives up on the rest, and on
 * whatever could be an error, so what it reads means the same to the parser; a test compares both.
 */
import { setEntry } from './construct.ts'
import type { Target } from './construct.ts'
import { COLON, DASH, HASH, SPACE } from '../chars.ts'
import { resolvePlain } from '../resolve-scalar.ts'
import type { ValueOptions } from '../yaml.ts'

/**
 * The value of the only document of a text; undefined when the parser has to look at it. Keys may come twice: the last
 * counts.
 */
export function readFastPath(text: string, options: ValueOptions): { readonly value: unknown } | undefined {
  return UNUSUAL.test(text) ? undefined : new QuickReader(text, options).read()
}

// Tabs, other breaks than a line feed, and byte order marks.
// oxlint-disable-next-line no-control-regex -- that is what it looks for
const UNUSUAL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/

/** Expressions with alternatives remember each character; there is only so much room for that. */
const MAX_QUOTED_LINE = 1_000_000

/** Less than go-yaml allows. */
const MAX_DEPTH = 200
const MAX_KEY_CHARACTERS = 500

const DOUBLE_QUOTE = 0x22
const SINGLE_QUOTE = 0x27
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const BAR = 0x7c

/** What may start a plain scalar whatever follows it. */
const STARTS_PLAIN = new Uint8Array(128)
for (let code = 0; code < 128; code++) if (/[\w./~+$(^;=]/.test(String.fromCharCode(code))) STARTS_PLAIN[code] = 1

/** What stands in quotes; of the escapes only the usual escapes. */
const IN_DOUBLE_QUOTES = /(?:[^"\\]|\\["\\nt])*/y
const IN_SINGLE_QUOTES = /(?:[^']|'')*/y
const ESCAPES = new Map([
  ['n', '\n'],
  ['t', '\t'],
])

/** What is a scalar in brackets, and ends before a comma, a bracket or a space. */
const PLAIN_ITEM = /[\w./][\w./-]*/y

const PLAIN_KEY = /^[A-Za-z_][\w./-]*$/
const knownKeys = new Map<string, boolean>()
const MAX_KNOWN_KEYS = 10_000

/** Whether a key without quotes is a string and nothing else. */
function isPlainKey(key: string): boolean {
  let is = knownKeys.get(key)
  if (is === undefined) {
    is = PLAIN_KEY.test(key) && resolvePlain(key, '1.1').tag === '!!str'
    if (knownKeys.size >= MAX_KNOWN_KEYS) knownKeys.clear()
    knownKeys.set(key, is)
  }
  return is
}

class QuickReader {
  readonly #text: string
  readonly #options: ValueOptions
  /** Without its indentation, up to its break. */
  #line = ''
  /** Of the line; -1 at the end. */
  #indent = -1
  /** Where the line starts, and where the next one does. */
  #start = 0
  #next = 0
  #depth = 0
  #gaveUp = false
  /** The key that `#takesKey` found, and where the line goes on behind its colon. */
  #key = ''
  #behindKey = 0
  /** Where the scalar ends that was read last. */
  #end = 0

  constructor(text: string, options: ValueOptions) {
    this.#text = text
    this.#options = options
  }

  read(): { readonly value: unknown } | undefined {
    this.#advance(0)
    if (this.#indent === 0 && this.#line === '---') this.#advance(this.#next)
    const value = this.#below(-1)
    return this.#gaveUp || this.#indent !== -1 ? undefined : { value }
  }

  /** All loops end with the text, and so they do when it is given up. */
  #giveUp(): undefined {
    this.#gaveUp = true
    this.#indent = -1
    return undefined
  }

  /** Goes to the first line from a place on that is neither blank nor a comment. */
  #advance(from: number): void {
    const text = this.#text
    if (this.#gaveUp) return
    for (let start = from; start < text.length;) {
      let at = start
      let code = text.charCodeAt(at)
      while (code === SPACE) code = text.charCodeAt(++at)
      const end = text.indexOf('\n', at)
      const next = end < 0 ? text.length : end + 1
      if (at !== end && at < text.length && code !== HASH) {
        this.#indent = at - start
        this.#start = start
        this.#line = text.slice(at, end < 0 ? text.length : end)
        this.#next = next
        return
      }
      start = next
    }
    this.#indent = -1
  }

  /** What starts with this line, in a collection that is indented less. */
  #below(indent: number): unknown {
    if (this.#indent < 0 || ++this.#depth > MAX_DEPTH) return this.#giveUp()
    const value = this.#isEntry()
      ? this.#sequence(this.#indent)
      : this.#takesKey(0)
        ? this.#mapping(this.#indent)
        : indent < 0
          ? this.#giveUp() // a document that is a single scalar
          : this.#scalar(0, indent)
    this.#depth--
    return value
  }

  #isEntry(at = 0): boolean {
    return this.#line.charCodeAt(at) === DASH && this.#isBlank(at + 1)
  }

  #isBlank(at: number): boolean {
    return at >= this.#line.length || this.#line.charCodeAt(at) === SPACE
  }

  #mapping(indent: number): Target {
    const target: Target = this.#options.mappings === 'map' ? new Map() : {}
    do {
      if (!this.#takesKey(0)) {
        this.#giveUp()
        break
      }
      const key = this.#key
      const value = this.#value(this.#behindKey, indent, true)
      setEntry(target, key, value)
    } while (this.#indent === indent)
    if (this.#indent > indent) this.#giveUp()
    return target
  }

  #sequence(indent: number): unknown[] {
    const items: unknown[] = []
    do {
      const at = this.#behindSpaces(1)
      if (this.#isEntry(at)) this.#giveUp()
      else if (this.#takesKey(at)) {
        // A mapping that starts behind the dash.
        if (++this.#depth > MAX_DEPTH) this.#giveUp()
        this.#indent = indent + at
        this.#line = this.#line.slice(at)
        this.#behindKey -= at
        items.push(this.#mapping(this.#indent))
        this.#depth--
      } else items.push(this.#value(1, indent, false))
    } while (this.#indent === indent && this.#isEntry())
    if (this.#indent > indent) this.#giveUp()
    return items
  }

  #behindSpaces(from: number): number {
    let at = from
    while (this.#line.charCodeAt(at) === SPACE) at++
    return at
  }

  /** Whether a key and its colon are here. */
  #takesKey(at: number): boolean {
    const line = this.#line
    const code = line.charCodeAt(at)
    const quoted = code === DOUBLE_QUOTE || code === SINGLE_QUOTE
    const end = quoted ? line.indexOf(code === DOUBLE_QUOTE ? '"' : "'", at + 1) + 1 : line.indexOf(':', at)
    if (end <= at || line.charCodeAt(end) !== COLON) return false
    if (line.length > end + 1 && line.charCodeAt(end + 1) !== SPACE) return false
    const key = quoted ? line.slice(at + 1, end - 1) : line.slice(at, end)
    if (key.length > MAX_KEY_CHARACTERS) return false
    if (quoted ? key.includes('\\') : !isPlainKey(key)) return false
    this.#key = key
    this.#behindKey = end + 1
    return true
  }

  /** What stands behind a colon or a dash, or below it; `indent` is of the collection. */
  #value(from: number, indent: number, inMapping: boolean): unknown {
    const line = this.#line
    const at = this.#behindSpaces(from)
    const code = line.charCodeAt(at)
    if (at === line.length || code === HASH) {
      this.#advance(this.#next)
      if (this.#indent > indent) return this.#below(indent)
      return inMapping && this.#indent === indent && this.#isEntry() ? this.#sequence(indent) : null
    }
    return this.#scalar(at, indent)
  }

  #scalar(at: number, indent: number): unknown {
    const line = this.#line
    const code = line.charCodeAt(at)
    if (code === BAR) return this.#literal(line.slice(at), indent)
    const startsPlain =
      code > 0x7f || STARTS_PLAIN[code] === 1 || ((code === DASH || code === COLON) && !this.#isBlank(at + 1))
    const value = startsPlain ? this.#plain(at, indent) : this.#closed(at, code, indent)
    if (!startsPlain) this.#advance(this.#next)
    return this.#indent > indent ? this.#giveUp() : value
  }

  /** What says itself where it ends. */
  #closed(at: number, code: number, indent: number): unknown {
    const line = this.#line
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      const text = this.#quoted(at, code, indent)
      return this.#nothingFollows(this.#end) ? text : this.#giveUp()
    }
    if (code === OPEN_BRACKET) return this.#list(at)
    if (!line.startsWith('{}', at) || !this.#nothingFollows(at + 2)) return this.#giveUp()
    return this.#options.mappings === 'map' ? new Map() : {}
  }

  #nothingFollows(end: number): boolean {
    const at = this.#behindSpaces(end)
    return at === this.#line.length || (at > end && this.#line.charCodeAt(at) === HASH)
  }

  /** A text in quotes, which may go on with lines that are indented more than its collection. */
  #quoted(at: number, code: number, indent: number): string | undefined {
    const isDouble = code === DOUBLE_QUOTE
    const inside = isDouble ? IN_DOUBLE_QUOTES : IN_SINGLE_QUOTES
    let text = ''
    let isEscaped = false
    for (let from = at + 1; ; from = 0) {
      const line = this.#line
      if (line.length > MAX_QUOTED_LINE) return this.#giveUp()
      inside.lastIndex = from
      inside.test(line)
      let end = inside.lastIndex
      this.#end = end + 1
      const isLast = line.charCodeAt(end) === code
      if (!isLast) {
        if (end < line.length) return this.#giveUp() // another escape
        while (end > from && line.charCodeAt(end - 1) === SPACE) end--
      }
      const part = line.slice(from, end)
      isEscaped ||= part.includes(isDouble ? '\\' : "'")
      text += part
      if (isLast) break
      const next = this.#next
      this.#advance(next)
      if (this.#indent <= indent || this.#start !== next || (isDouble && isEscaped)) return this.#giveUp()
      text += ' '
    }
    if (!isEscaped) return text
    return isDouble
      ? text.replaceAll(/\\(.)/g, (_, char: string) => ESCAPES.get(char) ?? char)
      : text.replaceAll("''", "'")
  }

  #list(from: number): unknown {
    const line = this.#line
    const items: unknown[] = []
    let at = this.#behindSpaces(from + 1)
    let isFirst = true
    while (!(isFirst && line.charCodeAt(at) === CLOSE_BRACKET)) {
      const code = line.charCodeAt(at)
      if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) items.push(this.#quoted(at, code, Infinity))
      else {
        PLAIN_ITEM.lastIndex = at
        if (!PLAIN_ITEM.test(line)) return this.#giveUp()
        this.#end = PLAIN_ITEM.lastIndex
        items.push(this.#resolved(line.slice(at, this.#end)))
      }
      at = this.#behindSpaces(this.#end)
      if (this.#gaveUp || line.charCodeAt(at) === CLOSE_BRACKET) break
      if (line.charCodeAt(at) !== COMMA) return this.#giveUp()
      at = this.#behindSpaces(at + 1)
      isFirst = false
    }
    return this.#nothingFollows(at + 1) ? items : this.#giveUp()
  }

  /** A scalar without quotes, which goes on with lines that are indented more than its collection. */
  #plain(from: number, indent: number): unknown {
    let text = this.#plainPart(from)
    let hasComment = this.#end < this.#line.length
    for (;;) {
      const next = this.#next
      this.#advance(next)
      if (this.#indent <= indent) return this.#resolved(text)
      // Not behind a comment; a blank line between would be a line break.
      if (hasComment || this.#start !== next) return this.#giveUp()
      text += ` ${this.#plainPart(0)}`
      hasComment = this.#end < this.#line.length
    }
  }

  #plainPart(from: number): string {
    const line = this.#line
    const comment = line.indexOf(' #', from)
    let end = comment < 0 ? line.length : comment
    this.#end = end
    while (line.charCodeAt(end - 1) === SPACE) end--
    const text = line.slice(from, end)
    if (text.includes(': ') || text.charCodeAt(text.length - 1) === COLON) this.#giveUp()
    return text
  }

  #resolved(text: string): unknown {
    const { tag, value } = resolvePlain(text, '1.1')
    switch (tag) {
      case '!!timestamp':
        return text
      case '!!int': {
        const { integer, integers } = this.#options
        if (integer) return integer(BigInt(value))
        return integers === 'bigint' ? value : Number(value)
      }
      case '!!float':
        return Number.isFinite(value) ? value : this.#giveUp()
      default:
        return value
    }
  }

  #literal(header: string, indent: number): unknown {
    if (header !== '|' && header !== '|-') return this.#giveUp()
    const text = this.#text
    const lines: string[] = []
    let inner = -1
    let blanks = 0
    let start = this.#next
    while (start < text.length) {
      let at = start
      while (text.charCodeAt(at) === SPACE) at++
      const found = text.indexOf('\n', at)
      const end = found < 0 ? text.length : found
      if (at === end) {
        if (inner < 0) blanks = Math.max(blanks, at - start)
      } else if (inner < 0) inner = at - start
      else if (at - start < inner) break
      lines.push(inner < 0 ? '' : text.slice(Math.min(start + inner, end), end))
      start = end + 1
    }
    this.#advance(start)
    if (inner <= indent || blanks > inner || this.#indent > indent) return this.#giveUp()
    const endsWithText = lines.at(-1) !== '' && start > text.length
    while (lines.at(-1) === '') lines.pop()
    const value = lines.join('\n')
    return header === '|' && !endsWithText ? `${value}\n` : value
  }
}
