// Tested by src/cli/commands/flux/diff/diff-kustomization.contract.test.ts.
/**
 * What the hub knows of a Kustomization. All of it is in its namespace but the labels of clusters, so that a user with
 * the role `edit` there can compare.
 */
import type { Client } from '../../../../client/client.ts'
import { isApiError } from '../../../../core/errors.ts'
import type { ClusterInputs } from '../../../../core/cluster-inputs.ts'
import type { JsonObject } from '../../../../core/json.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../../../../kinds/meta.ts'
import type { Bundle } from '../../../../kinds/native/bundle.ts'
import type { Override } from '../../../../kinds/native/override.ts'
import type { PlacementDecision } from '../../../../kinds/native/placement-decision.ts'
import { decisionsOnPages, incumbentsOf } from '../../../../plan/placement/read-objects.ts'
import { clusterInputsOf } from '../../../../plan/release/variants.ts'
import { BUNDLES, CLUSTERS, flotillaResource, listAll, OBJECTS } from '../../../api/flotilla-resources.ts'
import type { ObjectRow } from '../../../api/flotilla-resources.ts'
import { readIfAllowed } from '../../../api/read-if-allowed.ts'
import { CliError, EXIT } from '../../../errors/cli-error.ts'

/** A Kustomization of Flux. */
export interface Kustomization extends KubeObject {
  spec: JsonObject
}

/** An object of Flux inside a build. */
export interface PreviewedObject {
  readonly object: KubeObject & { readonly spec: unknown }
  readonly live?: KubeObject | undefined
  readonly isSame: boolean
}

interface Revision {
  readonly revision?: string
}

/** A Bundle on a cluster. */
interface StateRow extends KubeObject {
  readonly cluster: string
  readonly state?: string
  readonly attempted?: Revision
  readonly applied?: Revision
}

const STATES: ResourceType<StateRow> = {
  ...flotillaResource<StateRow>('BundleState', 'Namespaced'),
  group: 'view.flotilla.dev',
}

/** A cluster of the Kustomization. */
export interface SceneCluster {
  /** Its facts, or its name alone. */
  readonly inputs: ClusterInputs
  /** Objects that the hub delivers to it. */
  readonly rows: readonly ObjectRow[]
  readonly isOffline: boolean
  /** The agent has content of which the hub has no objects. */
  readonly isUnknown: boolean
  /** Revisions that it may have, the likeliest first. */
  readonly revisions: readonly string[]
}

/** The clusters and the content that they have. */
export interface DeliveredScene {
  readonly clusters: readonly SceneCluster[]
  /** False where the facts of clusters cannot be read. */
  readonly hasFacts: boolean
  readonly overrides: readonly Override[]
  /** False where Overrides cannot be read, which change what is built. */
  readonly hasOverrides: boolean
}

/** Reads an object; undefined if it does not exist. */
export async function findIn<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  key: ObjectKey,
): Promise<T | undefined> {
  try {
    return await client.get(type, key)
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  }
}

/** The Bundle of a Kustomization. */
export function findBundle(client: Client, key: ObjectKey): Promise<Bundle | undefined> {
  return findIn(client, BUNDLES, key)
}

/** Reads the clusters of a Bundle, or those of the Placement of a Bundle that is not there yet. */
export async function readDelivered(
  client: Client,
  {
    namespace,
    name,
    live,
    placement,
  }: { namespace: string; name: string; live: Bundle | undefined; placement: string },
): Promise<DeliveredScene> {
  const scope = { namespace, fieldSelector: `bundle=${name}` }
  const [facts, overrides, states, rows, selected] = await Promise.all([
    readIfAllowed('clusters', listAll(client, CLUSTERS)),
    readIfAllowed('overrides', listAll(client, flotillaResource<Override>('Override', 'Namespaced'), { namespace })),
    live ? listAll(client, STATES, scope) : [],
    live ? listAll(client, OBJECTS, scope) : [],
    live ? [] : selectedBy(client, namespace, placement),
  ])
  const inputs = new Map(facts.items.map((cluster) => [cluster.metadata.name, clusterInputsOf(cluster)]))
  const inputsOf = (cluster: string): ClusterInputs =>
    inputs.get(cluster) ?? { name: cluster, labels: {}, annotations: {}, claims: {}, values: {} }
  const rowsOf = Map.groupBy(rows, ({ cluster }) => cluster)
  const newest = live?.status?.sourceRevision
  const present = states
    .filter(({ state }) => state !== undefined)
    .map(({ cluster, state, attempted, applied }): SceneCluster => {
      const own = rowsOf.get(cluster) ?? []
      return {
        inputs: inputsOf(cluster),
        rows: own,
        isOffline: state === 'Offline',
        isUnknown: own.length === 0 && attempted !== undefined,
        revisions: [...new Set([attempted?.revision, applied?.revision, newest].filter((one) => one !== undefined))],
      }
    })
  const fresh = selected.map((cluster): SceneCluster => {
    return { inputs: inputsOf(cluster), rows: [], isOffline: false, isUnknown: false, revisions: [] }
  })
  return {
    clusters: [...present, ...fresh],
    hasFacts: facts.refused === undefined,
    overrides: overrides.items,
    hasOverrides: overrides.refused === undefined,
  }
}

async function selectedBy(client: Client, namespace: string, placement: string): Promise<readonly string[]> {
  const decisions = flotillaResource<PlacementDecision>('PlacementDecision', 'Namespaced')
  const pages = (await listAll(client, decisions, { namespace })).filter(({ spec }) => spec.placement === placement)
  return [...incumbentsOf(decisionsOnPages(pages)).keys()].sort()
}

interface WithData extends KubeObject {
  data?: Record<string, string>
}

const DATA_TYPES: Readonly<Record<'ConfigMap' | 'Secret', ResourceType<WithData>>> = {
  ConfigMap: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' },
  Secret: { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', scope: 'Namespaced' },
}

/** The values of the ConfigMaps and Secrets that exist. */
export interface SceneData {
  readonly configMaps: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** Reads what `substituteFrom` names. */
export async function readData(
  client: Client,
  namespace: string,
  references: readonly { readonly kind: 'ConfigMap' | 'Secret'; readonly name: string }[],
): Promise<SceneData> {
  const configMaps: Record<string, Record<string, string>> = {}
  const secrets: Record<string, Record<string, string>> = {}
  for (const { kind, name } of references) {
    try {
      const found = await findIn(client, DATA_TYPES[kind], { namespace, name })
      if (!found) continue
      if (kind === 'ConfigMap') configMaps[name] = found.data ?? {}
      else secrets[name] = decoded(found.data ?? {})
    } catch (caught) {
      if (!isApiError(caught, 'Forbidden')) throw caught
      const what = `not compared: the build has variables from ${kind} ${namespace}/${name}, which you may not read`
      throw new CliError(EXIT.usage, { what, todo: 'ask for the role "edit" in this namespace' }, { cause: caught })
    }
  }
  return { configMaps, secrets }
}

function decoded(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  )
}
