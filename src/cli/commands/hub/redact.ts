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
const KNOWN_DOMAINS = ['flotilla.dev', 'kubernetes.io', 'k8s.io']
const USER_INFO = /([a-z][a-z0-9+.-]*:\/\/)[^/\s@]+@/gi

/** A copy without content. Removed values leave a placeholder. */
export function redacted(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(USER_INFO, '$1(left out)@')
  if (Array.isArray(value)) return value.map(redacted)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([key]) => !NOISE.has(key))
  return Object.fromEntries(
    kept.map(([key, inner]) => {
      if (CONTENT.has(key) && inner !== null) return [key, leftOut(inner)]
      return [key, key === 'annotations' && isObject(inner) ? redactedAnnotations(inner) : redacted(inner)]
    }),
  )
}

/** Users write anything into annotations of their own; only annotations of Flotilla and Kubernetes are kept. */
function redactedAnnotations(annotations: Readonly<Record<string, unknown>>): unknown {
  const kept = Object.entries(annotations).filter(([key]) => !NOISE.has(key))
  return Object.fromEntries(
    kept.map(([key, value]) => {
      const [domain = ''] = key.split('/', 1)
      const isKnown =
        key.includes('/') && KNOWN_DOMAINS.some((known) => domain === known || domain.endsWith(`.${known}`))
      return [key, isKnown ? redacted(value) : leftOut(value)]
    }),
  )
}

function leftOut(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `(left out: ${text.length} characters)`
}
