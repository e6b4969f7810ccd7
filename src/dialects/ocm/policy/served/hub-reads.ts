/** What templates of the hub read: ConfigMaps in the namespace of the Policy, and the ManagedCluster itself. Pure. */
import { utf8 } from '../../../../core/bytes.ts'
import { compact } from '../../../../core/compact.ts'
import { isObject } from '../../../../core/json.ts'
import type { JsonObject } from '../../../../core/json.ts'
import type { ConfigMap } from '../../../../kinds/builtin/core.ts'
import type { BuilderRequest } from '../../../../render/bundle/builder.ts'
import type { TemplateObjects } from '../../../../render/policy-template/cluster-lookup.ts'
import { memoryObjects } from '../../../../render/policy-template/memory-objects.ts'
import type { MemoryKind } from '../../../../render/policy-template/memory-objects.ts'
import { PolicyTemplateError } from '../../../../render/policy-template/resolve-template.ts'

/** The ConfigMaps that templates of the hub may read: by name, or all of the namespace. */
export type HubReads = readonly string[] | 'all'

/** The part of a ConfigMap that templates read. */
export type ReadConfigMap = Pick<ConfigMap, 'data'> & { readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> } } // prettier-ignore

const ACTION = /\{\{hub([\s\S]*?)hub\}\}/g
const SECRET_FUNCTION = /\b(fromSecret|copySecretData|lookup\s+"v1"\s+"Secret")/
const CONFIG_MAP_FUNCTION = /\b(?:fromConfigMap|copyConfigMapData|lookup)\b/g
const NAMED = /\b(?:(?:fromConfigMap|copyConfigMapData)|lookup\s+"v1"\s+"ConfigMap")\s+"[^"]*"\s+"([^"]+)"/g
const OTHER_KIND = /\blookup\s+"[^"]+"\s+"(?!ConfigMap")[^"]+"/g

/** A Bundle has its ConfigMaps in itself, and a request to the API server is limited. */
const MOST_BYTES = 512 * 1024

/** The ConfigMaps that a text of checks reads on the hub; undefined for none. */
export function hubReadsOf(value: unknown): HubReads | undefined {
  const names = new Set<string>()
  for (const action of actionsOf(value)) {
    const reads = [...action.matchAll(CONFIG_MAP_FUNCTION)].length
    const named = [...action.matchAll(NAMED)].map(([, name]) => name!)
    if (reads > named.length + [...action.matchAll(OTHER_KIND)].length) return 'all'
    for (const name of named) names.add(name)
  }
  return names.size === 0 ? undefined : [...names].sort()
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
  if (typeof value === 'string') return [...value.matchAll(ACTION)].map(([, action]) => action!)
  if (Array.isArray(value)) return value.flatMap(actionsOf)
  return isObject(value) ? Object.entries(value).flatMap((entry) => entry.flatMap(actionsOf)) : []
}

/** The ConfigMaps as an option of the builder, or why they are too many. */
export function readConfigMaps(
  reads: HubReads,
  present: readonly ConfigMap[],
): { readonly configMaps: readonly ReadConfigMap[] } | { readonly problem: string } {
  const configMaps = present
    .filter(({ metadata }) => reads === 'all' || reads.includes(metadata.name))
    .map(({ metadata: { name, labels }, data }) => compact({ metadata: compact({ name, labels }), data }))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  const bytes = utf8(JSON.stringify(configMaps)).byteLength
  if (bytes <= MOST_BYTES) return { configMaps }
  const how = reads === 'all' ? 'the templates name no ConfigMap as a text, so all of the namespace are read' : reads.join(', ') // prettier-ignore
  return { problem: `templates of the hub read ${bytes} bytes of ConfigMaps (${how}); at most ${MOST_BYTES} bytes` }
}

const MANAGED_CLUSTER = { apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' }
const KINDS: readonly MemoryKind[] = [
  { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  { group: 'cluster.open-cluster-management.io', version: 'v1', kind: 'ManagedCluster', plural: 'managedclusters', namespaced: false }, // prettier-ignore
  // Templates of the hub may not read a kind without namespace; this one is named in the words of the original.
  { group: 'cluster.open-cluster-management.io', version: 'v1alpha1', kind: 'ClusterClaim', plural: 'clusterclaims', namespaced: false }, // prettier-ignore
  { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false },
]

/** What templates of the hub find; the facts of the cluster are read only when a template asks for them. */
export function hubObjects(
  configMaps: readonly ReadConfigMap[],
  namespace: string,
  cluster: BuilderRequest['cluster'],
): TemplateObjects {
  const stored = memoryObjects(
    KINDS,
    configMaps.map(({ metadata, data }): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, namespace }, ...compact({ data }) })), // prettier-ignore
  )
  return {
    resourceOf: (kind) => {
      const known = stored.resourceOf(kind)
      if (known) return known
      throw new PolicyTemplateError(
        `templates of the hub read no ${kind.kind} of ${kind.apiVersion}; they read ConfigMaps of namespace ${namespace} and the ManagedCluster`,
      )
    },
    get: (query) => (query.kind === MANAGED_CLUSTER.kind ? managedCluster(cluster) : stored.get(query)),
    list: (query) => stored.list(query),
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
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => ({ name, value })),
      version: cluster.version.value === undefined ? undefined : { kubernetes: cluster.version.value },
    }),
  }
}
