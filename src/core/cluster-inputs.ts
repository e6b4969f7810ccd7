/** What templates and variants may know of a cluster, and what a render read of it: the key of its variant. */
import { canonicalJson, isObject } from './json.ts'

/** The facts about a cluster that a rendering may read. */
export interface ClusterInputs {
  readonly name: string
  /** The id that the hub issued. */
  readonly id?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly claims: Readonly<Record<string, string>>
  readonly values: unknown
  readonly kubeVersion?: string
}

/** What was read: a path like `labels.region`, and what was there; null for nothing. */
export type Reads = Readonly<Record<string, string | null>>

/** What a cluster has at a path of reads. */
export function inputAt(cluster: ClusterInputs, path: string): string | null {
  if (path === 'name') return cluster.name
  if (path === 'id') return cluster.id ?? null
  if (path === 'kubeVersion') return cluster.kubeVersion ?? null
  const dot = path.indexOf('.')
  const field = dot < 0 ? path : path.slice(0, dot)
  const key = dot < 0 ? '*' : path.slice(dot + 1)
  const whole: unknown = cluster[field as 'labels' | 'annotations' | 'claims' | 'values']
  if (key === '*') return canonicalJson(whole ?? {})
  if (!isObject(whole) || !Object.hasOwn(whole, key)) return null
  const value = whole[key]
  return typeof value === 'string' ? value : canonicalJson(value)
}

/** True if all inputs that a rendering read are equal for this cluster; then its result is equal as well. */
export function matchesReads(cluster: ClusterInputs, reads: Reads): boolean {
  return Object.entries(reads).every(([path, value]) => inputAt(cluster, path) === value)
}
