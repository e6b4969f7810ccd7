/** Checks a value against a schema and names the problem and its path. Knows only the keywords that our schemas use. */
import { invariant } from '../errors.ts'
import { isObject } from '../json.ts'
import { parseTime } from '../time/time.ts'

/** What is wrong with a value, and where in it: the names and indices on the way. */
export interface SchemaProblem {
  readonly path: readonly string[]
  readonly message: string
}

type Schema = Readonly<Record<string, unknown>>
type Check = (value: never, keyword: never, schema: Schema) => SchemaProblem | undefined

/** The first problem of a value; undefined when the value is valid. */
export function firstSchemaProblem(schema: object, value: unknown): SchemaProblem | undefined {
  const given = schema as Schema
  const isType = TYPES[given['type'] as keyof typeof TYPES]
  if (isType && !isType(value)) return wrong(`must be ${String(given['type'])}`)
  for (const [keyword, argument] of Object.entries(given)) {
    if (ANNOTATIONS.has(keyword) || keyword.startsWith('x-kubernetes-')) continue
    const check = CHECKS[keyword] as ((...args: unknown[]) => SchemaProblem | undefined) | undefined
    // An unchecked keyword would accept every value.
    invariant(check, `a schema says ${keyword}, which is not checked here`)
    const problem = check(value, argument, given)
    if (problem) return problem
  }
  return undefined
}

/** What is for people, and `type`, which comes first. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['default', 'description', 'title', 'type'])

const TYPES = {
  array: (value: unknown) => Array.isArray(value),
  boolean: (value: unknown) => typeof value === 'boolean',
  integer: (value: unknown) => Number.isInteger(value),
  number: (value: unknown) => Number.isFinite(value),
  object: isObject,
  string: (value: unknown) => typeof value === 'string',
} as const

const FORMATS: Readonly<Record<string, (value: unknown) => boolean>> = {
  'date-time': (value) => parseTime(String(value)) !== undefined,
  int32: () => true, // the numbers of JSON
  int64: () => true,
}

const wrong = (message: string, path: readonly string[] = []): SchemaProblem => ({ path, message })
const below = (name: string, problem: SchemaProblem | undefined): SchemaProblem | undefined =>
  problem && { ...problem, path: [name, ...problem.path] }

/** The first of several answers that is a problem. */
function first<T>(list: Iterable<T>, look: (item: T) => SchemaProblem | undefined): SchemaProblem | undefined {
  for (const item of list) {
    const problem = look(item)
    if (problem) return problem
  }
  return undefined
}

const patterns = new Map<string, RegExp>()

function matches(pattern: string, text: string): boolean {
  const known = patterns.get(pattern) ?? new RegExp(pattern, 'u')
  patterns.set(pattern, known)
  return known.test(text)
}

/** Characters as people count them; a text has at most as many as its length. */
const charactersOf = (text: string): number => [...text].length

const CHECKS: Readonly<Record<string, Check>> = {
  const: (value: unknown, wanted: unknown) =>
    value === wanted ? undefined : wrong(`must be ${JSON.stringify(wanted)}`),
  enum: (value: unknown, allowed: readonly unknown[]) =>
    allowed.includes(value) ? undefined : wrong(`must be one of ${allowed.join(', ')}`),
  anyOf: (value: unknown, schemas: readonly Schema[]) =>
    schemas.some((schema) => firstSchemaProblem(schema, value) === undefined)
      ? undefined
      : wrong(`must be one of ${schemas.length} things and is none of them`),
  minLength: (text: string, least: number) =>
    charactersOf(text) >= least ? undefined : wrong(`must have at least ${least} characters`),
  maxLength: (text: string, most: number) =>
    text.length <= most || charactersOf(text) <= most ? undefined : wrong(`must have at most ${most} characters`),
  pattern: (text: string, pattern: string) => (matches(pattern, text) ? undefined : wrong(`must match ${pattern}`)),
  format: (text: string, format: string) => {
    invariant(Object.hasOwn(FORMATS, format), `a schema says format ${format}, which is not checked here`)
    return FORMATS[format]!(text) ? undefined : wrong(`must be a ${format}`)
  },
  minimum: (value: number, least: number) => (value >= least ? undefined : wrong(`must be at least ${least}`)),
  maximum: (value: number, most: number) => (value <= most ? undefined : wrong(`must be at most ${most}`)),
  minItems: (list: readonly unknown[], least: number) =>
    list.length >= least ? undefined : wrong(`must have at least ${least} items`),
  maxItems: (list: readonly unknown[], most: number) =>
    list.length <= most ? undefined : wrong(`must have at most ${most} items`),
  maxProperties: (value: Schema, most: number) =>
    Object.keys(value).length <= most ? undefined : wrong(`must have at most ${most} fields`),
  items: (list: readonly unknown[], schema: Schema) =>
    first(list.entries(), ([index, item]) => below(String(index), firstSchemaProblem(schema, item))),
  required: (value: Schema, names: readonly string[]) =>
    first(names, (name) => (has(value, name) ? undefined : wrong('is required', [name]))),
  properties: (value: Schema, properties: Readonly<Record<string, Schema>>) =>
    first(Object.entries(properties), ([name, schema]) =>
      has(value, name) ? below(name, firstSchemaProblem(schema, value[name])) : undefined,
    ),
  additionalProperties: (value: Schema, others: boolean | Schema, { properties }: Schema) =>
    first(Object.entries(value), ([name, item]) => {
      if (others === true || Object.hasOwn(properties ?? {}, name)) return undefined
      return others === false ? wrong('is not known', [name]) : below(name, firstSchemaProblem(others, item))
    }),
}

/** What is undefined is not there: JSON does not carry it. */
function has(value: Schema, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined
}
