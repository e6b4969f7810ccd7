import type { JsonObject } from '../../core/json.ts'
import { compareQuantities, formatQuantity, parseQuantity, quantityForm } from '../../core/text/quantity.ts'
import type { Quantity, QuantityForm } from '../../core/text/quantity.ts'

/** Amounts of resources by name: requests, usage or hard limits. */

/** An amount, and how it is written. */
export interface Amount extends Quantity {
  readonly form: QuantityForm
}

/** Amounts by the names of resources. */
export type Amounts = ReadonlyMap<string, Amount>

/** Nothing at all. */
export const NO_AMOUNTS: Amounts = new Map()

/** So many of something. */
export function countOf(many: number): Amount {
  return { nano: BigInt(many) * 1_000_000_000n, form: 'decimal' }
}

/** The amounts of a Kubernetes ResourceList; what is no quantity is left out. */
export function readAmounts(list: JsonObject): Amounts {
  const amounts = new Map<string, Amount>()
  for (const [name, value] of Object.entries(list)) {
    if (typeof value !== 'string' && typeof value !== 'number') continue
    const quantity = parseQuantity(value)
    if (quantity) amounts.set(name, { nano: quantity.nano, form: quantityForm(value) })
  }
  return amounts
}

/** Amounts as a ResourceList, in the order of their names. */
export function writeAmounts(amounts: Amounts): Record<string, string> {
  return Object.fromEntries(sorted(amounts).map(([name, amount]) => [name, amountText(amount)]))
}

/** An amount as Kubernetes writes it. */
export function amountText(amount: Amount): string {
  return formatQuantity(amount, amount.form)
}

/** Amounts in one line, as refusals have them. */
export function amountsText(amounts: Amounts): string {
  return sorted(amounts)
    .map(([name, amount]) => `${name}=${amountText(amount)}`)
    .join(',')
}

function sorted(amounts: Amounts): [string, Amount][] {
  return [...amounts].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** The sums; nothing takes the form of what is added to it. */
export function addAmounts(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (one, other) => ({
    nano: one.nano + other.nano,
    form: one.nano === 0n ? other.form : one.form,
  }))
}

/** The larger of each. */
export function maxAmounts(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (one, other) => (compareQuantities(one, other) >= 0 ? one : other))
}

function combine(a: Amounts, b: Amounts, both: (one: Amount, other: Amount) => Amount): Amounts {
  const result = new Map(a)
  for (const [name, amount] of b) {
    const one = result.get(name)
    result.set(name, one ? both(one, amount) : amount)
  }
  return result
}

/** How much more `a` is than `b`, of what it is more. */
export function excess(a: Amounts, b: Amounts): Amounts {
  const more = new Map<string, Amount>()
  for (const [name, amount] of a) {
    const nano = amount.nano - (b.get(name)?.nano ?? 0n)
    if (nano > 0n) more.set(name, { nano, form: amount.form })
  }
  return more
}

/** Only these names. */
export function pickAmounts(amounts: Amounts, names: Iterable<string>): Amounts {
  const picked = new Map<string, Amount>()
  for (const name of names) {
    const amount = amounts.get(name)
    if (amount) picked.set(name, amount)
  }
  return picked
}

/** Whether both name the same resources with the same amounts. */
export function sameAmounts(a: Amounts, b: Amounts): boolean {
  return a.size === b.size && [...a].every(([name, { nano }]) => b.get(name)?.nano === nano)
}
