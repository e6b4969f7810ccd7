/** What is wrong with values, in the words of each Helm's validator. */
import { formatValue } from '../gotemplate/format.ts'
import { formatFloat } from '../gotemplate/format-float.ts'
import { goJson } from './functions/json.ts'
import { schemaType } from './schema-document.ts'
import type { SchemaProblem } from './schema-document.ts'

/** Helm 4's report: a tree of places. */
export function helm4Report(problems: readonly SchemaProblem[]): string {
  return problems.map((problem) => `${nested(problem, 0)}\n`).join('')
}

function nested(problem: SchemaProblem, depth: number): string {
  const pointer = problem.path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  const line = `${'  '.repeat(depth)}- at '${pointer}': ${helm4Text(problem)}`
  return [line, ...(problem.causes ?? []).map((cause) => nested(cause, depth + 1))].join('\n')
}

const quoted = (items: readonly unknown[]) => items.map((item) => `'${String(item)}'`).join(', ')
const number = (value: unknown) => (typeof value === 'number' ? formatFloat(value, 'f', -1) : String(value))
const isScalar = (value: unknown) => typeof value !== 'object' || value === null

/** The order in which the validator names types. */
const TYPES = ['null', 'boolean', 'number', 'integer', 'string', 'array', 'object']

function shown(value: unknown): string {
  if (value === null) return '<nil>'
  return typeof value === 'string' ? `'${value}'` : goJson(value)
}

function helm4Text({ keyword, want, got }: SchemaProblem): string {
  switch (keyword) {
    case 'group':
    case 'reference':
      return 'validation failed'
    case 'type': {
      const types = TYPES.filter((type) => (want as string[]).includes(type))
      return `got ${schemaType(got)}, want ${types.join(' or ')}`
    }
    case 'enum': {
      const options = want as unknown[]
      if (!options.every(isScalar)) return "'enum' failed"
      const list = options.map(shown).join(', ')
      return options.length === 1 ? `value must be ${list}` : `value must be one of ${list}`
    }
    case 'const':
      return isScalar(want) ? `value must be ${shown(want)}` : "'const' failed"
    case 'format':
      return `'${String(got)}' is not valid ${String(want)}`
    case 'required':
      return (want as string[]).length === 1
        ? `missing property ${quoted(want as string[])}`
        : `missing properties ${quoted(want as string[])}`
    case 'additionalProperties':
      return `additional properties ${quoted(want as string[])} not allowed`
    case 'additionalItems':
      return `last ${String(want)} additionalItem(s) not allowed`
    case 'pattern':
      return `'${String(got)}' does not match pattern '${String(want)}'`
    case 'oneOf':
      return want === undefined
        ? "'oneOf' failed, none matched"
        : `'oneOf' failed, subschemas ${(want as number[]).join(', ')} matched`
    case 'allOf':
    case 'anyOf':
    case 'not':
      return `'${keyword}' failed`
    case 'uniqueItems':
      return `items at ${(want as number[])[0]} and ${(want as number[])[1]} are equal`
    case 'contains':
      return 'no items match contains schema'
    case 'minContains':
    case 'maxContains':
      return containsText(keyword.slice(0, 3), want as number, got as number[])
    case 'propertyNames':
      return `invalid propertyName '${String(want)}'`
    case 'dependency':
      return `properties ${quoted(want as string[])} required, if '${String(got)}' exists`
    case 'false':
      return 'false schema'
    default:
      return `${keyword}: got ${number(got)}, want ${number(want)}`
  }
}

function containsText(limit: string, want: number, matched: readonly number[]): string {
  if (limit === 'max') {
    return `max ${want} items required to match contains schema, but matched ${matched.length} items at ${matched.join(' ')}`
  }
  const found = matched.length === 0 ? 'none matched' : `matched ${matched.length} items at ${matched.join(' ')}`
  return `min ${want} items required to match contains schema, but ${found}`
}

/** A line of Helm 3's report. */
export function helm3Line(problem: SchemaProblem): string {
  const place = problem.path.length === 0 ? '(root)' : problem.path.join('.')
  return `${place}: ${helm3Text(problem, place)}`
}

function helm3Text({ keyword, want, got }: SchemaProblem, place: string): string {
  switch (keyword) {
    case 'type': {
      const types = want as string[]
      const expected = types.length === 1 ? types[0]! : `[${types.join(',')}]`
      return `Invalid type. Expected: ${expected}, given: ${Number.isInteger(got) ? 'integer' : schemaType(got)}`
    }
    case 'enum':
      return `${place} must be one of the following: ${(want as unknown[]).map((item) => goJson(item)).join(', ')}`
    case 'const':
      return `${place} does not match: ${goJson(want)}`
    case 'format':
      return `Does not match format '${String(want)}'`
    case 'required':
      return `${String(want)} is required`
    case 'additionalProperties':
      return `Additional property ${String(want)} is not allowed`
    case 'additionalItems':
      return 'No additional items allowed on array'
    case 'dependency':
      return `Has a dependency on ${String(want)}`
    case 'propertyNames':
      return `Property name of "${String(want)}" does not match`
    case 'pattern':
      return `Does not match pattern '${String(want)}'`
    case 'minimum':
      return `Must be greater than or equal to ${formatValue(want)}`
    case 'maximum':
      return `Must be less than or equal to ${formatValue(want)}`
    case 'exclusiveMinimum':
      return `Must be greater than ${formatValue(want)}`
    case 'exclusiveMaximum':
      return `Must be less than ${formatValue(want)}`
    case 'multipleOf':
      return `Must be a multiple of ${formatValue(want)}`
    case 'minLength':
      return `String length must be greater than or equal to ${formatValue(want)}`
    case 'maxLength':
      return `String length must be less than or equal to ${formatValue(want)}`
    case 'minItems':
      return `Array must have at least ${formatValue(want)} items`
    case 'maxItems':
      return `Array must have at most ${formatValue(want)} items`
    case 'minProperties':
      return `Must have at least ${formatValue(want)} properties`
    case 'maxProperties':
      return `Must have at most ${formatValue(want)} properties`
    case 'uniqueItems':
      return `array items[${(want as number[])[0]},${(want as number[])[1]}] must be unique`
    case 'contains':
      return 'At least one of the items must match'
    case 'anyOf':
      return 'Must validate at least one schema (anyOf)'
    case 'oneOf':
      return 'Must validate one and only one schema (oneOf)'
    case 'allOf':
      return 'Must validate all the schemas (allOf)'
    case 'not':
      return 'Must not validate the schema (not)'
    case 'then':
      return 'Must validate "then" as "if" was valid'
    case 'else':
      return 'Must validate "else" as "if" was not valid'
    case 'false':
      return 'False always fails validation'
    default:
      return `Does not satisfy ${keyword}`
  }
}
