/** Problems of the fields of a policy, each with the path of its field. */
import { isObject } from '../../../core/json.ts'

/** Plain JSON of a policy. */
export type Fields = Readonly<Record<string, unknown>>

/** Collects problems. */
export class Problems {
  readonly #lines: string[] = []

  /** Adds a problem of a field, for example `spec.placement`. */
  add(path: string, problem: string): void {
    this.#lines.push(`${path}: ${problem}`)
  }

  addAll(path: string, problems: readonly string[]): void {
    for (const problem of problems) this.add(path, problem)
  }

  /** All problems in one text; undefined when there are none. */
  get text(): string | undefined {
    return this.#lines.length === 0 ? undefined : this.#lines.join('; ')
  }
}

/** A member that is an object; empty when it is absent or something else. */
export function objectIn(parent: Fields, field: string): Fields {
  const value = parent[field]
  return isObject(value) ? value : {}
}

/** The objects of a member that is a list. */
export function listIn(parent: Fields, field: string): readonly Fields[] {
  const value = parent[field]
  return Array.isArray(value) ? (value as unknown[]).map((one) => (isObject(one) ? one : {})) : []
}

/** A member that is a text; empty when it is absent or something else. */
export function textIn(parent: Fields, field: string): string {
  const value = parent[field]
  return typeof value === 'string' ? value : ''
}

/** A member that is a number; 0 when it is absent or something else. */
export function numberIn(parent: Fields, field: string): number {
  const value = parent[field]
  return typeof value === 'number' ? value : 0
}
