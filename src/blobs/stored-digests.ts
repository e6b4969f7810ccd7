import type { Digest } from '../core/crypto/digest.ts'

/** Half of the time for which the collector keeps what nothing names. */
const REMEMBERED_MS = 12 * 3_600_000

/**
 * The digests of what was stored lately, by what they were made from. An answer is given only while the collector
 * cannot have deleted the blob; what is older has to be stored again.
 */
export class StoredDigests {
  readonly #most: number
  /** Oldest first. */
  readonly #stored = new Map<string, { readonly digest: Digest; readonly at: number }>()

  constructor(most: number) {
    this.#most = most
  }

  get(key: string, now: number): Digest | undefined {
    const found = this.#stored.get(key)
    return found && now - found.at < REMEMBERED_MS ? found.digest : undefined
  }

  /** Notes what was stored now. */
  set(key: string, digest: Digest, now: number): void {
    this.#stored.delete(key)
    this.#stored.set(key, { digest, at: now })
    for (const oldest of this.#stored.keys()) {
      if (this.#stored.size <= this.#most) break
      this.#stored.delete(oldest)
    }
  }
}
