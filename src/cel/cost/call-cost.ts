/** What a call costs while it runs: cel-go's counts, and the counts that Kubernetes' libraries add. */
import { CelList, CelMap, CelOpaque, sizeOf } from '../values.ts'
import type { CelValue } from '../values.ts'

/** Cost of a character read. */
export const COST_PER_CHARACTER = 0.1
/** Cost of a character of a regular expression. */
export const COST_PER_REGEX_CHARACTER = 0.25
/** Two authorization checks fit into one expression. */
export const AUTHORIZATION_CHECK_COST = 350_000

/** The longest pattern behind a named format. */
export const MAX_FORMAT_PATTERN = 128

const read = (value: CelValue, times = 1): number => Math.ceil(sizeOf(value) * times * COST_PER_CHARACTER)

function regex(text: CelValue, patternSize: number): number {
  return Math.ceil((1 + sizeOf(text)) * COST_PER_CHARACTER) * Math.ceil(patternSize * COST_PER_REGEX_CHARACTER)
}

function selector(text: CelValue): number {
  const size = sizeOf(text)
  return 10 + Math.ceil(size * COST_PER_CHARACTER) + Math.ceil(Math.ceil(size * 0.5) * 50)
}

type Cost = (args: readonly CelValue[], result: CelValue, id: string) => number

const traverse: Cost = ([list]) => traversal(list!)
const readFirst: Cost = ([text]) => read(text!)
const readTwice: Cost = ([text]) => read(text!, 2)

function traversal(value: CelValue): number {
  if (typeof value === 'string') return Math.floor(new TextEncoder().encode(value).length * COST_PER_CHARACTER)
  if (value instanceof Uint8Array) return Math.floor(value.length * COST_PER_CHARACTER)
  let cost = 0
  if (value instanceof CelList) for (const item of value) cost += traversal(item)
  else if (value instanceof CelMap) for (const key of value.keys()) cost += traversal(key) + traversal(value.get(key)!)
  else return 1
  return cost
}

const containsNetwork =
  (isCidr: boolean): Cost =>
  ([network, other], _, id) =>
    Math.ceil(2 * sizeOf(network!) * COST_PER_CHARACTER) +
    (isCidr ? read(network!) + 1 : 0) +
    (id.endsWith('_string') ? read(other!) : 0)

const BY_FUNCTION: Readonly<Record<string, Cost>> = {
  check: () => AUTHORIZATION_CHECK_COST,
  fieldSelector: ([, text]) => selector(text!),
  labelSelector: ([, text]) => selector(text!),
  isSorted: traverse,
  sum: traverse,
  max: traverse,
  min: traverse,
  indexOf: traverse,
  lastIndexOf: traverse,
  url: readFirst,
  lowerAscii: readFirst,
  upperAscii: readFirst,
  substring: readFirst,
  trim: readFirst,
  replace: readTwice,
  split: readTwice,
  join: (_, result) => read(result, 2),
  find: ([text, pattern]) => regex(text!, sizeOf(pattern!)),
  findAll: ([text, pattern]) => regex(text!, sizeOf(pattern!)),
  cidr: readFirst,
  isIP: readFirst,
  isCIDR: readFirst,
  ip: ([text], _, id) => (id === 'cidr_ip' ? 1 : read(text!)),
  'ip.isCanonical': readTwice,
  containsIP: containsNetwork(false),
  containsCIDR: containsNetwork(true),
  quantity: readFirst,
  isQuantity: readFirst,
  semver: readFirst,
  isSemver: readFirst,
  validate: ([, text]) => regex(text!, MAX_FORMAT_PATTERN),
}

const smaller: Cost = ([a, b]) => Math.ceil(Math.min(sizeOf(a!), sizeOf(b!)) * COST_PER_CHARACTER)
const concatenated: Cost = ([a, b]) => Math.ceil((sizeOf(a!) + sizeOf(b!)) * COST_PER_CHARACTER)
const crossed: Cost = ([list, other]) => sizeOf(list!) * sizeOf(other!) + 1

const BY_OVERLOAD: Readonly<Record<string, Cost>> = {
  starts_with_string: readFirst,
  ends_with_string: readFirst,
  string_to_bytes: readFirst,
  bytes_to_string: readFirst,
  strings_quote: readFirst,
  string_format_list: readFirst,
  in_list: ([, list]) => sizeOf(list!),
  matches: ([text, pattern]) => regex(text!, sizeOf(pattern!)),
  matches_string: ([text, pattern]) => regex(text!, sizeOf(pattern!)),
  contains_string: ([text, part]) => read(text!) * read(part!),
  add_string: concatenated,
  add_bytes: concatenated,
  equals: ([a, b]) => (a instanceof CelOpaque ? 1 : smaller([a!, b!], null, '')),
  not_equals: smaller,
  less_string: smaller,
  less_equals_string: smaller,
  greater_string: smaller,
  greater_equals_string: smaller,
  less_bytes: smaller,
  less_equals_bytes: smaller,
  greater_bytes: smaller,
  greater_equals_bytes: smaller,
  list_sets_contains_list: crossed,
  list_sets_intersects_list: crossed,
  list_sets_equivalent_list: ([a, b]) => 2 * sizeOf(a!) * sizeOf(b!) + 1,
}

/** The cost of one call, beside that of its arguments. */
export function callCost(fn: string, id: string, args: readonly CelValue[], result: CelValue): number {
  const cost = (Object.hasOwn(BY_FUNCTION, fn) ? BY_FUNCTION[fn] : undefined) ?? BY_OVERLOAD[id]
  return cost === undefined ? 1 : cost(args, result, id)
}
