/** How much is remembered. */
export interface BoundedCacheLimits {
  readonly most: number
  /** The weights of what is remembered, together. */
  readonly weight: number
}

/**
 * What was worked out for the last few keys. Those who come soon after one another share one answer, and nothing is
 * kept for long; an answer that is gone is worked out again.
 */
export class BoundedCache<K, V> {
  readonly #limits: BoundedCacheLimits
  /** Oldest first. */
  readonly #answers = new Map<K, { readonly value: V; readonly weight: number }>()
  #weight = 0

  constructor(limits: BoundedCacheLimits) {
    this.#limits = limits
  }

  get(key: K): V | undefined {
    return this.#answers.get(key)?.value
  }

  set(key: K, value: V, weight: number): V {
    this.#forget(key)
    this.#answers.set(key, { value, weight })
    this.#weight += weight
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= this.#limits.most && this.#weight <= this.#limits.weight) break
      this.#forget(oldest)
    }
    return value
  }

  #forget(key: K): void {
    this.#weight -= this.#answers.get(key)?.weight ?? 0
    this.#answers.delete(key)
  }
}
