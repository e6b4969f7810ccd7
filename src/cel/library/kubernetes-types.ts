/** `quantity("2Gi")`, `semver("1.2.3")` and named formats. */
import {
  labelKeyProblems,
  labelProblems,
  label1035Problems,
  labelValueProblems,
  subdomainProblems,
} from '../../core/text/name-validation.ts'
import { addQuantities, compareQuantities, parseQuantity, quantityToNumber } from '../../core/text/quantity.ts'
import type { Quantity } from '../../core/text/quantity.ts'
import { ArrayList, CelFailure, CelOpaque, CelOptional, MAX_INT, MIN_INT } from '../values.ts'
import type { CelValue } from '../values.ts'
import { parseOverloads } from './overload.ts'
import type { Implementation, Overload } from './overload.ts'
import { parseDate, parseTimestamp } from './time.ts'
import { parseRequestUri } from './url.ts'

const BILLION = 1_000_000_000n

class CelQuantity extends CelOpaque {
  readonly typeName = 'kubernetes.Quantity'
  readonly quantity: Quantity
  constructor(quantity: Quantity) {
    super()
    this.quantity = quantity
  }
  equals(other: CelOpaque): boolean {
    return other instanceof CelQuantity && other.quantity.nano === this.quantity.nano
  }
  /** undefined when it is not a whole number of 64 bits. */
  get whole(): bigint | undefined {
    const { nano } = this.quantity
    const value = nano / BILLION
    return nano % BILLION === 0n && value <= MAX_INT && value >= MIN_INT ? value : undefined
  }
}

function quantity(text: string): CelQuantity {
  const parsed = parseQuantity(text)
  if (!parsed) {
    throw new CelFailure("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
  }
  return new CelQuantity(parsed)
}

function asInteger(value: CelQuantity): bigint {
  const { whole } = value
  if (whole === undefined) throw new CelFailure('cannot convert value to integer')
  return whole
}

const ofInt = (value: bigint): Quantity => ({ nano: value * BILLION })
const negative = (value: Quantity): Quantity => ({ nano: -value.nano })
const sum = (a: CelQuantity, b: Quantity): CelQuantity => new CelQuantity(addQuantities(a.quantity, b))
const compare = (a: CelQuantity, b: CelQuantity): number => compareQuantities(a.quantity, b.quantity)

const QUANTITY: readonly Overload[] = parseOverloads({
  string_to_quantity: ['quantity(string): kubernetes.Quantity', quantity],
  is_quantity_string: ['isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined],
  quantity_sign: ['sign(kubernetes.Quantity): int', signOf],
  quantity_is_greater_than: [
    'kubernetes.Quantity::isGreaterThan(kubernetes.Quantity): bool',
    (a: CelQuantity, b: CelQuantity) => compare(a, b) > 0,
  ],
  quantity_is_less_than: [
    'kubernetes.Quantity::isLessThan(kubernetes.Quantity): bool',
    (a: CelQuantity, b: CelQuantity) => compare(a, b) < 0,
  ],
  quantity_compare_to: [
    'kubernetes.Quantity::compareTo(kubernetes.Quantity): int',
    (a: CelQuantity, b: CelQuantity) => BigInt(compare(a, b)),
  ],
  quantity_get_float: [
    'kubernetes.Quantity::asApproximateFloat(): double',
    (a: CelQuantity) => quantityToNumber(a.quantity),
  ],
  quantity_get_int: ['kubernetes.Quantity::asInteger(): int', asInteger],
  quantity_is_integer: ['kubernetes.Quantity::isInteger(): bool', (a: CelQuantity) => a.whole !== undefined],
  quantity_add: [
    'kubernetes.Quantity::add(kubernetes.Quantity): kubernetes.Quantity',
    (a: CelQuantity, b: CelQuantity) => sum(a, b.quantity),
  ],
  quantity_add_int: [
    'kubernetes.Quantity::add(int): kubernetes.Quantity',
    (a: CelQuantity, b: bigint) => sum(a, ofInt(b)),
  ],
  quantity_sub: [
    'kubernetes.Quantity::sub(kubernetes.Quantity): kubernetes.Quantity',
    (a: CelQuantity, b: CelQuantity) => sum(a, negative(b.quantity)),
  ],
  quantity_sub_int: [
    'kubernetes.Quantity::sub(int): kubernetes.Quantity',
    (a: CelQuantity, b: bigint) => sum(a, ofInt(-b)),
  ],
})

function signOf({ quantity: { nano } }: CelQuantity): bigint {
  return nano > 0n ? 1n : nano < 0n ? -1n : 0n
}

class CelSemver extends CelOpaque {
  readonly typeName = 'kubernetes.Semver'
  readonly numbers: readonly [bigint, bigint, bigint]
  readonly pre: readonly string[]
  constructor(numbers: readonly [bigint, bigint, bigint], pre: readonly string[]) {
    super()
    this.numbers = numbers
    this.pre = pre
  }
  equals(other: CelOpaque): boolean {
    return other instanceof CelSemver && compareSemver(this, other) === 0
  }
}

const NUMBER = '(0|[1-9]\\d*)'
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
)
const MAX_SEMVER = 4096

function parseSemver(text: string, isLoose: boolean): CelSemver | undefined {
  const form = isLoose ? normalize(text) : text
  const match = form === undefined || form.length > MAX_SEMVER ? null : SEMVER.exec(form)
  if (!match) return undefined
  const pre = match[4] === undefined ? [] : match[4].split('.')
  if (pre.some((part) => /^0\d+$/.test(part))) return undefined
  const numbers = [match[1]!, match[2]!, match[3]!].map(BigInt)
  if (numbers.some((part) => part > 2n ** 64n - 1n)) return undefined
  return new CelSemver([numbers[0]!, numbers[1]!, numbers[2]!], pre)
}

// `v1.02` is 1.2.0: a leading v, leading zeros and missing parts are forgiven.
function normalize(text: string): string | undefined {
  const [major = '', minor, ...patch] = text.replace(/^v/, '').split('.')
  const parts = [major, ...(minor === undefined ? [] : [minor]), ...(patch.length > 0 ? [patch.join('.')] : [])]
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!)) return undefined
  const clean = parts.map((part) => (part.length > 1 ? part.replace(/^0+(?=\d)/, '') : part))
  while (clean.length < 3) clean.push('0')
  return clean.join('.')
}

function compareSemver(a: CelSemver, b: CelSemver): number {
  for (const index of [0, 1, 2] as const) {
    if (a.numbers[index] !== b.numbers[index]) return a.numbers[index] < b.numbers[index] ? -1 : 1
  }
  if (a.pre.length === 0 || b.pre.length === 0) return Math.sign(b.pre.length - a.pre.length)
  for (let index = 0; index < Math.min(a.pre.length, b.pre.length); index++) {
    const order = comparePre(a.pre[index]!, b.pre[index]!)
    if (order !== 0) return order
  }
  return Math.sign(a.pre.length - b.pre.length)
}

function comparePre(a: string, b: string): number {
  const isNumberA = /^\d+$/.test(a)
  const isNumberB = /^\d+$/.test(b)
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1
  const [left, right] = isNumberA ? [BigInt(a), BigInt(b)] : [a, b]
  return left < right ? -1 : left > right ? 1 : 0
}

function semver(text: string, isLoose = false): CelSemver {
  const parsed = parseSemver(text, isLoose)
  if (!parsed) throw new CelFailure(`invalid semantic version ${JSON.stringify(text)}`)
  return parsed
}

const SEMVER_LIBRARY: readonly Overload[] = parseOverloads({
  string_to_semver: ['semver(string): kubernetes.Semver', (text: string) => semver(text)],
  string_bool_to_semver: ['semver(string, bool): kubernetes.Semver', semver],
  is_semver_string: ['isSemver(string): bool', (text: string) => parseSemver(text, false) !== undefined],
  is_semver_string_bool: [
    'isSemver(string, bool): bool',
    (text: string, isLoose: boolean) => parseSemver(text, isLoose) !== undefined,
  ],
  semver_is_greater_than: [
    'kubernetes.Semver::isGreaterThan(kubernetes.Semver): bool',
    (a: CelSemver, b: CelSemver) => compareSemver(a, b) > 0,
  ],
  semver_is_less_than: [
    'kubernetes.Semver::isLessThan(kubernetes.Semver): bool',
    (a: CelSemver, b: CelSemver) => compareSemver(a, b) < 0,
  ],
  semver_compare_to: [
    'kubernetes.Semver::compareTo(kubernetes.Semver): int',
    (a: CelSemver, b: CelSemver) => BigInt(compareSemver(a, b)),
  ],
  semver_major: ['kubernetes.Semver::major(): int', (a: CelSemver) => a.numbers[0]],
  semver_minor: ['kubernetes.Semver::minor(): int', (a: CelSemver) => a.numbers[1]],
  semver_patch: ['kubernetes.Semver::patch(): int', (a: CelSemver) => a.numbers[2]],
})

class Format extends CelOpaque {
  readonly typeName = 'kubernetes.NamedFormat'
  readonly name: string
  readonly problems: (text: string) => readonly string[]
  constructor(name: string, problems: (text: string) => readonly string[]) {
    super()
    this.name = name
    this.problems = problems
  }
  equals(other: CelOpaque): boolean {
    return other instanceof Format && other.name === this.name
  }
}

// A prefix is what generateName takes: a dash at the end is a part to come.
const asPrefix = (problems: (text: string) => string[]) => (text: string) =>
  problems(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text)
const test = (isValid: (text: string) => boolean, problem: string) => (text: string) => (isValid(text) ? [] : [problem])

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/

const FORMATS: ReadonlyMap<string, Format> = new Map(
  Object.entries({
    dns1123Label: labelProblems,
    dns1123Subdomain: subdomainProblems,
    dns1035Label: label1035Problems,
    qualifiedName: labelKeyProblems,
    dns1123LabelPrefix: asPrefix(labelProblems),
    dns1123SubdomainPrefix: asPrefix(subdomainProblems),
    dns1035LabelPrefix: asPrefix(label1035Problems),
    labelValue: labelValueProblems,
    uri: (text: string) => {
      const parsed = parseRequestUri(text)
      return typeof parsed === 'string' ? [parsed] : []
    },
    uuid: test((text) => UUID.test(text), 'does not match the UUID format'),
    byte: test((text) => BASE64.test(text), 'invalid base64'),
    date: test((text) => parseDate(text) !== undefined, 'invalid date'),
    datetime: test((text) => parseTimestamp(text) !== undefined, 'invalid datetime'),
  }).map(([name, problems]) => [name, new Format(name, problems)] as const),
)

function validate(format: Format, text: string): CelValue {
  const problems = format.problems(text)
  return problems.length === 0 ? CelOptional.none : new CelOptional(new ArrayList([...problems]))
}

const constants: Record<string, readonly [string, Implementation]> = Object.fromEntries(
  [...FORMATS].map(([name, format]) => [`format.${name}`, [`format.${name}(): kubernetes.NamedFormat`, () => format]]),
)

/** Quantities, semantic versions and named formats. */
export const KUBERNETES_TYPES: readonly Overload[] = [
  ...QUANTITY,
  ...SEMVER_LIBRARY,
  ...parseOverloads(constants),
  ...parseOverloads({
    'format-named': [
      'format.named(string): optional<kubernetes.NamedFormat>',
      (name: string) => {
        const format = FORMATS.get(name)
        return format ? new CelOptional(format) : CelOptional.none
      },
    ],
    'format-validate': ['kubernetes.NamedFormat::validate(string): optional<list<string>>', validate],
  }),
]
