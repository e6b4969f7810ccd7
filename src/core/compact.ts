/** Objects without undefined members, as `exactOptionalPropertyTypes` requires them. */

/** `T` with its possibly undefined members optional instead. */
export type Compacted<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
} extends infer U
  ? { [K in keyof U]: U[K] }
  : never

/**
 * Returns a copy of `value` without its undefined members; null, 0 and '' stay.
 *
 *     compact({ name, reason: undefined }) // { name }
 */
export function compact<T extends object>(value: T): Compacted<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Compacted<T>
}
