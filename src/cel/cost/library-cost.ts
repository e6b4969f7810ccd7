/** What calls to Kubernetes' and cel-go's libraries cost at most, by the sizes of what they are given. */
import type { Expr } from '../syntax/ast.ts'
import {
  AUTHORIZATION_CHECK_COST,
  MAX_FORMAT_PATTERN,
  COST_PER_CHARACTER,
  COST_PER_REGEX_CHARACTER,
} from './call-cost.ts'
import { add, capCost, fixedCost, multiply, scale, UNKNOWN, ZERO } from './cost-range.ts'
import type { CostRange } from './cost-range.ts'
import type { CelType } from '../types.ts'

export interface CallEstimate {
  readonly cost: CostRange
  readonly size?: CostRange
}

/** A part of a call as estimators see it. */
export interface CallOperand {
  readonly expr: Expr | undefined
  readonly type: CelType | undefined
  readonly path: readonly string[]
}

/** A call of an overload, with what it is called on and its arguments. */
export interface EstimatedCall {
  readonly name: string
  readonly id: string
  readonly target: CallOperand | undefined
  readonly parts: readonly CallOperand[]
}

/** How large a part can be. */
type SizeOf = (part: CallOperand) => CostRange

/** What a call to one of the libraries costs and how large its answer is; nothing for what is none of theirs. */
export function libraryCost(call: EstimatedCall, sizeOf: SizeOf): CallEstimate | undefined {
  const { name, id, target, parts } = call
  const size = (index: number) => (parts[index] ? sizeOf(parts[index]) : UNKNOWN)
  const read = (range: CostRange, times = 1) => scale(range, times * COST_PER_CHARACTER)
  switch (name) {
    case 'check':
      return { cost: fixedCost(AUTHORIZATION_CHECK_COST) }
    case 'fieldSelector':
    case 'labelSelector':
      return { cost: add(fixedCost(10), add(read(size(0)), scale(scale(size(0), 0.5), 50))) }
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf':
      return target && { cost: traversal(target, sizeOf) }
    case 'url':
      return { cost: read(size(0)), size: size(0) }
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
      return target && { cost: read(sizeOf(target)), size: sizeOf(target) }
    case 'replace':
      return target && { cost: read(sizeOf(target), 2), size: replaced(sizeOf(target), size(0), size(1)) }
    case 'split':
      return (
        target && {
          cost: read(sizeOf(target), 2),
          size: { min: 0, max: splitLimit(parts[1]) ?? sizeOf(target).max },
        }
      )
    case 'join':
      return target && joined(target, sizeOf, parts[0] && size(0))
    case 'find':
    case 'findAll':
      return (
        target && {
          cost: regexCost(sizeOf(target), size(0)),
          size: { min: 0, max: sizeOf(target).max },
        }
      )
    case 'ip':
      return { cost: id === 'cidr_ip' ? fixedCost(1) : read(size(0)) }
    case 'cidr':
    case 'isIP':
    case 'isCIDR':
    case 'quantity':
    case 'isQuantity':
    case 'semver':
    case 'isSemver':
      return { cost: read(size(0)) }
    case 'ip.isCanonical':
      return { cost: read(size(0), 2) }
    case 'containsIP':
    case 'containsCIDR': {
      const address: CostRange = { min: 4, max: 16 }
      const base = add(read(add(address, address)), name === 'containsCIDR' ? add(read(address), fixedCost(1)) : ZERO)
      return { cost: id.endsWith('_string') ? add(base, read(size(0))) : base }
    }
    case 'validate':
      return { cost: scale(read(size(0)), MAX_FORMAT_PATTERN * COST_PER_REGEX_CHARACTER) }
    case 'sets.contains':
    case 'sets.intersects':
      return { cost: add(multiply(size(0), size(1)), fixedCost(1)) }
    case 'sets.equivalent':
      return { cost: add(scale(multiply(size(0), size(1)), 2), fixedCost(1)) }
    default:
      return undefined
  }
}

export function regexCost(text: CostRange, pattern: CostRange): CostRange {
  return multiply(scale(add(text, fixedCost(1)), COST_PER_CHARACTER), scale(pattern, COST_PER_REGEX_CHARACTER))
}

function traversal(target: CallOperand, sizeOf: SizeOf): CostRange {
  const item = itemOf(target)
  if (!item) return scale(sizeOf(target), COST_PER_CHARACTER)
  const isText = item.type?.kind === 'string' || item.type?.kind === 'bytes'
  const each = isText ? add(fixedCost(1), scale(sizeOf(item), COST_PER_CHARACTER)) : fixedCost(1)
  return multiply(sizeOf(target), each)
}

function joined(target: CallOperand, sizeOf: SizeOf, separator: CostRange | undefined): CallEstimate {
  const count = sizeOf(target)
  const item = itemOf(target)
  let size = item ? multiply(count, sizeOf(item)) : ZERO
  const between = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) }
  if (separator) size = add(size, multiply(separator, between))
  return { cost: scale(size, COST_PER_CHARACTER), size }
}

function itemOf(part: CallOperand): CallOperand | undefined {
  if (part.type?.kind !== 'list' && part.type?.kind !== 'map') return undefined
  const type = part.type.kind === 'list' ? part.type.item : part.type.key
  return { expr: undefined, type, path: part.path.length === 0 ? [] : [...part.path, '@items'] }
}

function splitLimit(part: CallOperand | undefined): number | undefined {
  return part?.expr?.kind === 'literal' && typeof part.expr.value === 'bigint' ? Number(part.expr.value) : undefined
}

function replaced(text: CostRange, from: CostRange, to: CostRange): CostRange {
  const longest =
    from.min === 0
      ? { count: capCost(text.max + 1), kept: text.max }
      : to.max <= from.min
        ? { count: 0, kept: text.max }
        : { count: Math.ceil(text.max / from.min), kept: 0 }
  const shortest =
    from.max === 0
      ? { count: capCost(text.min + 1), kept: text.min }
      : from.max <= to.min
        ? { count: 0, kept: text.min }
        : { count: Math.ceil(text.min / from.max), kept: 0 }
  return { min: capCost(shortest.count * to.min + shortest.kept), max: capCost(longest.count * to.max + longest.kept) }
}
