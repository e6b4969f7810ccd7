/**
 * JSON Schema as Helm 4's validator understands it, from draft 4 to 2020-12. Problems come as a tree, as its reports
 * nest.
 */
import { deepEqual } from '../functions/go/deep-equal.ts'
import { hasFormat } from './formats.ts'
import {
  addProblems,
  brokenBounds,
  remoteReferenceError,
  isMultiple,
  isObject,
  SchemaDocument,
  typeMatches,
} from './schema-document.ts'
import type { Json, SchemaProblem } from './schema-document.ts'

/** The drafts, by their number or year. */
export type Draft = 4 | 6 | 7 | 2019 | 2020

/** Which draft a schema says it follows; the newest unless it says so. */
export function draftOf(schema: unknown): Draft {
  const address = isObject(schema) ? schema.get('$schema') : undefined
  if (typeof address !== 'string') return 2020
  const match = /^https?:\/\/json-schema\.org\/(?:draft-0([467])\/|draft\/(2019-09|2020-12)\/)?schema#?$/.exec(address)
  if (!match) throw remoteReferenceError(address)
  return match[1] ? (Number(match[1]) as Draft) : match[2] === '2019-09' ? 2019 : 2020
}

/** What a schema has looked at in a value, for `unevaluatedProperties` and `unevaluatedItems`. */
interface Seen {
  readonly names: Set<string>
  readonly indexes: Set<number>
}

interface Place {
  readonly schema: Json
  readonly value: unknown
  readonly path: readonly string[]
  readonly depth: number
  readonly problems: SchemaProblem[]
  readonly seen: Seen
}

interface Outcome {
  readonly problems: readonly SchemaProblem[]
  readonly seen: Seen
}

/** A check of values (plain JSON: Map, Array, number, string, boolean, null) against a schema. */
export class Helm4Validator {
  readonly #document: SchemaDocument
  readonly #draft: Draft

  constructor(schema: unknown, draft: Draft) {
    this.#document = new SchemaDocument(schema)
    this.#draft = draft
  }

  /** Returns all problems of a value. */
  problems(value: unknown): readonly SchemaProblem[] {
    return ungrouped(this.#check(this.#document.root, value, [], 0).problems)
  }

  #resolve(ref: unknown): unknown {
    return this.#document.resolve(
      String(ref),
      (pointer) => `json-pointer in "file:///values.schema.json#${pointer}" not found`,
    )
  }

  /** Groups several problems of a place or alternative under a heading. */
  #grouped(problems: readonly SchemaProblem[], path: readonly string[]): readonly SchemaProblem[] {
    return problems.length > 1 ? [{ path, keyword: 'group', causes: problems }] : problems
  }

  #below(at: Place, schema: unknown, value: unknown, key: string): void {
    const path = [...at.path, key]
    addProblems(at.problems, this.#grouped(this.#check(schema, value, path, at.depth + 1).problems, path))
  }

  /** The same value against another schema. */
  #same(at: Place, schema: unknown): Outcome {
    const { problems, seen } = this.#check(schema, at.value, at.path, at.depth + 1)
    return { problems: this.#grouped(problems, at.path), seen }
  }

  /** The same value against the referenced schema: a heading of its own, which replaces the heading below it. */
  #referred(at: Place, ref: unknown): Outcome {
    const { problems, seen } = this.#check(this.#resolve(ref), at.value, at.path, at.depth + 1)
    const causes = ungrouped(problems)
    return { problems: causes.length > 1 ? [{ path: at.path, keyword: 'reference', causes }] : causes, seen }
  }

  /** Takes over what a schema that holds has looked at. */
  #adopt(at: Place, { problems, seen }: Outcome): void {
    if (problems.length > 0) return
    for (const name of seen.names) at.seen.names.add(name)
    for (const index of seen.indexes) at.seen.indexes.add(index)
  }

  #check(schema: unknown, value: unknown, path: readonly string[], depth: number): Outcome {
    this.#document.countCheck(depth)
    const problems: SchemaProblem[] = []
    const seen: Seen = { names: new Set(), indexes: new Set() }
    if (schema === false) problems.push({ path, keyword: 'false' })
    if (!isObject(schema)) return { problems, seen }
    const at: Place = { schema, value, path, depth, problems, seen }
    const first = this.#decisive(at)
    if (first) return { problems: [first], seen }
    if (schema.has('$ref')) {
      const outcome = this.#referred(at, schema.get('$ref'))
      // Beside a reference nothing else counted in the older drafts.
      if (this.#draft < 2019) return outcome
      addProblems(problems, outcome.problems)
      this.#adopt(at, outcome)
    }
    if (typeof value === 'string') this.#string(at, value)
    else if (typeof value === 'number') this.#number(at, value)
    else if (Array.isArray(value)) this.#array(at, value)
    else if (isObject(value)) this.#object(at, value)
    for (const keyword of ['$recursiveRef', '$dynamicRef']) {
      if (this.#draft < 2019 || !schema.has(keyword)) continue
      const outcome = this.#referred(at, schema.get(keyword))
      addProblems(problems, outcome.problems)
      this.#adopt(at, outcome)
    }
    this.#combined(at)
    if (this.#draft >= 2019) this.#unevaluated(at)
    return { problems, seen }
  }

  /** Checks whose failure hides the rest: the type, a constant, an enumeration, a format. */
  #decisive({ schema, value, path }: Place): SchemaProblem | undefined {
    const type = schema.get('type')
    if (type !== undefined) {
      const types = Array.isArray(type) ? (type as unknown[]) : [type]
      if (!types.some((one) => typeMatches(one, value))) return { path, keyword: 'type', want: types, got: value }
    }
    if (this.#draft >= 6 && schema.has('const') && !deepEqual(schema.get('const'), value)) {
      return { path, keyword: 'const', want: schema.get('const'), got: value }
    }
    const options = schema.get('enum')
    if (Array.isArray(options) && !options.some((option) => deepEqual(option, value))) {
      return { path, keyword: 'enum', want: options, got: value }
    }
    const format = schema.get('format')
    const isAsserted = this.#draft < 2019 || format === 'regex'
    if (isAsserted && typeof format === 'string' && typeof value === 'string' && !hasFormat(format, value, 'helm4')) {
      return { path, keyword: 'format', want: format, got: value }
    }
    return undefined
  }

  #combined(at: Place): void {
    const { schema, path, problems } = at
    const each = (keyword: string): Outcome[] => {
      const list = schema.get(keyword)
      return Array.isArray(list) ? list.map((one) => this.#same(at, one)) : []
    }
    if (schema.has('not') && this.#same(at, schema.get('not')).problems.length === 0) {
      problems.push({ path, keyword: 'not' })
    }
    const all = each('allOf')
    all.forEach((outcome) => this.#adopt(at, outcome))
    const failed = all.flatMap((outcome) => outcome.problems)
    if (failed.length > 0) problems.push({ path, keyword: 'allOf', causes: failed })
    const any = each('anyOf')
    any.forEach((outcome) => this.#adopt(at, outcome))
    if (any.length > 0 && any.every((outcome) => outcome.problems.length > 0)) {
      problems.push({ path, keyword: 'anyOf', causes: any.flatMap((outcome) => outcome.problems) })
    }
    this.#oneOf(at, each('oneOf'))
    if (this.#draft >= 7 && schema.has('if')) {
      const condition = this.#same(at, schema.get('if'))
      this.#adopt(at, condition)
      const branch = schema.get(condition.problems.length === 0 ? 'then' : 'else')
      if (branch === undefined) return
      const outcome = this.#same(at, branch)
      addProblems(problems, outcome.problems)
      this.#adopt(at, outcome)
    }
  }

  #oneOf(at: Place, outcomes: readonly Outcome[]): void {
    if (outcomes.length === 0) return
    const matched = outcomes.flatMap((outcome, index) => (outcome.problems.length === 0 ? [index] : []))
    if (matched.length === 1) this.#adopt(at, outcomes[matched[0]!]!)
    else if (matched.length > 1) at.problems.push({ path: at.path, keyword: 'oneOf', want: matched.slice(0, 2) })
    else {
      at.problems.push({ path: at.path, keyword: 'oneOf', causes: outcomes.flatMap((outcome) => outcome.problems) })
    }
  }

  #string({ schema, path, problems }: Place, value: string): void {
    const length = [...value].length
    const [min, max, pattern] = [schema.get('minLength'), schema.get('maxLength'), schema.get('pattern')]
    if (typeof min === 'number' && length < min) problems.push({ path, keyword: 'minLength', want: min, got: length })
    if (typeof max === 'number' && length > max) problems.push({ path, keyword: 'maxLength', want: max, got: length })
    if (typeof pattern === 'string' && !this.#document.matches(pattern, value)) {
      problems.push({ path, keyword: 'pattern', want: pattern, got: value })
    }
  }

  #number({ schema, path, problems }: Place, value: number): void {
    const add = (keyword: string, want: unknown) => problems.push({ path, keyword, want, got: value })
    for (const [keyword, want] of brokenBounds(schema, value)) add(keyword, want)
    const step = schema.get('multipleOf')
    if (typeof step === 'number' && !isMultiple(value, step)) add('multipleOf', step)
  }

  #array(at: Place, value: readonly unknown[]): void {
    const { schema, path, problems } = at
    const [min, max] = [schema.get('minItems'), schema.get('maxItems')]
    const count = value.length
    if (typeof min === 'number' && count < min) problems.push({ path, keyword: 'minItems', want: min, got: count })
    if (typeof max === 'number' && count > max) problems.push({ path, keyword: 'maxItems', want: max, got: count })
    if (schema.get('uniqueItems') === true) {
      const twice = value.findIndex((item, index) => value.slice(0, index).some((other) => deepEqual(item, other)))
      if (twice >= 0) {
        const first = value.findIndex((other) => deepEqual(value[twice], other))
        problems.push({ path, keyword: 'uniqueItems', want: [first, twice] })
      }
    }
    this.#items(at, value)
    if (this.#draft >= 6 && schema.has('contains')) this.#contains(at, value)
  }

  #items(at: Place, value: readonly unknown[]): void {
    const { schema, path, problems, seen } = at
    const items = schema.get('items')
    const isOlder = this.#draft < 2020
    const positional = isOlder ? (Array.isArray(items) ? items : []) : (schema.get('prefixItems') ?? [])
    const prefix = positional as unknown[]
    const rest = isOlder && Array.isArray(items) ? schema.get('additionalItems') : items
    const extra = value.length - prefix.length
    if (isOlder && Array.isArray(items) && rest === false && extra > 0) {
      problems.push({ path, keyword: 'additionalItems', want: extra })
    }
    for (const [index, item] of value.entries()) {
      const own = index < prefix.length ? prefix[index] : rest
      if (own === undefined) continue
      seen.indexes.add(index)
      if (index >= prefix.length && own === false && isOlder && Array.isArray(items)) continue
      // Helm's validator counts the items behind the positional items from 0 again.
      this.#below(at, own, item, String(index < prefix.length ? index : index - prefix.length))
    }
  }

  #contains(at: Place, value: readonly unknown[]): void {
    const { schema, path, problems, depth, seen } = at
    const matched: number[] = []
    const causes: SchemaProblem[] = []
    for (const [index, item] of value.entries()) {
      const inner = [...path, String(index)]
      const outcome = this.#check(schema.get('contains'), item, inner, depth + 1)
      if (outcome.problems.length === 0) matched.push(index)
      else addProblems(causes, this.#grouped(outcome.problems, inner))
    }
    if (this.#draft >= 2020) for (const index of matched) seen.indexes.add(index)
    const [min, max] = this.#draft >= 2019 ? [schema.get('minContains'), schema.get('maxContains')] : []
    if (typeof min === 'number' && matched.length < min) {
      problems.push({ path, keyword: 'minContains', want: min, got: matched, causes })
    } else if (typeof min !== 'number' && matched.length === 0) problems.push({ path, keyword: 'contains', causes })
    if (typeof max === 'number' && matched.length > max) {
      problems.push({ path, keyword: 'maxContains', want: max, got: matched })
    }
  }

  #object(at: Place, value: Json): void {
    const { schema, path, problems, seen } = at
    const [min, max] = [schema.get('minProperties'), schema.get('maxProperties')]
    const count = value.size
    if (typeof min === 'number' && count < min) problems.push({ path, keyword: 'minProperties', want: min, got: count })
    if (typeof max === 'number' && count > max) problems.push({ path, keyword: 'maxProperties', want: max, got: count })
    const missing = missingOf(schema.get('required'), value)
    if (missing.length > 0) problems.push({ path, keyword: 'required', want: missing })
    const properties = (schema.get('properties') ?? new Map()) as Json
    const patterns = [...((schema.get('patternProperties') ?? new Map()) as Json)]
    const additional: string[] = []
    for (const [name, item] of value) {
      const matching = patterns.filter(([pattern]) => this.#document.matches(pattern, name))
      if (properties.has(name)) this.#below(at, properties.get(name), item, name)
      for (const [, one] of matching) this.#below(at, one, item, name)
      if (properties.has(name) || matching.length > 0) seen.names.add(name)
      else additional.push(name)
    }
    this.#additional(at, value, additional)
    if (this.#draft >= 6 && schema.has('propertyNames')) this.#propertyNames(at, value)
    this.#dependencies(at, value)
  }

  /** Helm's validator forgets the place here. */
  #propertyNames({ schema, problems, depth }: Place, value: Json): void {
    for (const name of value.keys()) {
      const outcome = this.#check(schema.get('propertyNames'), name, [], depth + 1)
      if (outcome.problems.length === 0) continue
      const causes = this.#grouped(outcome.problems, [])
      problems.push({ path: [], keyword: 'propertyNames', want: name, causes })
    }
  }

  #additional(at: Place, value: Json, names: readonly string[]): void {
    const rule = at.schema.get('additionalProperties')
    if (rule === undefined || names.length === 0) return
    for (const name of names) at.seen.names.add(name)
    if (rule === false) at.problems.push({ path: at.path, keyword: 'additionalProperties', want: names })
    else for (const name of names) this.#below(at, rule, value.get(name), name)
  }

  #dependencies(at: Place, value: Json): void {
    const { schema, path, problems } = at
    const keywords = ['dependencies', ...(this.#draft >= 2019 ? ['dependentRequired', 'dependentSchemas'] : [])]
    for (const keyword of keywords) {
      for (const [name, rule] of (schema.get(keyword) ?? new Map()) as Json) {
        if (!value.has(name)) continue
        if (Array.isArray(rule)) {
          const missing = missingOf(rule, value)
          if (missing.length > 0) problems.push({ path, keyword: 'dependency', want: missing, got: name })
        } else {
          const outcome = this.#same(at, rule)
          addProblems(problems, outcome.problems)
          this.#adopt(at, outcome)
        }
      }
    }
  }

  #unevaluated(at: Place): void {
    const { schema, value, seen } = at
    if (isObject(value) && schema.has('unevaluatedProperties')) {
      for (const [name, item] of value) {
        if (!seen.names.has(name)) this.#below(at, schema.get('unevaluatedProperties'), item, name)
        seen.names.add(name)
      }
    }
    if (Array.isArray(value) && schema.has('unevaluatedItems')) {
      for (const [index, item] of value.entries()) {
        if (!seen.indexes.has(index)) this.#below(at, schema.get('unevaluatedItems'), item, String(index))
        seen.indexes.add(index)
      }
    }
  }
}

function missingOf(required: unknown, value: Json): string[] {
  return Array.isArray(required) ? (required as string[]).filter((name) => !value.has(name)) : []
}

/** A single problem has no heading. */
function ungrouped(problems: readonly SchemaProblem[]): readonly SchemaProblem[] {
  const [first] = problems
  return problems.length === 1 && first!.keyword === 'group' ? first!.causes! : problems
}
