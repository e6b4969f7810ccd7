/**
 * Kubernetes' rules for names, labels and keys, in its own words. Each function returns what is wrong; nothing means
 * valid.
 */
import { utf8 } from '../bytes.ts'

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const VALUE = `(${KEY})?`

const DATA_KEY = '[-._a-zA-Z0-9]+'

const isDataKey = new RegExp(`^${DATA_KEY}$`)
const isLabel = new RegExp(`^${LABEL}$`)
const isSubdomain = new RegExp(`^${SUBDOMAIN}$`)
const isLabel1035 = new RegExp(`^${LABEL_1035}$`)
const isKeyName = new RegExp(`^${KEY}$`)
const isValue = new RegExp(`^${VALUE}$`)

const KEY_RULE = regexProblem(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  KEY,
  ['MyName', 'my.name', '123-abc'],
)

const DATA_KEY_RULE = regexProblem(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  DATA_KEY,
  ['key.name', 'KEY_NAME', 'key-name'],
)

/** Problems of a name that must be a DNS subdomain, as most objects' names must. */
export function subdomainProblems(value: string): string[] {
  const problems = tooLong(value, 253)
  // Length first and alone: the expression is quadratic, and a longer text is wrong anyway.
  if (problems.length > 0) return problems
  if (!isSubdomain.test(value)) {
    problems.push(
      regexProblem(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        SUBDOMAIN,
        ['example.com'],
      ),
    )
  }
  return problems
}

/** Problems of a key of a ConfigMap or a Secret, which becomes the name of a file. */
export function dataKeyProblems(value: string): string[] {
  const problems = tooLong(value, 253)
  if (!isDataKey.test(value)) problems.push(DATA_KEY_RULE)
  if (value === '.') problems.push("must not be '.'")
  else if (value === '..') problems.push("must not be '..'")
  else if (value.startsWith('..')) problems.push("must not start with '..'")
  return problems
}

/** Problems of a name that must be a DNS label, as namespaces' names must. */
export function labelProblems(value: string): string[] {
  const problems = tooLong(value, 63)
  if (problems.length > 0) return problems
  if (isLabel.test(value)) return []
  if (isSubdomain.test(value)) return ['must not contain dots']
  return [
    regexProblem(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
      LABEL,
      ['my-name', '123-abc'],
    ),
  ]
}

/** Problems of a name that must begin with a letter, as Services' names must. */
export function label1035Problems(value: string): string[] {
  const problems = tooLong(value, 63)
  if (problems.length > 0) return problems
  if (isLabel1035.test(value)) return []
  return [
    regexProblem(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
      LABEL_1035,
      ['my-name', 'abc-123'],
    ),
  ]
}

/** Problems of a label's or annotation's key: `name` or `prefix/name`. */
export function labelKeyProblems(value: string): string[] {
  const parts = value.split('/')
  if (parts.length > 2) {
    return [`a valid label key ${KEY_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  const problems: string[] = []
  const name = parts.at(-1)!
  if (parts.length === 2) {
    const prefix = parts[0]!
    if (prefix === '') problems.push('prefix part must be non-empty')
    else problems.push(...subdomainProblems(prefix).map((problem) => `prefix part ${problem}`))
  }
  if (name === '') problems.push('name part must be non-empty')
  else if (utf8Length(name) > 63) return [...problems, `name part ${maxLength(63)}`]
  if (!isKeyName.test(name)) problems.push(`name part ${KEY_RULE}`)
  return problems
}

/** Problems of a label's value. */
export function labelValueProblems(value: string): string[] {
  const problems = tooLong(value, 63)
  if (problems.length > 0) return problems
  if (isValue.test(value)) return []
  return [
    regexProblem(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      VALUE,
      ['MyValue', 'my_value', '12345'],
    ),
  ]
}

/** Problems of the name of a port. */
export function portNameProblems(value: string): string[] {
  return [
    ...(value.length > 15 ? ['must be no more than 15 characters'] : []),
    ...(/^[-a-z0-9]+$/.test(value) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
    ...(/[a-z]/.test(value) ? [] : ['must contain at least one letter (a-z)']),
    ...(value.includes('--') ? ['must not contain consecutive hyphens'] : []),
    ...(/^-|-$/.test(value) ? ['must not begin or end with a hyphen'] : []),
  ]
}

/** Problems of a name that is only a segment of a URL, as RBAC's names are. */
export function pathSegmentProblems(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`]
  return ['/', '%']
    .filter((character) => value.includes(character))
    .map((character) => `may not contain '${character}'`)
}

function tooLong(value: string, max: number): string[] {
  // A character is three bytes at most for each of its units, so that most names need no counting.
  return value.length * 3 > max && utf8Length(value) > max ? [maxLength(max)] : []
}

function maxLength(max: number): string {
  return `must be no more than ${max} bytes`
}

function utf8Length(value: string): number {
  return utf8(value).byteLength
}

function regexProblem(rule: string, expression: string, examples: readonly string[]): string {
  return `${rule} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${expression}')`
}
