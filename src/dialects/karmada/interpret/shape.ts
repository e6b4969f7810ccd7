// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Objects as Karmada's interpreter reads them: fields may be absent or of another type. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'

/** A Kubernetes object of any kind. */
export interface InterpretedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name?: string
    readonly namespace?: string
    readonly generation?: number
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

/** The status of an object on one cluster. */
export interface StatusItem {
  readonly clusterName: string
  readonly status?: unknown
}

/** `apiVersion kind`, the key of the tables of this folder. */
export function kindOf({ apiVersion, kind }: InterpretedObject): string {
  return `${apiVersion} ${kind}`
}

export function mapIn(value: unknown, ...path: readonly string[]): JsonObject {
  let found = value
  for (const field of path) found = isObject(found) ? found[field] : undefined
  return isObject(found) ? found : {}
}

export function listIn(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const field = path.at(-1)!
  const found = mapIn(value, ...path.slice(0, -1))[field]
  return Array.isArray(found) ? (found as unknown[]) : []
}

export function textIn(value: unknown, ...path: readonly string[]): string {
  const found = mapIn(value, ...path.slice(0, -1))[path.at(-1)!]
  return typeof found === 'string' ? found : ''
}

/** A field of an integer type of Go: 0 where it is absent. */
export function countIn(value: unknown, field: string): number {
  const found = mapIn(value)[field]
  return typeof found === 'number' && Number.isSafeInteger(found) ? found : 0
}

/** `spec.replicas`, which is a pointer in Go: undefined where it is absent. */
export function replicasIn({ spec }: InterpretedObject): number | undefined {
  const found = mapIn(spec)['replicas']
  return typeof found === 'number' ? found : undefined
}

/** The object with another value at a path; objects on the path are copied. */
export function withField<T extends JsonObject>(object: T, path: readonly string[], value: unknown): T {
  const [field, ...rest] = path
  const child = rest.length === 0 ? value : withField(mapIn(object[field!]), rest, value)
  return { ...object, [field!]: child }
}
