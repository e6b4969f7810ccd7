/** Takes out of objects what must not leave a house: content, values, hashes of tokens, passwords in addresses. Pure. */
import { isObject } from '../../../core/json.ts'

/** Fields whose content is somebody's, whatever kind they are in. */
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

/** A value without what must not be shown; that something was there stays visible. */
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
