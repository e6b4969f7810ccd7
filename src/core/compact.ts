/** Objects without undefined members, as `exactOptionalPropertyTypes` requires them. */

/** True for a member that a copy may lack; reading a member of type `unknown` gives undefined either way. */
type MayLack<V> = unknown extends V ? false : undefined extends V ? true : false

/** `T` with its possibly undefined members optional instead. */
export type Compacted<T> = {
  [K in keyof T as MayLack<T[K]> extends true ? never : K]: T[K]
} & {
  [K in keyof T as MayLack<T[K]> extends true ? K : never]?: Exclude<T[K], undefined>
} extends infer U
  ? { [K in keyof U]: U[K] }
  : never

/** Makes `__proto__` a member like any other: an assignment would replace the prototype of the copy. */
const OWN_MEMBER = { configurable: true, enumerable: true, writable: true }

/**
 * Returns a copy of `value` without its undefined members; null, 0 and '' stay.
 *
 *     compact({ name, reason: undefined }) // { name }
 */
export function compact<const T extends object>(value: T): Compacted<T> {
  // A plain loop: documents and reports consist of these copies, and an array of entries would cost more than the copy.
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const member: unknown = value[key as keyof T]
    if (member === undefined) continue
    if (key === '__proto__') Object.defineProperty(copy, key, { value: member, ...OWN_MEMBER })
    else copy[key] = member
  }
  return copy as Compacted<T>
}
