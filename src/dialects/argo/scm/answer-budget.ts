// Tested by src/dialects/argo/scm/service-answers.test.ts
/** What services may answer: an answer stays in memory until it is asked again. */
import { measureJson } from '../../../core/json.ts'

const MAX_CHARACTERS = 8 * 1024 * 1024
const MAX_ITEMS = 50_000
const MAX_LEVELS = 100

/** Counts what is kept of answers. */
export class AnswerBudget {
  readonly #what: string
  readonly #advice: string
  #characters = 0
  #items = 0

  /** `what` has more than it may, and `advice` is what to do then. */
  constructor(what: string, advice: string) {
    this.#what = what
    this.#advice = advice
  }

  /** Counts items; returns why they cannot be kept, and then they do not count. */
  add(items: readonly unknown[]): string | undefined {
    const { length, depth } = measureJson(items)
    // The list and its items are no levels of an answer.
    if (depth > MAX_LEVELS + 2)
      return `an answer is nested more than ${MAX_LEVELS} levels deep: let the service answer fewer levels`
    const [characters, count] = [this.#characters + length, this.#items + items.length]
    if (characters > MAX_CHARACTERS || count > MAX_ITEMS)
      return `${this.#what} more than ${MAX_CHARACTERS} characters or ${MAX_ITEMS} items in sum: ${this.#advice}`
    this.#characters = characters
    this.#items = count
    return undefined
  }
}
