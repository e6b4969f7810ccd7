/** Division of replicas by weight: the method of Webster and Sainte-Laguë, one replica at a time. */
import { compareText } from '../../core/text/compare-text.ts'

/** Which name wins where two clusters have equal claims and equal replicas. */
export type TieOrder = 'ascending' | 'descending'

interface Claim {
  readonly name: string
  readonly weight: number
  seats: number
  /** `weight / (2 * seats + 1)`: the cluster with the highest quotient receives the next replica. */
  quotient: number
}

/** The weights and the replicas of a division. */
export interface SeatInput {
  readonly seats: number
  readonly weights: ReadonlyMap<string, number>
  /** Replicas that clusters have before the division. Defaults to none. */
  readonly initial?: ReadonlyMap<string, number>
  readonly ties?: TieOrder
}

const FNV_OFFSET = 0x81_1c_9d_c5
const FNV_PRIME = 0x01_00_01_93

/**
 * The order of ties for an object, by the FNV-1a hash of its uid, so that ties of different objects do not always
 * favour the first cluster of the alphabet.
 */
export function tieOrder(uid: string): TieOrder {
  if (uid === '') return 'ascending'
  let hash = FNV_OFFSET
  for (const byte of new TextEncoder().encode(uid)) hash = Math.imul(hash ^ byte, FNV_PRIME)
  return (hash & 1) === 1 ? 'descending' : 'ascending'
}

/**
 * Divides `seats` replicas among clusters by weight; the result is sorted by name and includes clusters with 0
 * replicas. More replicas never take one away from a cluster. When all weights are 0, or no replica is left to divide,
 * the result is `initial`.
 */
export function divideSeats({ seats, weights, initial, ties = 'ascending' }: SeatInput): ReadonlyMap<string, number> {
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  if (total === 0 || (seats === 0 && initial !== undefined)) return new Map(initial)
  const claims = startingClaims(weights, initial)
  let remaining = seats
  if (initial === undefined) remaining -= takeCertainSeats(claims, seats, total)
  const queue = new ClaimQueue(claims, ties)
  for (; remaining > 0; remaining--) queue.serveFirst()
  return new Map(claims.sort((a, b) => compareText(a.name, b.name)).map(({ name, seats: own }) => [name, own]))
}

function startingClaims(weights: ReadonlyMap<string, number>, initial?: ReadonlyMap<string, number>): Claim[] {
  const names = new Set([...weights.keys(), ...(initial?.keys() ?? [])])
  return [...names].map((name) => {
    const weight = weights.get(name) ?? 0
    const own = initial?.get(name) ?? 0
    return { name, weight, seats: own, quotient: weight / (2 * own + 1) }
  })
}

/**
 * Gives each cluster the replicas whose quotients are above a bound that at most `seats` quotients exceed: with
 * replicas r and clusters n, the bound `total / (2r - n)` leaves at most n replicas for the queue. It saves the queue
 * 1,000 steps for 1,000 replicas; the result is the same.
 */
function takeCertainSeats(claims: readonly Claim[], seats: number, total: number): number {
  const span = 2 * seats - claims.length
  if (span <= 0) return 0
  const bound = total / span
  const own = claims.map(({ weight }) => {
    let count = Math.max(0, Math.floor((weight / bound - 1) / 2))
    while (count > 0 && weight / (2 * count - 1) <= bound) count--
    while (weight / (2 * count + 1) > bound) count++
    return count
  })
  const taken = own.reduce((sum, count) => sum + count, 0)
  if (taken > seats) return 0
  for (const [i, claim] of claims.entries()) {
    claim.seats = own[i]!
    claim.quotient = claim.weight / (2 * claim.seats + 1)
  }
  return taken
}

/** A binary heap of claims, the next one to receive a replica first. */
class ClaimQueue {
  readonly #heap: Claim[]
  readonly #sign: number

  constructor(claims: readonly Claim[], ties: TieOrder) {
    this.#sign = ties === 'ascending' ? 1 : -1
    this.#heap = [...claims]
    for (let i = (this.#heap.length >> 1) - 1; i >= 0; i--) this.#sink(i)
  }

  serveFirst(): void {
    const first = this.#heap[0]
    if (!first) return
    first.seats++
    first.quotient = first.weight / (2 * first.seats + 1)
    this.#sink(0)
  }

  #sink(from: number): void {
    const heap = this.#heap
    let at = from
    for (;;) {
      let best = at
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && this.#isBefore(heap[child]!, heap[best]!)) best = child
      }
      if (best === at) return
      const moved = heap[at]!
      heap[at] = heap[best]!
      heap[best] = moved
      at = best
    }
  }

  #isBefore(a: Claim, b: Claim): boolean {
    if (a.quotient !== b.quotient) return a.quotient > b.quotient
    if (a.seats !== b.seats) return a.seats < b.seats
    return this.#sign * compareText(a.name, b.name) < 0
  }
}
