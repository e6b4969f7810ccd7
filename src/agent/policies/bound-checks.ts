/** The results of checks in a report: all states, and as many messages and objects as fit, in turn. */
import { detailBytesOf } from '../../wire/link/check-details.ts'
import type { ReportedCheck } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'

/** Time after which the report begins with the details of another check, where not all details fit. */
const TURN_MS = 5 * 60_000

/** Results with no more texts than a report may have, beginning with those of another check in each turn. */
export function boundChecks(all: readonly ReportedCheck[], nowMs: number): ReportedCheck[] {
  const sizes = all.map(detailBytesOf)
  if (sizes.reduce((sum, size) => sum + size, 0) <= LIMITS.checkBytes) return all.slice(0, LIMITS.checks)
  // A violation is told before a check that is compliant.
  const order = all.map((_, index) => index)
  const first = Math.floor(nowMs / TURN_MS) % all.length
  const turned = [...order.slice(first), ...order.slice(0, first)]
  const rank = (index: number): number => (all[index]!.state === 'Compliant' ? 1 : 0)
  let room: number = LIMITS.checkBytes
  const kept = new Set<number>()
  for (const index of turned.toSorted((a, b) => rank(a) - rank(b))) {
    if (sizes[index]! > room) continue
    room -= sizes[index]!
    kept.add(index)
  }
  return all.slice(0, LIMITS.checks).map((one, index) => {
    if (kept.has(index)) return one
    const { message: _message, objects: _objects, ...state } = one
    return state
  })
}
