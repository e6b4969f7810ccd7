/**
 * `T` with readonly members and lists at every depth, for types that are derived from schemas. Maps with free keys and
 * primitive types stay as they are.
 *
 *     DeepReadonly<{ rows: { name: string }[] }> // { readonly rows: readonly { readonly name: string }[] }
 */
export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? string extends keyof T
      ? T
      : { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
    : T
