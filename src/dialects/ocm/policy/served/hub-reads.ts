/** What templates of the hub read: ConfigMaps in the namespace of the Policy, and the ManagedCluster itself. Pure. */
import { utf8 } from '../../../../core/bytes.ts'
import { compact } from '../../../../core/compact.ts'
import { isObject } from '../../../../core/json.ts'
import type { JsonObject } from '../../../../core/json.ts'
import { compareText } from '../../../../core/text/compare-text.ts'
import { subdomainProblems } from '../../../../core/text/name-validation.ts'
import type { ConfigMap } from '../../../../kinds/builtin/core.ts'
import type { BuilderRequest } from '../../../../render/bundle/builder.ts'
import type { TemplateObjects } from '../../../../render/policy-template/cluster-lookup.ts'
import { memoryObjects } from '../../../../render/policy-template/memory-objects.ts'
import type { MemoryKind } from '../../../../render/policy-template/memory-objects.ts'
import { PolicyTemplateError } from '../../../../render/policy-template/resolve-template.ts'

/**
 * A ConfigMap that templates of the hub read. Without `name`, all ConfigMaps of the namespace. An empty namespace is
 * the namespace of the Policy.
 */
export interface HubRead {
  readonly namespace: string
  readonly name?: string
}

/** The part of a ConfigMap that templates read. */
export interface ReadConfigMap extends Pick<ConfigMap, 'data'> {
  readonly metadata: {
    readonly namespace: string
    readonly name: string
    readonly labels?: Readonly<Record<string, string>>
  }
}

const OPEN = '{{hub'
const CLOSE = 'hub}}'
const SECRET_FUNCTION = /\b(fromSecret|copySecretData|lookup\s+"v1"\s+"Secret")/
const CONFIG_MAP_FUNCTION = /\b(?:fromConfigMap|copyConfigMapData|lookup)\b/g
const NAMED = /\b(?:(?:fromConfigMap|copyConfigMapData)|lookup\s+"v1"\s+"ConfigMap")\s+"([^"]*)"\s+"([^"]+)"/g
const IN_NAMESPACE = /\b(?:(?:fromConfigMap|copyConfigMapData)|lookup\s+"v1"\s+"ConfigMap")\s+"([^"]+)"/g
const OTHER_KIND = /\blookup\s+"[^"]+"\s+"(?!ConfigMap")[^"]+"/g

/** A Bundle has its ConfigMaps in itself, and a request to the API server is limited. */
const MOST_BYTES = 512 * 1024

/** Each read is a request, and one more with a ServiceAccount, every 30 seconds. */
const MOST_READS = 100

/** Why templates of the hub read too much, if they do. */
export function tooManyReads(reads: readonly HubRead[]): string | undefined {
  if (reads.length <= MOST_READS) return undefined
  return `templates of the hub read ${reads.length} ConfigMaps or namespaces, at most ${MOST_READS}; put their values into fewer ConfigMaps`
}

/** The ConfigMaps that checks read on the hub. A name that a template computes reads all of the namespace. */
export function hubReadsOf(value: unknown): readonly HubRead[] {
  const named = new Map<string, HubRead>()
  const whole = new Map<string, HubRead>()
  for (const action of actionsOf(value)) {
    const all = [...action.matchAll(NAMED)].map(([, namespace = '', name = '']) => ({ namespace, name }))
    for (const one of all) named.set(`${one.namespace}/${one.name}`, one)
    const others = [...action.matchAll(OTHER_KIND)].length
    if ([...action.matchAll(CONFIG_MAP_FUNCTION)].length <= all.length + others) continue
    const namespaces = [...action.matchAll(IN_NAMESPACE)].map(([, namespace = '']) => namespace)
    for (const namespace of ['', ...namespaces]) whole.set(namespace, { namespace })
  }
  const reads = [...whole.values(), ...[...named.values()].filter(({ namespace }) => !whole.has(namespace))]
  const text = ({ namespace, name = '' }: HubRead): string => `${namespace}/${name}`
  return reads.sort((a, b) => compareText(text(a), text(b)))
}

/** The function by which templates of the hub read a Secret. A Policy is no place for the values of Secrets. */
export function secretFunctionOf(value: unknown): string | undefined {
  for (const action of actionsOf(value)) {
    const found = SECRET_FUNCTION.exec(action)
    if (found) return found[1]
  }
  return undefined
}

/** The templates of the hub in all texts of a value. */
function actionsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return actionsIn(value)
  if (Array.isArray(value)) return value.flatMap(actionsOf)
  return isObject(value) ? Object.entries(value).flatMap((entry) => entry.flatMap(actionsOf)) : []
}

/** The templates of the hub in a text. A text that opens many and closes none is searched once. */
function actionsIn(text: string): readonly string[] {
  const actions: string[] = []
  let start = text.indexOf(OPEN)
  while (start !== -1) {
    const end = text.indexOf(CLOSE, start + OPEN.length)
    if (end === -1) break
    actions.push(text.slice(start + OPEN.length, end))
    start = text.indexOf(OPEN, end + CLOSE.length)
  }
  return actions
}

/** A list of ConfigMaps of the hub. */
export interface ConfigMapQuery {
  readonly namespace: string
  readonly fieldSelector?: string
}

/** The lists that reads need, without one twice. No ConfigMap has a name that Kubernetes refuses. */
export function queriesOf(reads: readonly HubRead[], own: string): readonly ConfigMapQuery[] {
  const queries = new Map<string, ConfigMapQuery>()
  const whole = reads.filter(({ name }) => name === undefined).map(({ namespace }) => namespace || own)
  for (const namespace of whole) queries.set(namespace, { namespace })
  for (const { namespace: given, name } of reads) {
    const namespace = given || own
    if (name === undefined || queries.has(namespace) || subdomainProblems(name).length > 0) continue
    queries.set(`${namespace}/${name}`, { namespace, fieldSelector: `metadata.name=${name}` })
  }
  return [...queries.values()]
}

/** The ConfigMaps as an option of the builder, or why they are too many. */
export function readConfigMaps(
  reads: readonly HubRead[],
  present: readonly ConfigMap[],
  own: string,
): { readonly configMaps: readonly ReadConfigMap[] } | { readonly problem: string } {
  const isRead = ({ metadata }: ConfigMap): boolean =>
    reads.some(({ namespace, name }) => (namespace || own) === metadata.namespace && (name ?? metadata.name) === metadata.name) // prettier-ignore
  const configMaps = present
    .filter(isRead)
    .map(({ metadata: { namespace = own, name, labels }, data }) =>
      compact({ metadata: compact({ namespace, name, labels }), data }),
    ) // prettier-ignore
    .sort((a, b) => compareText(keyOf(a), keyOf(b)))
  const bytes = utf8(JSON.stringify(configMaps)).byteLength
  if (bytes <= MOST_BYTES) return { configMaps }
  const whole = reads.filter(({ name }) => name === undefined).map(({ namespace }) => namespace || own)
  const how = whole.length === 0 ? '' : `, because a template computes a name and reads all of namespace ${whole.join(', ')}` // prettier-ignore
  return { problem: `templates of the hub read ${bytes} bytes of ConfigMaps, at most ${MOST_BYTES} bytes${how}` }
}

const keyOf = ({ metadata }: ReadConfigMap): string => `${metadata.namespace}/${metadata.name}`

const MANAGED_CLUSTER = { apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' }
const KINDS: readonly MemoryKind[] = [
  { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  { group: 'cluster.open-cluster-management.io', version: 'v1', kind: 'ManagedCluster', plural: 'managedclusters', namespaced: false }, // prettier-ignore
  // Templates of the hub may not read a kind without namespace; this one is named in the words of the original.
  { group: 'cluster.open-cluster-management.io', version: 'v1alpha1', kind: 'ClusterClaim', plural: 'clusterclaims', namespaced: false }, // prettier-ignore
  { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false },
]

/** What templates of the hub find. */
export interface HubContent {
  readonly configMaps: readonly ReadConfigMap[]
  /** The namespaces whose ConfigMaps were read. */
  readonly namespaces: readonly string[]
}

/** Serves templates of the hub; the facts of the cluster are read only when a template asks for them. */
export function hubObjects(
  { configMaps, namespaces }: HubContent,
  cluster: BuilderRequest['cluster'],
): TemplateObjects {
  const stored = memoryObjects(
    KINDS,
    configMaps.map(({ metadata, data }): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata }, ...compact({ data }) })), // prettier-ignore
  )
  // With a ServiceAccount, a template may ask for what is there and is not read: that is no missing object.
  const refuse = (what: string): never => {
    throw new PolicyTemplateError(`templates of the hub read no ${what}; they read ConfigMaps and their ManagedCluster`)
  }
  const inside = <T extends { readonly kind: string; readonly namespace: string }>(query: T): T => {
    if (query.kind !== 'ConfigMap') return refuse(`${query.kind} here`)
    if (namespaces.includes(query.namespace)) return query
    throw new PolicyTemplateError(
      `templates of the hub read ConfigMaps of namespace ${query.namespace || '""'} only where the namespace is a text in the template`,
    )
  }
  const isOwn = ({ kind, name }: { readonly kind: string; readonly name: string }): boolean =>
    kind === MANAGED_CLUSTER.kind && cluster.map.get('Name') === name
  return {
    resourceOf: (kind) => stored.resourceOf(kind) ?? refuse(`${kind.kind} of ${kind.apiVersion}`),
    get: (query) => (isOwn(query) ? managedCluster(cluster) : stored.get(inside(query))),
    list: (query) => stored.list(inside(query)),
  }
}

/** The ManagedCluster of a cluster as far as templates may know the cluster. */
function managedCluster(cluster: BuilderRequest['cluster']): JsonObject {
  const texts = (field: string) =>
    Object.fromEntries((cluster.map.get(field) as ReadonlyMap<string, string>).entries()) as Record<string, string>
  cluster.version.note()
  return {
    ...MANAGED_CLUSTER,
    metadata: { name: cluster.map.get('Name') as string, labels: texts('Labels'), annotations: texts('Annotations') },
    spec: { hubAcceptsClient: true },
    status: compact({
      clusterClaims: Object.entries(texts('Claims'))
        .sort(([a], [b]) => compareText(a, b))
        .map(([name, value]) => ({ name, value })),
      version: cluster.version.value === undefined ? undefined : { kubernetes: cluster.version.value },
    }),
  }
}
