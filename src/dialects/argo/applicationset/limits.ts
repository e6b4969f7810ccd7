/** What an ApplicationSet may cost. Limits are checked before the work, not after it. */
import { ApplicationSetError } from './applicationset-error.ts'

/** The most of each; a set over one of them is refused. */
export interface GenerateLimits {
  /** Parameter sets, in all generators together: a matrix counts its own and those of its generators. */
  readonly maxSets: number
  /** Steps of Go templates. */
  readonly maxSteps: number
  /** Characters that templates write. */
  readonly maxOutput: number
  /** Characters of one template. */
  readonly maxTemplate: number
  /** Bytes of a file that a generator reads. */
  readonly maxFile: number
}

/** The limits unless told: 100,000 Applications of the usual size fit. */
export const GENERATE_LIMITS: GenerateLimits = {
  maxSets: 500_000,
  maxSteps: 100_000_000,
  maxOutput: 256 * 1024 * 1024,
  maxTemplate: 1024 * 1024,
  maxFile: 4 * 1024 * 1024,
}

/** Counts what an ApplicationSet costs. */
export class GenerateBudget {
  readonly limits: GenerateLimits
  #sets = 0
  #steps = 0
  #output = 0

  constructor(limits: GenerateLimits = GENERATE_LIMITS) {
    this.limits = limits
  }

  /** Counts parameter sets. */
  sets(count: number): void {
    this.#sets += count
    if (this.#sets > this.limits.maxSets) {
      throw new ApplicationSetError(`the generators give more than ${this.limits.maxSets} parameter sets`)
    }
  }

  /** Counts a step of a template. */
  step(): void {
    this.#steps += 1
    if (this.#steps > this.limits.maxSteps) {
      throw new ApplicationSetError(`the templates take more than ${this.limits.maxSteps} steps`)
    }
  }

  /** Counts what templates wrote. */
  wrote(length: number): void {
    this.#output += length
    if (this.#output > this.limits.maxOutput) {
      throw new ApplicationSetError(`the templates write more than ${this.limits.maxOutput} characters`)
    }
  }
}
