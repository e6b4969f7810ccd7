/**
 * Random values, made once and replayed. Each draw is known by the template that asked and its ordinal there, so that a
 * render is a pure function of its inputs: chart, values, release, cluster and this record.
 */

/** What a draw gave, by `template#ordinal`. Values are JSON. */
export type FrozenRecord = Readonly<Record<string, unknown>>

/** Where fresh randomness and the time come from; only asked for what is not frozen. */
export interface Entropy {
  readonly randomBytes: (length: number) => Uint8Array
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The name of the zone that local times are in; UTC unless told. */
  readonly localZone?: string
  /** PEM of a new private key. */
  readonly generateKey: (type: 'rsa2048' | 'rsa4096' | 'ecdsa' | 'ed25519' | 'dsa') => string
}

/** Draws for a render. */
export class RandomDraws {
  readonly #entropy: Entropy
  readonly #frozen: FrozenRecord
  readonly #drawn = new Map<string, unknown>()
  readonly #ordinals = new Map<string, number>()
  #template = ''

  constructor(entropy: Entropy, frozen: FrozenRecord = {}) {
    this.#entropy = entropy
    this.#frozen = frozen
  }

  /** The name of the zone that local times are in. */
  get localZone(): string {
    return this.#entropy.localZone ?? 'UTC'
  }

  /** All draws so far, to be frozen. */
  get record(): FrozenRecord {
    return Object.fromEntries(this.#drawn)
  }

  /** Returns true if random values or the time were drawn. */
  get drewRandom(): boolean {
    return this.#drawn.size > 0
  }

  /** Draws from here on belong to this template file. */
  enter(template: string): void {
    this.#template = template
  }

  /** The frozen value of this draw, or a fresh value; `kind` prevents replaying the value of a different function. */
  draw<T>(kind: string, make: (entropy: Entropy) => T): T {
    const scope = `${this.#template}#${kind}`
    const ordinal = this.#ordinals.get(scope) ?? 0
    this.#ordinals.set(scope, ordinal + 1)
    const key = `${scope}#${ordinal}`
    const value = Object.hasOwn(this.#frozen, key) ? (this.#frozen[key] as T) : make(this.#entropy)
    this.#drawn.set(key, value)
    return value
  }
}
