/** values.schema.json of a chart and its subcharts, with the words of each Helm's validator. */
import { formatValue } from '../gotemplate/format.ts'
import { formatFloat } from '../gotemplate/format-float.ts'
import { GoInt, GoNamed } from '../gotemplate/value.ts'
import type { Chart } from './chart.ts'
import { isTable } from './dict.ts'
import type { Dict } from './dict.ts'
import { textOf } from './file-text.ts'
import { goJson } from './functions/json.ts'
import { JsonError, readJson } from './functions/json-read.ts'
import { HelmError } from './helm-error.ts'
import { compileSchema, SchemaError, schemaType } from './json-schema.ts'
import type { SchemaProblem } from './json-schema.ts'
import type { HelmProfile } from './profile.ts'

/** Checks the values against every schema; throws HelmError naming each place. */
export function validateSchemas(chart: Chart, values: Dict, profile: HelmProfile): void {
  const report = reportOf(chart, values, profile)
  if (report !== '') {
    throw new HelmError(`values don't meet the specifications of the schema(s) in the following chart(s):\n${report}`)
  }
}

function reportOf(chart: Chart, values: Dict, profile: HelmProfile): string {
  let report = ''
  if (chart.schema) {
    const problem = problemsOf(chart.schema, values, profile)
    if (problem !== '') report += `${chart.metadata.name}:\n${problem}`
  }
  for (const child of chart.dependencies) {
    const own = values.get(child.metadata.name)
    if (isTable(own)) report += reportOf(child, own, profile)
  }
  return report
}

function problemsOf(schemaText: Uint8Array, values: Dict, profile: HelmProfile): string {
  try {
    const problems = checkOf(schemaText)(plainJson(values))
    if (problems.length === 0) return ''
    if (profile.name === 'helm3')
      return flat(problems)
        .map((problem) => `- ${oldText(problem)}\n`)
        .join('')
    // At the root a single heading is left out.
    const [first] = problems
    const top = problems.length === 1 && first!.keyword === 'group' ? first!.causes! : problems
    return `${top.map((problem) => nested(problem, 0)).join('\n')}\n`
  } catch (error) {
    if (error instanceof SchemaError || error instanceof JsonError) return error.message
    throw error
  }
}

const checks = new WeakMap<Uint8Array, ReturnType<typeof compileSchema>>()

function checkOf(schemaText: Uint8Array): ReturnType<typeof compileSchema> {
  const known = checks.get(schemaText)
  if (known) return known
  const check = compileSchema(readJson(textOf(schemaText)))
  checks.set(schemaText, check)
  return check
}

function plainJson(value: unknown): unknown {
  if (value instanceof GoInt) return Number(value.value)
  if (value instanceof GoNamed) return value.info.type === 'json.Number' ? Number(value.value) : plainJson(value.value)
  if (Array.isArray(value)) return value.map(plainJson)
  if (isTable(value)) return new Map([...value].map(([key, item]) => [key, plainJson(item)]))
  return value ?? null
}

function nested(problem: SchemaProblem, depth: number): string {
  const pointer = problem.path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  const line = `${'  '.repeat(depth)}- at '${pointer}': ${newText(problem)}`
  return [line, ...(problem.causes ?? []).map((cause) => nested(cause, depth + 1))].join('\n')
}

const quoted = (items: readonly unknown[]) => items.map((item) => `'${String(item)}'`).join(', ')
const number = (value: unknown) => (typeof value === 'number' ? formatFloat(value, 'f', -1) : String(value))

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : goJson(value)
}

function newText({ keyword, want, got }: SchemaProblem): string {
  switch (keyword) {
    case 'group':
      return 'validation failed'
    case 'type':
      return `got ${schemaType(got)}, want ${(want as string[]).join(' or ')}`
    case 'enum':
      return (want as unknown[]).length === 1
        ? `value must be ${shown((want as unknown[])[0])}`
        : `value must be one of ${(want as unknown[]).map(shown).join(', ')}`
    case 'const':
      return `value must be ${shown(want)}`
    case 'required':
      return (want as string[]).length === 1
        ? `missing property ${quoted(want as string[])}`
        : `missing properties ${quoted(want as string[])}`
    case 'additionalProperties':
      return `additional properties ${quoted(want as string[])} not allowed`
    case 'pattern':
      return `'${String(got)}' does not match pattern '${String(want)}'`
    case 'oneOf':
      return want === undefined
        ? 'oneOf failed, none matched'
        : `oneOf failed, subschemas ${(want as number[]).join(', ')} matched`
    case 'allOf':
    case 'anyOf':
    case 'not':
      return `${keyword} failed`
    case 'uniqueItems':
      return `items at ${(want as number[])[0]} and ${(want as number[])[1]} are equal`
    case 'contains':
      return 'no items match contains schema'
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

/** The older validator lists everything one below the other. */
function flat(problems: readonly SchemaProblem[]): SchemaProblem[] {
  return problems.flatMap((problem): SchemaProblem[] => {
    if (problem.keyword === 'group') return flat(problem.causes ?? [])
    if (problem.keyword === 'required') {
      return (problem.want as string[]).map((name) => ({ path: problem.path, keyword: 'required', want: name }))
    }
    if (problem.keyword === 'additionalProperties') {
      return (problem.want as string[]).map((name) => ({
        path: problem.path,
        keyword: 'additionalProperties',
        want: name,
      }))
    }
    const own = { path: problem.path, keyword: problem.keyword, want: problem.want, got: problem.got }
    return problem.keyword === 'allOf' ? [...flat(problem.causes ?? []), own] : [own]
  })
}

function oldText(problem: SchemaProblem): string {
  const place = problem.path.length === 0 ? '(root)' : problem.path.join('.')
  return `${place}: ${oldReason(problem, place)}`
}

function oldReason({ keyword, want, got }: SchemaProblem, place: string): string {
  switch (keyword) {
    case 'type':
      return `Invalid type. Expected: ${(want as string[]).join('/')}, given: ${typeof got === 'number' && Number.isInteger(got) ? 'integer' : schemaType(got)}`
    case 'enum':
      return `${place} must be one of the following: ${(want as unknown[]).map((item) => goJson(item)).join(', ')}`
    case 'const':
      return `${place} does not match: ${goJson(want)}`
    case 'required':
      return `${String(want)} is required`
    case 'additionalProperties':
      return `Additional property ${String(want)} is not allowed`
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
    case 'anyOf':
      return 'Must validate at least one schema (anyOf)'
    case 'oneOf':
      return 'Must validate one and only one schema (oneOf)'
    case 'allOf':
      return 'Must validate all the schemas (allOf)'
    case 'not':
      return 'Must not validate the schema (not)'
    default:
      return `Does not satisfy ${keyword}`
  }
}
