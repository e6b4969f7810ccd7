/** A values.schema.json as both validators read it: references inside the document, patterns, types. */
import { RE2JS } from 're2js'
import { goQuote } from '../../../core/text/go-quote.ts'
import { jsonKind } from '../json-kind.ts'

/** A JSON object. */
export type Json = Map<string, unknown>

/** A problem, with the problems below it. */
export interface SchemaProblem {
  /** Keys and indexes from the root of the values. */
  readonly path: readonly string[]
  readonly keyword: string
  /** What the keyword wanted and what it got. */
  readonly want?: unknown
  readonly got?: unknown
  readonly causes?: readonly SchemaProblem[]
}

/** A schema that cannot be used. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
}

/** The maximum depth of references between schemas. */
export const MAX_SCHEMA_DEPTH = 200
/** The maximum number of checks of one value: references that double at each level would take for ever. */
const MAX_CHECKS = 500_000

/** Adds problems one by one: an argument for each of very many would exceed the stack. */
export function addProblems(problems: SchemaProblem[], more: readonly SchemaProblem[]): void {
  for (const problem of more) problems.push(problem)
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Json {
  return value instanceof Map
}

/** Whether a value has a type that a schema names. */
export function typeMatches(type: unknown, value: unknown): boolean {
  return type === 'integer' ? Number.isInteger(value) : type === schemaType(value)
}

/** The JSON Schema type of a value. */
export function schemaType(value: unknown): string {
  if (value === null) return 'null'
  const kind = jsonKind(value)
  return kind === 'bool' ? 'boolean' : kind
}

/** The bounds that a number violates, with their values. Draft 4 has exclusive bounds as booleans. */
export function* brokenBounds(schema: ReadonlyMap<string, unknown>, value: number): Generator<[string, unknown]> {
  const [min, max] = [schema.get('minimum'), schema.get('maximum')]
  let [above, below] = [schema.get('exclusiveMinimum'), schema.get('exclusiveMaximum')]
  if (above === true) above = min
  else if (typeof min === 'number' && value < min) yield ['minimum', min]
  if (below === true) below = max
  else if (typeof max === 'number' && value > max) yield ['maximum', max]
  if (typeof above === 'number' && value <= above) yield ['exclusiveMinimum', above]
  if (typeof below === 'number' && value >= below) yield ['exclusiveMaximum', below]
}

/** Whether a number is a multiple, as far as floating point can tell. */
export function isMultiple(value: number, step: number): boolean {
  return step <= 0 || Number.isInteger(Number((value / step).toPrecision(12)))
}

/** Escapes that are no UTF-8 stay as they are, and name no key. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The document: finds what references name, and keeps compiled patterns. */
export class SchemaDocument {
  readonly root: unknown
  readonly #patterns = new Map<string, RE2JS>()
  readonly #anchors = new Map<string, unknown>()
  #checks = 0

  constructor(root: unknown) {
    this.root = root
    this.#collectAnchors(root)
  }

  #collectAnchors(schema: unknown): void {
    if (Array.isArray(schema)) schema.forEach((item) => this.#collectAnchors(item))
    if (!isObject(schema)) return
    for (const key of ['$id', 'id', '$anchor', '$dynamicAnchor']) {
      const name = schema.get(key)
      if (typeof name === 'string') this.#anchors.set(key.endsWith('nchor') ? `#${name}` : name, schema)
    }
    for (const item of schema.values()) this.#collectAnchors(item)
  }

  /** Counts a check of a value at a depth; too many of them, or too deep ones, are a mistake of the schema. */
  countCheck(depth: number): void {
    if (depth > MAX_SCHEMA_DEPTH) throw new SchemaError('the schema refers to itself without end')
    this.#checks += 1
    if (this.#checks > MAX_CHECKS)
      throw new SchemaError(`the schema needs more than ${MAX_CHECKS} checks of the values`)
  }

  /** The schema a reference names; `missing` describes a missing schema. */
  resolve(ref: string, missing: (pointer: string, key: string) => string): unknown {
    if (ref === '#') return this.root
    const known = this.#anchors.get(ref)
    if (known !== undefined) return known
    const [base = '', fragment = ''] = ref.split('#')
    let found: unknown = base === '' ? this.root : this.#anchors.get(base)
    if (found === undefined) throw remoteReferenceError(ref)
    const bad = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(fragment)?.[0]
    if (bad !== undefined) throw new SchemaError(`parse ${goQuote(ref)}: invalid URL escape ${goQuote(bad)}`)
    for (const part of fragment.split('/').slice(1)) {
      const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
      found = isObject(found) ? found.get(key) : Array.isArray(found) ? found[Number(key)] : undefined
      if (found === undefined) throw new SchemaError(missing(fragment, key))
    }
    return found
  }

  /** Whether a pattern is found in a text. */
  matches(source: string, text: string): boolean {
    let compiled = this.#patterns.get(source)
    if (!compiled) {
      try {
        compiled = RE2JS.compile(source)
      } catch {
        throw new SchemaError(`'${source}' is not a regular expression`)
      }
      this.#patterns.set(source, compiled)
    }
    return compiled.matcher(text).find()
  }
}

/** A reference to another address, which is never fetched. */
export function remoteReferenceError(address: string): SchemaError {
  return new SchemaError(`failing loading ${JSON.stringify(address)}: schemas elsewhere are not fetched`)
}
