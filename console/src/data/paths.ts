/** Paths of the API for the kinds that the console reads and writes. */

const CORE = '/apis/flotilla.dev/v1alpha1'
const VIEW = '/apis/view.flotilla.dev/v1alpha1'

const BASES: Readonly<Record<string, string>> = {
  bundlestates: VIEW,
  bundleobjects: VIEW,
  bundlecounts: VIEW,
  releaseobjects: VIEW,
  events: '/api/v1',
  configmaps: '/api/v1',
  leases: '/apis/coordination.k8s.io/v1',
  policies: '/apis/policy.open-cluster-management.io/v1',
}

export interface ListQuery {
  readonly namespace?: string | undefined
  readonly fields?: Readonly<Record<string, string>>
  readonly labels?: string
  readonly limit?: number
}

/** The path of a list. */
export function listPath(plural: string, { namespace, fields = {}, labels, limit }: ListQuery = {}): string {
  const base = BASES[plural] ?? CORE
  const query = new URLSearchParams()
  const selector = Object.entries(fields).map(([field, value]) => `${field}=${value}`)
  if (selector.length > 0) query.set('fieldSelector', selector.join(','))
  if (labels !== undefined) query.set('labelSelector', labels)
  if (limit !== undefined) query.set('limit', String(limit))
  const text = query.toString()
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  return `${base}${scope}/${plural}${text === '' ? '' : `?${text}`}`
}

/** The path of an object. */
export function objectPath(plural: string, name: string, namespace?: string): string {
  return `${listPath(plural, { namespace })}/${encodeURIComponent(name)}`
}

/** The API group of a kind, for questions about rights. */
export function groupOf(plural: string): string {
  return (BASES[plural] ?? CORE).split('/')[2] === 'v1' ? '' : (BASES[plural] ?? CORE).split('/')[2]!
}
