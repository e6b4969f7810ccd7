/** What clusters get of the example repositories, one line per object; the same whether it was only rendered or really delivered. */
import { canonicalJson } from '../core/json.ts'
import type { UnknownObject } from '../kinds/meta.ts'

/** Clusters with the labels that the examples ask for. */
export const EXAMPLE_CLUSTERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'dev-1': { env: 'dev' },
  'test-1': { env: 'test' },
  'prod-1': { env: 'prod', region: 'eu' },
  'prod-2': { env: 'prod', region: 'us', network: 'satellite' },
  other: {},
  shut: { env: 'prod', state: 'closed' },
}

interface Parts {
  readonly replicas?: number
  readonly type?: string
  readonly selector?: { readonly role?: string }
  readonly template?: { readonly spec: { readonly containers: readonly { readonly image: string }[] } }
}

/** One line per object with what the examples differ in. */
export function shownObjects(objects: readonly UnknownObject[] | string): string[] {
  if (typeof objects === 'string') return [objects]
  return objects
    .map(({ kind, metadata, ...rest }) => {
      const { replicas, type, selector, template } = (rest['spec'] ?? {}) as Parts
      const more =
        kind === 'Deployment'
          ? `${replicas} ${template?.spec.containers[0]?.image}`
          : kind === 'Service'
            ? `${type} ${selector?.role}`
            : canonicalJson(rest['data'] ?? {})
      return `${kind} ${metadata.namespace}/${metadata.name} ${more}`
    })
    .sort()
}

const COUNTER = [
  'Deployment counter/copy 2 example.com/store:1',
  'Deployment counter/front 1 example.com/front:1',
  'Deployment counter/store 1 example.com/store:1',
  'Service counter/copy ClusterIP copy',
  'Service counter/front ClusterIP front',
  'Service counter/store ClusterIP store',
]

const instead = (changes: Readonly<Record<string, string | undefined>>): string[] =>
  COUNTER.flatMap((line) => {
    const of = Object.keys(changes).find((start) => line.startsWith(start))
    return of === undefined ? line : (changes[of] ?? [])
  }).sort()

const BY_ENVIRONMENT: Readonly<Record<string, string[]>> = {
  dev: instead({
    'Deployment counter/copy': undefined,
    'Service counter/copy': 'Service counter/copy ClusterIP store',
  }),
  test: instead({ 'Deployment counter/front': 'Deployment counter/front 3 example.com/front:1' }),
  prod: instead({
    'Deployment counter/front': 'Deployment counter/front 3 example.com/front:1',
    'Service counter/front': 'Service counter/front LoadBalancer front',
  }),
}

const TILL: Readonly<Record<string, string>> = {
  other: '1 docker.io en 30s',
  'dev-1': '1 docker.io en 30s',
  'test-1': '1 docker.io en 30s',
  'prod-1': '4 eu.mirror.example.com de 30s',
  'prod-2': '4 localhost:5000 en 15m',
}

/** The lines of a cluster for an example; none for one it does not reach. */
export function expectedObjects(example: string, cluster: string): string[] {
  const env = EXAMPLE_CLUSTERS[cluster]?.['env']
  switch (example) {
    case 'single/simple':
      return COUNTER.map((line) => line.replace(' counter/', ' default/'))
    case 'single/helm-kustomize':
      return instead({ 'Deployment counter/front': 'Deployment counter/front 4 example.com/front:1' })
    case 'single/helm-multi-chart':
      return COUNTER.filter((line) => /^Deployment counter\/(front|store) /.test(line))
    case 'multi/regions': {
      const [tills, registry, language, sync] = TILL[cluster]?.split(' ') ?? []
      if (tills === undefined) return []
      return [
        `ConfigMap till/till ${canonicalJson({ language, sync, site: cluster })}`,
        `Deployment till/till ${tills} ${registry}/till:2`,
      ]
    }
    case 'teams/platform': {
      if (env === undefined) return []
      const gateway = { class: env === 'prod' ? 'public' : 'internal', host: `${cluster}.example.com` }
      return [
        `ConfigMap gateway/gateway ${canonicalJson(gateway)}`,
        `ConfigMap metrics/metrics ${canonicalJson({ environment: env, every: '60s' })}`,
        'ConfigMap shop/jobs {"nightly":"true"}',
        ...(env === 'test' ? [] : [`Deployment shop/shop ${env === 'prod' ? 3 : 1} example.com/shop:1`]),
      ]
    }
    default:
      break
  }
  if (example.startsWith('single/')) return COUNTER
  const counter = env === undefined ? COUNTER : BY_ENVIRONMENT[env]!
  return example === 'multi/helm-multi-chart'
    ? [`ConfigMap counter/notes {"env":"${env ?? ''}"}`, ...counter].sort()
    : counter
}
