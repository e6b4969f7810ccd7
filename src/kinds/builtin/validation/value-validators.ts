/** What the value of a field can be asked to be like, in the words of Kubernetes' own validation. */
import { isObject } from '../../../core/json.ts'
import {
  labelKeyProblems,
  labelProblems,
  labelValueProblems,
  portNameProblems,
  subdomainProblems,
} from '../../../core/text/name-validation.ts'
import { ipAddressProblems } from '../../validation/metadata.ts'
import { invalid, notSupported } from '../../validation/field-error.ts'
import type { FieldError } from '../../validation/field-error.ts'

/** What is wrong with a value that is there. */
export type ValueValidator = (value: unknown, field: string) => readonly FieldError[]

const NOTHING: readonly FieldError[] = []

/** One of these words, which are told in this order. An empty one is none, and asked for where it is missed. */
export function oneOfValues(...known: readonly string[]): ValueValidator {
  return (value, field) =>
    value === '' || known.includes(String(value)) ? NOTHING : [notSupported(field, value, known)]
}

/** A number that is right. */
export function number(isRight: (value: number) => boolean, problem: string): ValueValidator {
  return (value, field) => (typeof value === 'number' && !isRight(value) ? [invalid(field, value, problem)] : NOTHING)
}

/** A text without these problems. */
export function text(problemsOf: (value: string) => readonly string[]): ValueValidator {
  return (value, field) => {
    const problems = typeof value === 'string' ? problemsOf(value) : []
    return problems.length === 0 ? NOTHING : problems.map((problem) => invalid(field, value, problem))
  }
}

/** The same; an empty text is asked for where it is missed. */
export function nonEmptyText(problemsOf: (value: string) => readonly string[]): ValueValidator {
  return text((value) => (value === '' ? [] : problemsOf(value)))
}

/** A list of values that a validator checks. */
export function each(form: ValueValidator): ValueValidator {
  return (value, field) =>
    Array.isArray(value) ? value.flatMap((item, index) => form(item, `${field}[${index}]`)) : []
}

/** A number in a range. */
export const between = (min: number, max: number): ValueValidator =>
  number((value) => value >= min && value <= max, `must be between ${min} and ${max}, inclusive`)

/** At least nothing. */
export const NOT_NEGATIVE = number((value) => value >= 0, 'must be greater than or equal to 0')
/** The number of a port. */
export const PORT = between(1, 65_535)
/** A port that may be left open; to Go, zero is none. */
export const OPTIONAL_PORT: ValueValidator = (value, field) => (value === 0 ? NOTHING : PORT(value, field))
/** The number of a user or a group. */
export const USER_OR_GROUP_ID = between(0, 2 ** 31 - 1)
/** Names, by what they may be made of. */
export const LABEL = nonEmptyText(labelProblems)
export const SUBDOMAIN = nonEmptyText(subdomainProblems)
export const QUALIFIED = nonEmptyText(labelKeyProblems)
/** What goes over a port. */
export const PROTOCOL = oneOfValues('SCTP', 'TCP', 'UDP')
/** An address of IPv4 or IPv6. */
export const IP_ADDRESS = nonEmptyText(ipAddressProblems)

const PORT_NAME = text(portNameProblems)

/** A port by number or by name. */
export const PORT_OR_NAME: ValueValidator = (value, field) =>
  (typeof value === 'number' ? PORT : PORT_NAME)(value, field)

/** The name of a variable of the environment. */
export const ENV_VAR_NAME = nonEmptyText((value) =>
  /^[ -<>-~]*$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"],
)

/** Labels of a selector. */
export const LABELS: ValueValidator = (value, field) =>
  Object.entries(isObject(value) ? value : {}).flatMap(([key, word]) => [
    ...labelKeyProblems(key).map((problem) => invalid(field, key, problem)),
    ...labelValueProblems(String(word)).map((problem) => invalid(field, word, problem)),
  ])

/** The mode of a file. */
export const MODE = number(
  (value) => value >= 0 && value <= 0o777,
  'must be a number between 0 and 0777 (octal), both inclusive',
)

/** Whether a path leads up again. */
export const parentDirectoryProblems = (value: string): string[] =>
  value.split('/').includes('..') ? ["must not contain '..'"] : []

/** What is wrong with a path below something. */
export const relativePath: ValueValidator = nonEmptyText((value) => [
  ...(value.startsWith('/') ? ['must be a relative path'] : []),
  ...parentDirectoryProblems(value),
])

/** What is wrong with a path that does not begin at the root. */
export const absolutePath: ValueValidator = nonEmptyText((value) =>
  value.startsWith('/') ? [] : ['must be an absolute path'],
)

const PERCENT = '[0-9]+%'
const isPercent = new RegExp(`^${PERCENT}$`)

/** A number or a share of all. */
export const COUNT_OR_PERCENT: ValueValidator = (value, field) => {
  if (typeof value === 'number') return NOT_NEGATIVE(value, field)
  if (isPercent.test(String(value))) return []
  const words = "a valid percent string must be a numeric string followed by an ending '%'"
  return [invalid(field, value, `${words} (e.g. '1%',  or '93%', regex used for validation is '${PERCENT}')`)]
}

/** The same, and never more than all. */
export const COUNT_OR_PERCENT_TO_100: ValueValidator = (value, field) => {
  const errors = COUNT_OR_PERCENT(value, field)
  if (errors.length > 0 || typeof value === 'number' || Number.parseInt(String(value), 10) <= 100) return errors
  return [invalid(field, value, 'must not be greater than 100%')]
}
