/** values.schema.json of a chart and its subcharts, with the words of each Helm's validator. */
import { GoInt, GoNamed } from '../../gotemplate/value.ts'
import type { Chart } from '../chart/chart.ts'
import { isTable } from '../values/dict.ts'
import type { Dict } from '../values/dict.ts'
import { decodeFileText } from '../chart/file-text.ts'
import { JsonError, readJsonPrefix } from '../functions/go/read-json.ts'
import { HelmError } from '../helm-error.ts'
import type { HelmProfile } from '../profile.ts'
import { SchemaError } from './schema-document.ts'
import { Helm3Validator } from './helm3-validator.ts'
import { draftOf, Helm4Validator } from './helm4-validator.ts'
import type { Draft } from './helm4-validator.ts'
import { metaschemaUrl, metaschemaOf } from './metaschemas.ts'
import { isPlainSchema } from './plain-schema.ts'
import { helm3Line, helm4Report } from './problem-messages.ts'

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
    const check = checkOf(schemaText, profile)
    if (profile.name === 'helm3' && holdsControlCharacter(values)) return 'yaml: control characters are not allowed'
    return check(plainJson(values))
  } catch (error) {
    if (error instanceof JsonError) return error.message.replace('unexpected end of JSON input', 'unexpected EOF')
    if (error instanceof SchemaError) return error.message
    throw error
  }
}

/** Says what is wrong with values, in the words of a Helm version. */
type Check = (values: unknown) => string

const checks = new WeakMap<Uint8Array, Map<string, Check>>()
const metaschemas = new Map<Draft, Helm4Validator>()

function checkOf(schemaText: Uint8Array, profile: HelmProfile): Check {
  const known = checks.get(schemaText)?.get(profile.name)
  if (known) return known
  const schema = readSchema(decodeFileText(schemaText), profile)
  const check = profile.name === 'helm3' ? helm3Check(schema) : helm4Check(schema)
  const byVersion = checks.get(schemaText) ?? new Map<string, Check>()
  byVersion.set(profile.name, check)
  checks.set(schemaText, byVersion)
  return check
}

/** The first value is the schema; Helm 3 does not look at what follows. */
function readSchema(text: string, profile: HelmProfile): unknown {
  if (/^[ \t\r\n]*$/.test(text)) throw new SchemaError('EOF')
  const { value, end } = readJsonPrefix(text)
  if (profile.name === 'helm4' && /[^ \t\r\n]/.test(text.slice(end))) {
    throw new SchemaError('invalid character after top-level value')
  }
  return value
}

function helm3Check(schema: unknown): Check {
  const validator = new Helm3Validator(schema)
  return (values) =>
    validator
      .problems(values)
      .map((problem) => `- ${helm3Line(problem)}\n`)
      .join('')
}

function helm4Check(schema: unknown): Check {
  const draft = draftOf(schema)
  const wrong = isPlainSchema(schema) ? '' : helm4Report(metaValidator(draft).problems(schema))
  if (wrong !== '') {
    throw new SchemaError(
      `"file:///values.schema.json#" is not valid against metaschema: jsonschema validation failed with '${metaschemaUrl(draft)}'\n${wrong.trimEnd()}`,
    )
  }
  const validator = new Helm4Validator(schema, draft)
  return (values) => helm4Report(validator.problems(values))
}

function metaValidator(draft: Draft): Helm4Validator {
  const validator = metaschemas.get(draft) ?? new Helm4Validator(metaschemaOf(draft), draft)
  metaschemas.set(draft, validator)
  return validator
}

/** Characters that JSON keeps as they are and YAML does not allow: Helm 3 sends values through both. */
// oxlint-disable-next-line no-control-regex -- exactly the characters that YAML does not allow
const NOT_YAML = /[\u007f-\u0084\u0086-\u009f\ufffe\uffff]/

function holdsControlCharacter(value: unknown): boolean {
  if (typeof value === 'string') return NOT_YAML.test(value)
  if (Array.isArray(value)) return value.some(holdsControlCharacter)
  return isTable(value) && [...value].some(([key, item]) => NOT_YAML.test(key) || holdsControlCharacter(item))
}

function plainJson(value: unknown): unknown {
  if (value instanceof GoInt) return Number(value.value)
  if (value instanceof GoNamed) return value.info.type === 'json.Number' ? Number(value.value) : plainJson(value.value)
  if (Array.isArray(value)) return value.map(plainJson)
  if (isTable(value)) return new Map([...value].map(([key, item]) => [key, plainJson(item)]))
  return value ?? null
}
