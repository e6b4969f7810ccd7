/** JSON Schema, from draft 4 to 2020-12: what values.schema.json files use. Problems come as a tree, as their reports nest. */
import { RE2JS } from 're2js'
import { deepEqual } from './functions/equality.ts'
import { jsonKind } from './json-kind.ts'

type Json = Map<string, unknown>

/** One thing that is wrong, with what is wrong below it. */
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

const MAX_DEPTH = 200

/** A check of values (plain JSON: Map, Array, number, string, boolean, null) against a schema. */
export function compileSchema(schema: unknown): (value: unknown) => SchemaProblem[] {
  const validator = new Validator(schema)
  return (value) => validator.check(schema, value, [], 0)
}

function isObject(value: unknown): value is Json {
  return value instanceof Map
}

function typeMatches(type: unknown, value: unknown): boolean {
  switch (type) {
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value)
    case 'number':
      return typeof value === 'number'
    case 'null':
      return value === null
    case 'boolean':
      return typeof value === 'boolean'
    case 'string':
      return typeof value === 'string'
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    default:
      return false
  }
}

/** The JSON Schema type of a value. */
export function schemaType(value: unknown): string {
  if (value === null) return 'null'
  const kind = jsonKind(value)
  return kind === 'bool' ? 'boolean' : kind
}

class Validator {
  readonly #root: unknown
  readonly #patterns = new Map<string, RE2JS>()
  readonly #anchors = new Map<string, unknown>()

  constructor(root: unknown) {
    this.#root = root
    this.#collectAnchors(root)
  }

  #collectAnchors(schema: unknown): void {
    if (Array.isArray(schema)) schema.forEach((item) => this.#collectAnchors(item))
    if (!isObject(schema)) return
    for (const key of ['$id', 'id', '$anchor']) {
      const name = schema.get(key)
      if (typeof name === 'string') this.#anchors.set(key === '$anchor' ? `#${name}` : name, schema)
    }
    for (const item of schema.values()) this.#collectAnchors(item)
  }

  #resolve(ref: string): unknown {
    if (ref === '#') return this.#root
    const known = this.#anchors.get(ref)
    if (known !== undefined) return known
    const [base = '', fragment = ''] = ref.split('#')
    let found: unknown = base === '' ? this.#root : this.#anchors.get(base)
    if (found === undefined)
      throw new SchemaError(`failing loading ${JSON.stringify(ref)}: schemas elsewhere are not fetched`)
    for (const part of fragment.split('/').slice(1)) {
      const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
      found = isObject(found) ? found.get(key) : Array.isArray(found) ? found[Number(key)] : undefined
    }
    if (found === undefined) throw new SchemaError(`jsonschema ${JSON.stringify(ref)} not found`)
    return found
  }

  #pattern(source: string): RE2JS {
    const known = this.#patterns.get(source)
    if (known) return known
    let compiled: RE2JS
    try {
      compiled = RE2JS.compile(source)
    } catch {
      throw new SchemaError(`'${source}' is not a regular expression`)
    }
    this.#patterns.set(source, compiled)
    return compiled
  }

  /** Several problems of one place below the root are put under one heading. */
  #below(schema: unknown, value: unknown, path: readonly string[], depth: number): SchemaProblem[] {
    const problems = this.check(schema, value, path, depth)
    return problems.length > 1 ? [{ path, keyword: 'group', causes: problems }] : problems
  }

  check(schema: unknown, value: unknown, path: readonly string[], depth: number): SchemaProblem[] {
    if (depth > MAX_DEPTH) throw new SchemaError('the schema refers to itself without end')
    if (schema === true) return []
    if (schema === false) return [{ path, keyword: 'false' }]
    if (!isObject(schema)) return []
    const problems: SchemaProblem[] = []
    const at: Place = { schema, value, path, depth, problems }
    const ref = schema.get('$ref')
    if (typeof ref === 'string') problems.push(...this.#below(this.#resolve(ref), value, path, depth + 1))
    this.#types(at)
    // With the wrong type nothing else is worth saying.
    if (problems.at(-1)?.keyword === 'type' && problems.at(-1)?.path === path) return problems
    this.#enumerated(at)
    this.#combined(at)
    if (typeof value === 'string') this.#string(at, value)
    else if (typeof value === 'number') numberProblems(at, value)
    else if (Array.isArray(value)) this.#array(at, value)
    else if (isObject(value)) this.#object(at, value)
    return problems
  }

  #types({ schema, value, path, problems }: Place): void {
    const type = schema.get('type')
    if (type !== undefined) {
      const types = Array.isArray(type) ? (type as unknown[]) : [type]
      if (!types.some((one) => typeMatches(one, value))) {
        problems.push({ path, keyword: 'type', want: types, got: value })
      }
    }
  }

  #enumerated({ schema, value, path, problems }: Place): void {
    const options = schema.get('enum')
    if (Array.isArray(options) && !options.some((option) => deepEqual(option, value))) {
      problems.push({ path, keyword: 'enum', want: options, got: value })
    }
    if (schema.has('const') && !deepEqual(schema.get('const'), value)) {
      problems.push({ path, keyword: 'const', want: schema.get('const'), got: value })
    }
  }

  #combined({ schema, value, path, depth, problems }: Place): void {
    const each = (keyword: string): SchemaProblem[][] =>
      ((schema.get(keyword) as unknown[] | undefined) ?? []).map((one) => this.#below(one, value, path, depth + 1))
    const all = each('allOf').flat()
    if (all.length > 0) problems.push({ path, keyword: 'allOf', causes: all })
    if (Array.isArray(schema.get('anyOf'))) {
      const results = each('anyOf')
      if (results.every((found) => found.length > 0)) problems.push({ path, keyword: 'anyOf', causes: results.flat() })
    }
    if (Array.isArray(schema.get('oneOf'))) {
      const results = each('oneOf')
      const matched = results.flatMap((found, index) => (found.length === 0 ? [index] : []))
      if (matched.length === 0) problems.push({ path, keyword: 'oneOf', causes: results.flat() })
      else if (matched.length > 1) problems.push({ path, keyword: 'oneOf', want: matched.slice(0, 2) })
    }
    if (schema.has('not') && this.check(schema.get('not'), value, path, depth + 1).length === 0) {
      problems.push({ path, keyword: 'not' })
    }
    if (schema.has('if')) {
      const holds = this.check(schema.get('if'), value, path, depth + 1).length === 0
      const branch = schema.get(holds ? 'then' : 'else')
      if (branch !== undefined) problems.push(...this.#below(branch, value, path, depth + 1))
    }
  }

  #string({ schema, path, problems }: Place, value: string): void {
    const length = [...value].length
    const [min, max, pattern] = [schema.get('minLength'), schema.get('maxLength'), schema.get('pattern')]
    if (typeof min === 'number' && length < min) problems.push({ path, keyword: 'minLength', want: min, got: length })
    if (typeof max === 'number' && length > max) problems.push({ path, keyword: 'maxLength', want: max, got: length })
    if (typeof pattern === 'string' && !this.#pattern(pattern).matcher(value).find()) {
      problems.push({ path, keyword: 'pattern', want: pattern, got: value })
    }
  }

  #array({ schema, path, depth, problems }: Place, value: readonly unknown[]): void {
    const [min, max] = [schema.get('minItems'), schema.get('maxItems')]
    if (typeof min === 'number' && value.length < min)
      problems.push({ path, keyword: 'minItems', want: min, got: value.length })
    if (typeof max === 'number' && value.length > max)
      problems.push({ path, keyword: 'maxItems', want: max, got: value.length })
    if (schema.get('uniqueItems') === true) {
      const twice = value.findIndex((item, index) => value.slice(0, index).some((other) => deepEqual(item, other)))
      if (twice >= 0) {
        const first = value.findIndex((other) => deepEqual(value[twice], other))
        problems.push({ path, keyword: 'uniqueItems', want: [first, twice] })
      }
    }
    const items = schema.get('items')
    const prefix = (Array.isArray(items) ? items : (schema.get('prefixItems') ?? [])) as unknown[]
    const rest = Array.isArray(items) ? schema.get('additionalItems') : items
    for (const [index, item] of value.entries()) {
      const own = index < prefix.length ? prefix[index] : rest
      if (own !== undefined) problems.push(...this.#below(own, item, [...path, String(index)], depth + 1))
    }
    if (schema.has('contains')) {
      const found = value.some((item) => this.check(schema.get('contains'), item, path, depth + 1).length === 0)
      if (!found && schema.get('minContains') !== 0) problems.push({ path, keyword: 'contains' })
    }
  }

  #object(at: Place, value: Json): void {
    const { schema, path, depth, problems } = at
    const [min, max] = [schema.get('minProperties'), schema.get('maxProperties')]
    if (typeof min === 'number' && value.size < min)
      problems.push({ path, keyword: 'minProperties', want: min, got: value.size })
    if (typeof max === 'number' && value.size > max)
      problems.push({ path, keyword: 'maxProperties', want: max, got: value.size })
    const required = schema.get('required')
    if (Array.isArray(required)) {
      const missing = (required as string[]).filter((name) => !value.has(name))
      if (missing.length > 0) problems.push({ path, keyword: 'required', want: missing })
    }
    const properties = (schema.get('properties') ?? new Map()) as Json
    const patterns = [...((schema.get('patternProperties') ?? new Map()) as Json)]
    const additional: string[] = []
    for (const [name, item] of value) {
      const inner = [...path, name]
      const matching = patterns.filter(([pattern]) => this.#pattern(pattern).matcher(name).find())
      if (properties.has(name)) problems.push(...this.#below(properties.get(name), item, inner, depth + 1))
      for (const [, one] of matching) problems.push(...this.#below(one, item, inner, depth + 1))
      if (!properties.has(name) && matching.length === 0) additional.push(name)
      if (schema.has('propertyNames') && this.check(schema.get('propertyNames'), name, inner, depth + 1).length > 0) {
        problems.push({ path, keyword: 'propertyNames', want: name })
      }
    }
    this.#additional(at, value, additional)
    this.#dependencies(at, value)
  }

  #additional({ schema, path, depth, problems }: Place, value: Json, names: readonly string[]): void {
    const rule = schema.get('additionalProperties')
    if (rule === undefined || rule === true || names.length === 0) return
    if (rule === false) problems.push({ path, keyword: 'additionalProperties', want: names })
    else for (const name of names) problems.push(...this.#below(rule, value.get(name), [...path, name], depth + 1))
  }

  #dependencies({ schema, path, depth, problems }: Place, value: Json): void {
    for (const keyword of ['dependencies', 'dependentRequired', 'dependentSchemas']) {
      for (const [name, rule] of (schema.get(keyword) ?? new Map()) as Json) {
        if (!value.has(name)) continue
        if (Array.isArray(rule)) {
          const missing = (rule as string[]).filter((other) => !value.has(other))
          if (missing.length > 0) problems.push({ path, keyword: 'dependency', want: missing, got: name })
        } else problems.push(...this.#below(rule, value, path, depth + 1))
      }
    }
  }
}

interface Place {
  readonly schema: Json
  readonly value: unknown
  readonly path: readonly string[]
  readonly depth: number
  readonly problems: SchemaProblem[]
}

function numberProblems({ schema, path, problems }: Place, value: number): void {
  const [min, max] = [schema.get('minimum'), schema.get('maximum')]
  const [above, below] = [schema.get('exclusiveMinimum'), schema.get('exclusiveMaximum')]
  const add = (keyword: string, want: unknown) => problems.push({ path, keyword, want, got: value })
  // Draft 4 has the exclusive ones as booleans.
  if (typeof min === 'number' && (above === true ? value <= min : value < min)) add('minimum', min)
  if (typeof max === 'number' && (below === true ? value >= max : value > max)) add('maximum', max)
  if (typeof above === 'number' && value <= above) add('exclusiveMinimum', above)
  if (typeof below === 'number' && value >= below) add('exclusiveMaximum', below)
  const step = schema.get('multipleOf')
  if (typeof step === 'number' && step > 0 && !Number.isInteger(Number((value / step).toPrecision(12))))
    add('multipleOf', step)
}
