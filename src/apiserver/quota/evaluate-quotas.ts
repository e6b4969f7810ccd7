import { mapAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { addAmounts, amountsText, countOf, excess, NO_AMOUNTS, pickAmounts, readAmounts } from './amounts.ts'
import type { Amount, Amounts } from './amounts.ts'
import { isInScopes, resourceNamesForType, scopesOf, missingResourcesMessage } from './usage.ts'
import type { CountedType, ObjectUsage } from './usage.ts'

/** What quotas say to a write, and what their status should say. */

/** A write as quotas see it. */
export interface QuotaRequest {
  readonly object: UnknownObject
  readonly now: ObjectUsage
  /** What the object was before an update. */
  readonly before: ObjectUsage | undefined
  /** A status says what is; it is counted and never refused. */
  readonly isStatus: boolean
}

/** What quotas said: how much each is charged, or why not. */
export type QuotaDecision =
  | { readonly refused: false; readonly charges: ReadonlyMap<string, Amounts> }
  /** `isUnknown`: the usage has not been counted yet. */
  | { readonly refused: true; readonly why: string; readonly isUnknown: boolean }

/** Asks the quotas of a namespace, in the order of their names. */
export function evaluateQuotas(quotas: readonly UnknownObject[], request: QuotaRequest): QuotaDecision {
  const { object, now, before, isStatus } = request
  const refuse = (why: string, isUnknown = false): QuotaDecision => ({ refused: true, why, isUnknown })
  const asked: UnknownObject[] = []
  for (const quota of quotas) {
    const { name } = quota.metadata
    const { hard, used } = statusOf(quota)
    const names = resourceNamesForType(now.type, hard.keys())
    if (names.length === 0 || !isInScopes(scopesOf(quota), now)) continue
    const unsaid =
      now.type.plural === 'pods' && now.type.group === '' ? missingResourcesMessage(object, names) : undefined
    if (unsaid !== undefined) return refuse(`failed quota: ${name}: ${unsaid}`)
    if (names.some((known) => !used.has(known))) {
      return refuse(`status unknown for quota: ${name}, resources: ${names.join(',')}`, true)
    }
    asked.push(quota)
  }
  const negative = [...now.usage].flatMap(([name, { nano }]) => (nano < 0n ? [name] : [])).sort()
  if (asked.length > 0 && negative.length > 0) {
    return refuse(`quota usage is negative for resource(s): ${negative.join(',')}`)
  }
  const charges = new Map<string, Amounts>()
  for (const quota of asked) {
    const { hard, used } = statusOf(quota)
    // Who moves into a quota's scopes is new to it.
    const known = before && isInScopes(scopesOf(quota), before) ? before.usage : NO_AMOUNTS
    const more = pickAmounts(excess(now.usage, known), hard.keys())
    if (more.size === 0) continue
    const sum = addAmounts(used, more)
    const over = [...more.keys()].filter((name) => sum.get(name)!.nano > hard.get(name)!.nano)
    if (over.length > 0 && !isStatus) {
      const [requested, has, limited] = [more, used, hard].map((amounts) => amountsText(pickAmounts(amounts, over)))
      return refuse(
        `exceeded quota: ${quota.metadata.name}, requested: ${requested}, used: ${has}, limited: ${limited}`,
      )
    }
    charges.set(quota.metadata.name, more)
  }
  return { refused: false, charges }
}

/** What a quota's status says. */
export function statusOf(quota: UnknownObject): { readonly hard: Amounts; readonly used: Amounts } {
  return { hard: readAmounts(mapAt(quota, 'status.hard')), used: readAmounts(mapAt(quota, 'status.used')) }
}

/** The usage of a quota by its objects. Resources that cannot be counted keep their recorded usage. */
export function computeUsed(
  quota: UnknownObject,
  types: readonly CountedType[],
  { objects, charged }: { readonly objects: Iterable<ObjectUsage>; readonly charged: readonly Amounts[] },
): Amounts {
  const hard = readAmounts(mapAt(quota, 'spec.hard'))
  const names = new Set(types.flatMap((type) => resourceNamesForType(type, hard.keys())))
  const scopes = scopesOf(quota)
  let sum: Amounts = new Map<string, Amount>([...names].map((name) => [name, countOf(0)]))
  for (const object of objects) {
    if (isInScopes(scopes, object)) sum = addAmounts(sum, pickAmounts(object.usage, names))
  }
  for (const amounts of charged) sum = addAmounts(sum, pickAmounts(amounts, names))
  const before = pickAmounts(statusOf(quota).used, hard.keys())
  return new Map([...before, ...sum])
}
