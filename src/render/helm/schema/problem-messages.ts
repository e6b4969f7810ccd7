/** What is wrong with values, in the words of each Helm's validator. */
import { formatValue } from '../../gotemplate/format.ts'
import { goQuote } from '../../gotemplate/go-string.ts'
import { formatFloat } from '../../gotemplate/format-float.ts'
import { goJson } from '../functions/json.ts'
import { schemaType } from './schema-document.ts'
import type { SchemaProblem } from './schema-document.ts'

/** Helm 4's report: a tree of places. */
export function helm4Report(problems: readonly SchemaProblem[]): string {
  return problems.map((problem) => `${nested(problem, 0)}\n`).join('')
}

function nested(problem: SchemaProblem, depth: number): string {
  const pointer = problem.path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  const line = `${'  '.repeat(depth)}- at ${quoted(pointer)}: ${helm4Text(problem)}`
  return [line, ...(problem.causes ?? []).map((cause) => nested(cause, depth + 1))].join('\n')
}

/** A text as Go quotes it, in single quotes; a backslash at its end comes out alone, as the validator has it. */
function quoted(text: string): string {
  return `'${goQuote(text).replaceAll('\\"', '"').replaceAll("'", "\\'").slice(1, -1)}'`
}

const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const texts = (value: unknown): readonly string[] => itemsOf(value).map(String)
const quotedList = (items: readonly string[]) => items.map(quoted).join(', ')

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/** A number as Go's printer for people writes it: 1,000 and 1.5×10⁰⁶. */
function humanizeNumber(value: number): string {
  const [, digits = '', exponent = 0] = /^(.*)e(.*)$/.exec(value.toExponential()) ?? []
  if (value === 0 || (Number(exponent) >= -4 && Number(exponent) < 6)) return grouped(formatFloat(value, 'f', -1))
  const power = String(Math.abs(Number(exponent))).padStart(2, '0')
  const raised = power.replaceAll(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)]!)
  return `${digits}×10${Number(exponent) < 0 ? '⁻' : ''}${raised}`
}

function grouped(number: string): string {
  return number.replace(/^-?\d+/, (whole) => whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','))
}

const LENGTHS = new Set(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'])
const isScalar = (value: unknown) => typeof value !== 'object' || value === null

/** The order in which the validator names types. */
const TYPES = ['null', 'boolean', 'number', 'integer', 'string', 'array', 'object']

function shown(value: unknown): string {
  if (value === null) return '<nil>'
  return typeof value === 'string' ? quoted(value) : goJson(value)
}

function helm4Text({ keyword, want, got }: SchemaProblem): string {
  switch (keyword) {
    case 'group':
    case 'reference':
      return 'validation failed'
    case 'type': {
      const types = TYPES.filter((type) => texts(want).includes(type))
      return `got ${schemaType(got)}, want ${types.join(' or ')}`
    }
    case 'enum': {
      const options = itemsOf(want)
      if (!options.every(isScalar)) return "'enum' failed"
      const list = options.map(shown).join(', ')
      return options.length === 1 ? `value must be ${list}` : `value must be one of ${list}`
    }
    case 'const':
      return isScalar(want) ? `value must be ${shown(want)}` : "'const' failed"
    case 'format':
      return `${quoted(String(got))} is not valid ${String(want)}`
    case 'required':
      return texts(want).length === 1
        ? `missing property ${quotedList(texts(want))}`
        : `missing properties ${quotedList(texts(want))}`
    case 'additionalProperties':
      return `additional properties ${quotedList(texts(want))} not allowed`
    case 'additionalItems':
      return `last ${grouped(String(want))} additionalItem(s) not allowed`
    case 'pattern':
      return `${quoted(String(got))} does not match pattern ${quoted(String(want))}`
    case 'oneOf':
      return want === undefined
        ? "'oneOf' failed, none matched"
        : `'oneOf' failed, subschemas ${itemsOf(want).join(', ')} matched`
    case 'allOf':
    case 'anyOf':
    case 'not':
      return `'${keyword}' failed`
    case 'uniqueItems':
      return `items at ${itemsOf(want)
        .map((at) => grouped(String(at)))
        .join(' and ')} are equal`
    case 'contains':
      return 'no items match contains schema'
    case 'minContains':
    case 'maxContains':
      return containsText(keyword.slice(0, 3), want, itemsOf(got))
    case 'propertyNames':
      return `invalid propertyName ${quoted(String(want))}`
    case 'dependency':
      return `properties ${quotedList(texts(want))} required, if ${quoted(String(got))} exists`
    case 'false':
      return 'false schema'
    default:
      return `${keyword}: got ${limit(keyword, got)}, want ${limit(keyword, want)}`
  }
}

/** Lengths are integers in the validator, limits are floats. */
function limit(keyword: string, value: unknown): string {
  if (typeof value !== 'number') return String(value)
  return LENGTHS.has(keyword) ? grouped(String(value)) : humanizeNumber(value)
}

function containsText(bound: string, want: unknown, matched: readonly unknown[]): string {
  const wanted = grouped(String(want))
  const found = `matched ${matched.length} items at ${matched.join(' ')}`
  if (bound === 'max') return `max ${wanted} items required to match contains schema, but ${found}`
  return `min ${wanted} items required to match contains schema, but ${matched.length === 0 ? 'none matched' : found}`
}

/** A line of Helm 3's report. */
export function helm3Line(problem: SchemaProblem): string {
  const place = problem.path.length === 0 ? '(root)' : problem.path.join('.')
  return `${place}: ${helm3Text(problem, place)}`
}

function helm3Text({ keyword, want, got }: SchemaProblem, place: string): string {
  switch (keyword) {
    case 'type': {
      const types = texts(want)
      const expected = types.length === 1 ? types[0]! : `[${types.join(',')}]`
      return `Invalid type. Expected: ${expected}, given: ${Number.isInteger(got) ? 'integer' : schemaType(got)}`
    }
    case 'enum':
      return `${place} must be one of the following: ${itemsOf(want)
        .map((item) => goJson(item))
        .join(', ')}`
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
      return `String length must be greater than or equal to ${String(want)}`
    case 'maxLength':
      return `String length must be less than or equal to ${String(want)}`
    case 'minItems':
      return `Array must have at least ${String(want)} items`
    case 'maxItems':
      return `Array must have at most ${String(want)} items`
    case 'minProperties':
      return `Must have at least ${String(want)} properties`
    case 'maxProperties':
      return `Must have at most ${String(want)} properties`
    case 'uniqueItems':
      return `array items[${itemsOf(want).slice(0, 2).join(',')}] must be unique`
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
