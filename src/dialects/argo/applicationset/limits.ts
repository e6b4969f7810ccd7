/** What an ApplicationSet may cost. Limits are checked before the work, not after it. */
import { ApplicationSetError } from './applicationset-error.ts'

/** The most of each; a set over one of them is refused. */
export interface GenerateLimits {
  /** Parameter sets, in all generators together: a matrix counts its own sets and the sets of its generators. */
  readonly maxSets: number
  /** Steps of Go templates. */
  readonly maxSteps: number
  /** Characters that templates write. */
  readonly maxOutput: number
  /** Characters of a template. */
  readonly maxTemplate: number
  /** Bytes of a file that a generator reads. */
  readonly maxFile: number
  /** Characters of dotted names of parameters, in all sets together; each name counts NAME_COST more than it has. */
  readonly maxNames: number
  /** Whether a hub sets the limits; errors then say what to do. */
  readonly isServed?: boolean
}

/** The limits unless told: 100,000 Applications of the usual size fit. */
export const GENERATE_LIMITS: GenerateLimits = {
  maxSets: 500_000,
  maxSteps: 100_000_000,
  maxOutput: 256 * 1024 * 1024,
  maxTemplate: 1024 * 1024,
  maxFile: 4 * 1024 * 1024,
  maxNames: 512 * 1024 * 1024,
}

/**
 * The limits in a hub, where the controllers of all namespaces wait while one set is generated: a matrix of a file and
 * 10,000 Clusters fits.
 */
export const SERVED_LIMITS: GenerateLimits = {
  ...GENERATE_LIMITS,
  maxSets: 25_000,
  maxSteps: 2_000_000,
  maxOutput: 32 * 1024 * 1024,
  maxNames: 128 * 1024 * 1024,
  isServed: true,
}

const SERVED = '; an ApplicationSet that the hub serves may have no more: split it into several ApplicationSets'

/** A name takes this much memory and time besides its characters. */
const NAME_COST = 48

/** Counts what an ApplicationSet costs. */
export class GenerateBudget {
  readonly limits: GenerateLimits
  #sets = 0
  #steps = 0
  #output = 0
  #names = 0

  get #advice(): string {
    return this.limits.isServed ? SERVED : ''
  }

  constructor(limits: GenerateLimits = GENERATE_LIMITS) {
    this.limits = limits
  }

  /** Counts parameter sets. */
  sets(count: number): void {
    this.fits(count)
    this.#sets += count
  }

  /** Refuses parameter sets before they are made; they are not counted yet. */
  fits(count: number): void {
    if (this.#sets + count > this.limits.maxSets) {
      throw new ApplicationSetError(
        `the generators give more than ${this.limits.maxSets} parameter sets${this.#advice}`,
      )
    }
  }

  /** Counts a dotted name of a parameter. */
  named(name: string): void {
    this.#names += name.length + NAME_COST
    if (this.#names > this.limits.maxNames) {
      throw new ApplicationSetError(
        `the names of parameters have more than ${this.limits.maxNames} characters in sum${this.#advice}`,
      )
    }
  }

  /** Counts a step of a template. */
  step(): void {
    this.#steps += 1
    if (this.#steps > this.limits.maxSteps) {
      throw new ApplicationSetError(`the templates take more than ${this.limits.maxSteps} steps${this.#advice}`)
    }
  }

  /** Counts what templates wrote. */
  wrote(length: number): void {
    this.#output += length
    if (this.#output > this.limits.maxOutput) {
      throw new ApplicationSetError(`the templates write more than ${this.limits.maxOutput} characters${this.#advice}`)
    }
  }
}
