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

/**
 * Returns a copy of `value` without its undefined members; null, 0 and '' stay.
 *
 *     compact({ name, reason: undefined }) // { name }
 */
export function compact<const T extends object>(value: T): Compacted<T> {
  // The engine's own functions: a loop with an assignment for each key took twice the time on Node 26.
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Compacted<T>
}
