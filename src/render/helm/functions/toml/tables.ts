/** The tables a TOML text fills, and which keys may be given once more, by the rules of BurntSushi's reader. */
import { goQuote } from '../../../gotemplate/go-string.ts'
import { typed, typeInfo } from '../../../gotemplate/value.ts'
import { TomlProblem } from './cursor.ts'
import { tomlKey } from './key.ts'

type Table = Map<string, unknown>

const TABLES = '[]map[string]interface {}'

function isTables(value: unknown): value is Table[] {
  return Array.isArray(value) && typeInfo(value)?.type === TABLES
}

/** A table, or the last table of a [[list]]. */
function tableOf(value: unknown): Table | undefined {
  const last: unknown = isTables(value) ? value.at(-1) : value
  return last instanceof Map ? (last as Table) : undefined
}

/** The tables of a text. */
export class TomlTables {
  readonly root: Table = new Map()
  /** The line of the newest key. */
  line = 1
  readonly #toml11: boolean
  /** Tables that were only implied, and keys that hold lists of values, by their whole name. */
  readonly #implied = new Set<string>()
  readonly #lists = new Set<string>()
  /** The table that is being filled, and the key whose value is being read. */
  #context: readonly string[] = []
  #key = ''

  constructor(toml11: boolean) {
    this.#toml11 = toml11
  }

  /** The key that was read last, as errors name it. */
  get lastKey(): string {
    if (this.#key === '') return tomlKey(this.#context)
    return this.#context.length === 0 ? this.#key : `${tomlKey(this.#context)}.${this.#key}`
  }

  /** `[path]` or `[[path]]`: what follows goes there. */
  openHeader(path: readonly string[], isList: boolean): void {
    this.#open(path, isList)
    this.#mark('', false)
  }

  /** `path =`: the last part is the key, the preceding parts are tables; returns a function that leaves them. */
  openKey(path: readonly string[]): () => void {
    const outer = this.#context
    this.#key = path.at(-1)!
    for (const part of path.slice(0, -1)) {
      const inner = [...this.#context, part]
      this.#implied.add(tomlKey(inner))
      this.#open(inner, false)
    }
    return () => {
      this.#context = outer
    }
  }

  /** Sets the key that is open. */
  setKey(value: unknown): void {
    this.#set(this.#key, value)
    this.#mark(this.#key, Array.isArray(value))
  }

  /** No key is open any more. */
  endKey(): void {
    this.#key = ''
  }

  /** `{` as the value of the key that is open, or in its list; gives back the way out. */
  openInline(isInList: boolean): () => void {
    const [outer, outerKey] = [this.#context, this.#key]
    this.#context = [...outer, outerKey]
    this.#key = ''
    this.#implied.add(tomlKey(this.#context))
    this.#open(this.#context, isInList)
    return () => {
      this.#context = outer
      this.#key = outerKey
    }
  }

  /** Puts a value into an inline table, which is stored apart: here a later key may replace a table. */
  put(own: Table, path: readonly string[], value: unknown): void {
    let table = own
    for (const part of path.slice(0, -1)) {
      if (!table.has(part)) table.set(part, new Map())
      const next = table.get(part)
      if (!(next instanceof Map)) return this.#refuse(`${goQuote(tomlKey(this.#context))} is not a table`)
      table = next as Table
    }
    table.set(path.at(-1)!, value)
  }

  /** `[` as the value of the key that is open. */
  markList(): void {
    this.#mark(this.#key, true)
  }

  #refuse(problem: string): never {
    throw new TomlProblem(this.line, problem)
  }

  /** Selects the table to fill, and creates missing parent tables. */
  #open(path: readonly string[], isList: boolean): void {
    const last = path.at(-1)!
    let table = this.root
    const above: string[] = []
    for (const key of path.slice(0, -1)) {
      above.push(key)
      if (!table.has(key)) {
        this.#implied.add(tomlKey(above))
        table.set(key, new Map())
      }
      table = tableOf(table.get(key)) ?? this.#refuse(`Key '${tomlKey(above)}' was already created as a hash.`)
    }
    this.#context = above
    if (isList) {
      if (!table.has(last)) table.set(last, typed([], { type: TABLES }))
      const list = table.get(last)
      if (!isTables(list)) {
        return this.#refuse(`Key '${tomlKey(path)}' was already created and cannot be used as an array.`)
      }
      list.push(new Map())
    } else this.#set(last, new Map())
    this.#context = path
  }

  /** Sets a key of the table that is being filled, which is an error when it is there and was not only implied. */
  #set(key: string, value: unknown): void {
    let table = this.root
    const path: string[] = []
    for (const part of this.#context) {
      path.push(part)
      table = tableOf(table.get(part)) ?? this.#refuse(`Key '${tomlKey(path)}' has already been defined.`)
    }
    const name = tomlKey([...path, key])
    if (!table.has(key)) {
      table.set(key, value)
      return
    }
    const isList = this.#lists.has(name)
    const isImplied = this.#implied.delete(name)
    // Before v1.6 whatever was there could be set again as a list.
    if (!isImplied && !(isList && !this.#toml11)) this.#refuse(`Key '${name}' has already been defined.`)
    if (isList) table.set(key, value)
  }

  /** Notes whether a key holds a list of values; without a key, the table that is being filled. */
  #mark(key: string, isList: boolean): void {
    const path = key === '' ? this.#context : [...this.#context, key]
    const name = tomlKey(path.length === 0 ? [''] : path)
    if (isList) this.#lists.add(name)
    else this.#lists.delete(name)
  }
}
