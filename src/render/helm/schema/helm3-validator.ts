/**
 * JSON Schema as Helm 3's validator understands it: a mixture of drafts 4 to 7. The validator lists problems line by
 * line; of alternatives that all fail it shows the closest alternative, which it determines by points.
 */
import { deepEqual } from '../functions/go/deep-equal.ts'
import { hasFormat } from './formats.ts'
import {
  addProblems,
  brokenBounds,
  isMultiple,
  isObject,
  MAX_SCHEMA_DEPTH,
  SchemaDocument,
  SchemaError,
  typeMatches,
} from './schema-document.ts'
import type { Json, SchemaProblem } from './schema-document.ts'

class Result {
  readonly problems: SchemaProblem[] = []
  score = 0

  add(problem: SchemaProblem): void {
    this.problems.push(problem)
    this.score -= 2
  }

  merge(other: Result): void {
    addProblems(this.problems, other.problems)
    this.score += other.score
  }

  get isValid(): boolean {
    return this.problems.length === 0
  }
}

interface Place {
  readonly schema: Json
  readonly value: unknown
  readonly path: readonly string[]
  readonly depth: number
  readonly result: Result
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'null', 'object', 'string']

/** Refuses a value that is not a type or a list of different types. */
function refuseType(type: unknown): void {
  const types = Array.isArray(type) ? (type as unknown[]) : [type]
  for (const [at, one] of types.entries()) {
    if (typeof one === 'number' && Array.isArray(type)) {
      throw new SchemaError('unable to validate schema: interface conversion: interface {} is json.Number, not string')
    }
    if (typeof one !== 'string') throw new SchemaError('Invalid type. Expected: string/array of strings, given: type')
    if (!TYPES.includes(one)) {
      throw new SchemaError(
        `has a primitive type that is NOT VALID -- given: /${one}/ Expected valid values are:[${TYPES.join(' ')}]`,
      )
    }
    if (types.indexOf(one) < at) throw new SchemaError(`${one} type is duplicated`)
  }
}

/** A check of values (plain JSON: Map, Array, number, string, boolean, null) against a schema. */
export class Helm3Validator {
  readonly #document: SchemaDocument

  constructor(schema: unknown) {
    if (!isObject(schema) && typeof schema !== 'boolean') throw new SchemaError('schema is invalid')
    this.#document = new SchemaDocument(schema)
    this.#refuse(schema, 0)
  }

  /** What cannot be compiled. */
  #refuse(schema: unknown, depth: number): void {
    if (!isObject(schema) || depth > MAX_SCHEMA_DEPTH) return
    if (schema.has('type')) refuseType(schema.get('type'))
    const pattern = schema.get('pattern')
    if (typeof pattern === 'string' && !hasFormat('regex', pattern, 'helm3')) {
      throw new SchemaError('pattern must be a valid regex')
    }
    for (const keyword of ['properties', 'patternProperties', 'definitions']) {
      const inner = schema.get(keyword)
      if (isObject(inner)) for (const one of inner.values()) this.#refuse(one, depth + 1)
    }
    for (const keyword of ['items', 'additionalProperties', 'not', 'if', 'then', 'else']) {
      this.#refuse(schema.get(keyword), depth + 1)
    }
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      const list = schema.get(keyword)
      if (Array.isArray(list)) for (const one of list) this.#refuse(one, depth + 1)
    }
  }

  /** Returns all problems of a value. */
  problems(value: unknown): readonly SchemaProblem[] {
    return this.#result(this.#document.root, value, [], 0).problems
  }

  #result(schema: unknown, value: unknown, path: readonly string[], depth: number): Result {
    const result = new Result()
    this.#check(schema, value, { path, depth, result })
    return result
  }

  #check(schema: unknown, value: unknown, where: Pick<Place, 'path' | 'depth' | 'result'>): void {
    const { path, depth, result } = where
    this.#document.countCheck(depth)
    if (schema === false) result.add({ path, keyword: 'false' })
    if (!isObject(schema)) return
    const ref = schema.get('$ref')
    if (typeof ref === 'string') {
      const target = this.#document.resolve(ref, (_pointer, key) => `Object has no key '${key}'`)
      return this.#check(target, value, { path, depth: depth + 1, result })
    }
    const type = schema.get('type')
    const types = type === undefined ? [] : Array.isArray(type) ? (type as unknown[]) : [type]
    if (types.length > 0 && !types.some((one) => typeMatches(one, value))) {
      return result.add({ path, keyword: 'type', want: types, got: value })
    }
    const at: Place = { schema, value, path, depth, result }
    this.#combined(at)
    if (Array.isArray(value)) this.#array(at, value)
    else if (isObject(value)) this.#object(at, value)
    this.#enumerated(at)
    if (typeof value === 'number') number(at, value)
    if (typeof value === 'string') this.#string(at, value)
    if (isObject(value)) this.#properties(at, value)
    result.score += 1
  }

  #same(at: Place, schema: unknown): Result {
    return this.#result(schema, at.value, at.path, at.depth + 1)
  }

  #combined(at: Place): void {
    const { schema, path, result } = at
    const each = (keyword: string): Result[] => {
      const list = schema.get(keyword)
      return Array.isArray(list) ? list.map((one) => this.#same(at, one)) : []
    }
    const any = each('anyOf')
    if (any.length > 0 && any.every((one) => !one.isValid)) {
      result.add({ path, keyword: 'anyOf' })
      result.merge(best(any))
    }
    const one = each('oneOf')
    const matched = one.filter(({ isValid }) => isValid).length
    if (one.length > 0 && matched !== 1) {
      result.add({ path, keyword: 'oneOf' })
      if (matched === 0) result.merge(best(one))
    }
    const all = each('allOf')
    for (const each of all) result.merge(each)
    if (all.some(({ isValid }) => !isValid)) result.add({ path, keyword: 'allOf' })
    if (schema.has('not') && this.#same(at, schema.get('not')).isValid) result.add({ path, keyword: 'not' })
    this.#dependencies(at)
    if (schema.has('if')) {
      const branch = this.#same(at, schema.get('if')).isValid ? 'then' : 'else'
      const outcome = schema.has(branch) ? this.#same(at, schema.get(branch)) : undefined
      if (outcome && !outcome.isValid) {
        result.add({ path, keyword: branch })
        result.merge(outcome)
      }
    }
    result.score += 1
  }

  #dependencies({ schema, value, path, depth, result }: Place): void {
    const rules = schema.get('dependencies')
    if (!isObject(rules) || !isObject(value)) return
    for (const name of value.keys()) {
      const rule = rules.get(name)
      if (Array.isArray(rule)) {
        for (const other of rule as string[]) {
          if (!value.has(other)) result.add({ path, keyword: 'dependency', want: other })
        }
      } else this.#check(rule, value, { path, depth: depth + 1, result })
    }
  }

  #enumerated({ schema, value, path, result }: Place): void {
    if (schema.has('const') && !deepEqual(schema.get('const'), value)) {
      result.add({ path, keyword: 'const', want: schema.get('const') })
    }
    const options = schema.get('enum')
    if (Array.isArray(options) && !options.some((option) => deepEqual(option, value))) {
      result.add({ path, keyword: 'enum', want: options })
    }
    const format = schema.get('format')
    if (typeof format === 'string' && typeof value === 'string' && !hasFormat(format, value, 'helm3')) {
      result.add({ path, keyword: 'format', want: format })
    }
    result.score += 1
  }

  #string({ schema, path, result }: Place, value: string): void {
    const length = [...value].length
    const [min, max, pattern] = [schema.get('minLength'), schema.get('maxLength'), schema.get('pattern')]
    if (typeof min === 'number' && length < min) result.add({ path, keyword: 'minLength', want: min })
    if (typeof max === 'number' && length > max) result.add({ path, keyword: 'maxLength', want: max })
    if (typeof pattern === 'string' && !this.#document.matches(pattern, value)) {
      result.add({ path, keyword: 'pattern', want: pattern })
    }
    result.score += 1
  }

  #array(at: Place, value: readonly unknown[]): void {
    const { schema, path, depth, result } = at
    const items = schema.get('items')
    const item = (own: unknown, index: number) =>
      result.merge(this.#result(own, value[index], [...path, String(index)], depth + 1))
    if (Array.isArray(items)) {
      for (const [index, own] of items.slice(0, value.length).entries()) item(own, index)
      const rest = schema.get('additionalItems')
      if (rest === false && value.length > items.length) result.add({ path, keyword: 'additionalItems' })
      else if (isObject(rest)) for (let index = items.length; index < value.length; index++) item(rest, index)
    } else if (items !== undefined) value.forEach((_, index) => item(items, index))
    const [min, max] = [schema.get('minItems'), schema.get('maxItems')]
    if (typeof min === 'number' && value.length < min) result.add({ path, keyword: 'minItems', want: min })
    if (typeof max === 'number' && value.length > max) result.add({ path, keyword: 'maxItems', want: max })
    if (schema.get('uniqueItems') === true) {
      const twice = value.findIndex((one, index) => value.slice(0, index).some((other) => deepEqual(one, other)))
      if (twice >= 0) {
        const first = value.findIndex((other) => deepEqual(value[twice], other))
        result.add({ path, keyword: 'uniqueItems', want: [first, twice] })
      }
    }
    if (schema.has('contains')) {
      const outcomes = value.map((one, index) =>
        this.#result(schema.get('contains'), one, [...path, String(index)], depth + 1),
      )
      if (outcomes.every(({ isValid }) => !isValid)) {
        result.add({ path, keyword: 'contains' })
        if (outcomes.length > 0) result.merge(best(outcomes))
      }
    }
    result.score += 1
  }

  #object(at: Place, value: Json): void {
    const { schema, path, depth, result } = at
    const [min, max] = [schema.get('minProperties'), schema.get('maxProperties')]
    if (typeof min === 'number' && value.size < min) result.add({ path, keyword: 'minProperties', want: min })
    if (typeof max === 'number' && value.size > max) result.add({ path, keyword: 'maxProperties', want: max })
    const required = schema.get('required')
    for (const name of Array.isArray(required) ? (required as string[]) : []) {
      if (value.has(name)) result.score += 1
      else result.add({ path, keyword: 'required', want: name })
    }
    const properties = schema.get('properties')
    const patterns = [...((schema.get('patternProperties') ?? new Map()) as Json)]
    const rule = schema.get('additionalProperties')
    for (const [name, item] of value) {
      const inner = [...path, name]
      const matching = patterns.filter(([pattern]) => this.#document.matches(pattern, name))
      for (const [, one] of matching) result.merge(this.#result(one, item, inner, depth + 1))
      if (matching.length > 0 || (isObject(properties) && properties.has(name))) continue
      if (rule === false) result.add({ path, keyword: 'additionalProperties', want: name })
      else if (isObject(rule)) result.merge(this.#result(rule, item, inner, depth + 1))
    }
    if (schema.has('propertyNames')) {
      for (const name of value.keys()) {
        const outcome = this.#result(schema.get('propertyNames'), name, path, depth + 1)
        if (outcome.isValid) continue
        result.add({ path, keyword: 'propertyNames', want: name })
        result.merge(outcome)
      }
    }
    result.score += 1
  }

  #properties({ schema, path, depth, result }: Place, value: Json): void {
    const properties = schema.get('properties')
    if (!isObject(properties)) return
    for (const [name, own] of properties) {
      if (value.has(name)) result.merge(this.#result(own, value.get(name), [...path, name], depth + 1))
    }
  }
}

/** The first with the most points. */
function best(results: readonly Result[]): Result {
  return results.reduce((found, one) => (one.score > found.score ? one : found))
}

function number({ schema, path, result }: Place, value: number): void {
  const add = (keyword: string, want: unknown) => result.add({ path, keyword, want })
  const step = schema.get('multipleOf')
  if (typeof step === 'number' && !isMultiple(value, step)) add('multipleOf', step)
  for (const [keyword, want] of brokenBounds(schema, value)) add(keyword, want)
  result.score += 1
}
