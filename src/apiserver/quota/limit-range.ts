import type { JsonObject } from '../../core/json.ts'
import { itemsAt, mapAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { amountText, readAmounts } from './amounts.ts'
import type { Amount, Amounts } from './amounts.ts'
import { podAmounts } from './pod-amounts.ts'

/** LimitRanges: what containers get that say nothing, and what pods and claims may say. */

const ANNOTATION = 'kubernetes.io/limit-ranger'

/**
 * Gives the containers of a pod what a LimitRange has for containers without own amounts; a note on the pod says so.
 */
export function applyLimitDefaults(pod: UnknownObject, range: UnknownObject): void {
  const limits = itemsAt(range, 'spec.limits').filter(({ type }) => type === 'Container')
  const given = (field: string): JsonObject => Object.assign({}, ...limits.map((limit) => mapAt(limit, field)))
  const [requests, most] = [given('defaultRequest'), given('default')]
  const notes = [
    ...itemsAt(pod, 'spec.containers').flatMap((container) => fill('container', container, { requests, limits: most })),
    ...itemsAt(pod, 'spec.initContainers').flatMap((container) =>
      fill('init container', container, { requests, limits: most }),
    ),
  ]
  if (notes.length === 0) return
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}`,
  }
}

function fill(
  what: string,
  container: JsonObject,
  given: { readonly requests: JsonObject; readonly limits: JsonObject },
): string[] {
  return (['requests', 'limits'] as const).flatMap((side) => {
    const said = mapAt(container, `resources.${side}`)
    const missing = Object.keys(given[side]).filter((name) => !Object.hasOwn(said, name))
    if (missing.length === 0) return []
    const added = Object.fromEntries(missing.map((name) => [name, given[side][name]]))
    container['resources'] = { ...mapAt(container, 'resources'), [side]: { ...said, ...added } }
    return [`${missing.sort().join(', ')} ${side.slice(0, -1)} for ${what} ${textAt(container, 'name')}`]
  })
}

/** What of a pod is not within a LimitRange. */
export function podProblems(pod: UnknownObject, range: UnknownObject): string[] {
  return itemsAt(range, 'spec.limits').flatMap((limit) => {
    if (limit['type'] === 'Container') {
      const containers = [...itemsAt(pod, 'spec.containers'), ...itemsAt(pod, 'spec.initContainers')]
      return containers.flatMap((container) =>
        problemsOf(limit, {
          requests: readAmounts(mapAt(container, 'resources.requests')),
          limits: readAmounts(mapAt(container, 'resources.limits')),
        }),
      )
    }
    if (limit['type'] !== 'Pod') return []
    const spoken = { given: false, overhead: false }
    return problemsOf(limit, {
      requests: podAmounts(pod, 'requests', spoken),
      limits: podAmounts(pod, 'limits', spoken),
    })
  })
}

/** What of a claim is not within a LimitRange: claims have requests only. */
export function claimProblems(claim: UnknownObject, range: UnknownObject): string[] {
  const requests = readAmounts(mapAt(claim, 'spec.resources.requests'))
  return itemsAt(range, 'spec.limits').flatMap((limit) => {
    if (limit['type'] !== 'PersistentVolumeClaim') return []
    const each = eachOf(limit)
    const most = ([name, amount]: readonly [string, Amount]) =>
      tooMuch({ limit, name, amount }, [['request', requests.get(name)]])
    return [
      ...each('min').flatMap(([name, amount]) => tooLittle({ limit, name, amount }, requests.get(name), undefined)),
      ...each('max').flatMap(most),
    ]
  })
}

interface Said {
  readonly requests: Amounts
  readonly limits: Amounts
}

interface Bound {
  readonly limit: JsonObject
  readonly name: string
  readonly amount: Amount
}

function eachOf(limit: JsonObject) {
  return (field: string) => [...readAmounts(mapAt(limit, field))].sort(([a], [b]) => (a < b ? -1 : 1))
}

function problemsOf(limit: JsonObject, { requests, limits }: Said): string[] {
  const each = eachOf(limit)
  return [
    ...each('min').flatMap(([name, amount]) =>
      tooLittle({ limit, name, amount }, requests.get(name), limits.get(name)),
    ),
    ...each('max').flatMap(([name, amount]) =>
      tooMuch({ limit, name, amount }, [
        ['limit', limits.get(name)],
        ['request', requests.get(name)],
      ]),
    ),
    ...each('maxLimitRequestRatio').flatMap(([name, amount]) =>
      tooWide({ limit, name, amount }, requests.get(name), limits.get(name)),
    ),
  ]
}

function per({ limit, name, amount }: Bound, bound: string): string {
  return `${bound} ${name} usage per ${textAt(limit, 'type')} is ${amountText(amount)}`
}

function tooLittle(bound: Bound, request: Amount | undefined, limit: Amount | undefined): string[] {
  const what = per(bound, 'minimum')
  if (!request) return [`${what}.  No request is specified`]
  if (request.nano < bound.amount.nano) return [`${what}, but request is ${amountText(request)}`]
  if (limit && limit.nano < bound.amount.nano) return [`${what}, but limit is ${amountText(limit)}`]
  return []
}

/** The first must be said; none may be more. */
function tooMuch(bound: Bound, said: readonly (readonly [string, Amount | undefined])[]): string[] {
  const what = per(bound, 'maximum')
  const [first] = said
  if (!first?.[1]) return [`${what}.  No ${first?.[0]} is specified`]
  const over = said.find(([, amount]) => amount && amount.nano > bound.amount.nano)
  return over ? [`${what}, but ${over[0]} is ${amountText(over[1]!)}`] : []
}

function tooWide({ limit, name, amount }: Bound, request: Amount | undefined, most: Amount | undefined): string[] {
  const what = `${name} max limit to request ratio per ${textAt(limit, 'type')} is ${amountText(amount)}`
  if (!request || request.nano === 0n) return [`${what}, but no request is specified or request is 0`]
  if (!most || most.nano === 0n) return [`${what}, but no limit is specified or limit is 0`]
  if (most.nano * 1_000_000_000n <= amount.nano * request.nano) return []
  return [`${what}, but provided ratio is ${(Number(most.nano) / Number(request.nano)).toFixed(6)}`]
}

/** Several problems in one sentence, as Go's aggregates print them. */
export function problemsText(problems: readonly string[]): string {
  const different = [...new Set(problems)]
  return different.length === 1 ? different[0]! : `[${different.join(', ')}]`
}
