/** Removes content, values, token hashes and passwords in URLs from objects of a support bundle. Pure. */
import { isObject } from '../../../core/json.ts'

/** Fields with workload content, in all kinds. */
const CONTENT: ReadonlySet<string> = new Set([
  'data',
  'stringData',
  'manifests',
  'patches',
  'tokenHash',
  'values',
  'valuesInline',
])
const NOISE: ReadonlySet<string> = new Set(['managedFields', 'kubectl.kubernetes.io/last-applied-configuration'])
const USER_INFO = /([a-z][a-z0-9+.-]*:\/\/)[^/\s@]+@/gi

/** A copy without content. Removed values leave a placeholder. */
export function redacted(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(USER_INFO, '$1(left out)@')
  if (Array.isArray(value)) return value.map(redacted)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([key]) => !NOISE.has(key))
  return Object.fromEntries(
    kept.map(([key, inner]) => [key, CONTENT.has(key) && inner !== null ? leftOut(inner) : redacted(inner)]),
  )
}

function leftOut(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `(left out: ${text.length} characters)`
}
