/**
 * What the agent keeps in the managed cluster's own API, in namespace `flotilla-agent`: one ConfigMap per bundle with its inventory, and one with the
 * high-water mark of documents. They live and die with the cluster, so that a restored disk cannot take it back in time.
 */
import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { Client } from '../client/client.ts'
import { hex, sha256, utf8 } from '../core/bytes.ts'
import type { Digest } from '../core/digest.ts'
import { isApiError } from '../core/errors.ts'
import type { KubeObject, ResourceType } from '../kinds/meta.ts'
import type { HeldDocument } from '../wire/chain.ts'
import { parseJson } from '../wire/validate.ts'

/** The agent's own namespace; no bundle may touch it. */
export const AGENT_NAMESPACE = 'flotilla-agent'

const MARK_NAME = 'flotilla-agent-mark'
const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'flotilla-agent' }
const LIMIT = 4 * 1024 * 1024

interface ConfigMap extends KubeObject {
  data?: Record<string, string>
}

const CONFIG_MAPS: ResourceType<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
}
const NAMESPACES: ResourceType<KubeObject> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  scope: 'Cluster',
}

const DigestText = Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' })

const InventoryObject = Type.Object({
  apiVersion: Type.String(),
  kind: Type.String(),
  namespace: Type.Optional(Type.String()),
  name: Type.String(),
  /** Absent until it was seen applied. */
  uid: Type.Optional(Type.String()),
  /** It was there before the bundle: never deleted with it. */
  adopted: Type.Optional(Type.Boolean()),
})

/** One object a bundle has, or may have, on the cluster. */
export type InventoryObject = Static<typeof InventoryObject>

const InventorySchema = Type.Object({
  bundle: Type.String(),
  generation: Type.Integer(),
  epoch: Type.Integer(),
  set: DigestText,
  /** Applying: `objects` is old ∪ new. Applied: all of the set is applied, the rest waits to be pruned. Settled: exactly the set. */
  phase: Type.Union([Type.Literal('Applying'), Type.Literal('Applied'), Type.Literal('Settled')]),
  objects: Type.Array(InventoryObject),
})

/** What one bundle has on the cluster. */
export type Inventory = Static<typeof InventorySchema>

const MarkSchema = Type.Object({
  clusterId: Type.String(),
  epoch: Type.Integer(),
  revision: Type.Integer(),
  digest: DigestText,
})

/** Reads and writes the agent's state in the cluster; only one agent writes it, and a second one meets a Conflict. */
export function createClusterState(client: Client) {
  const versions = new Map<string, ConfigMap>()

  async function read(name: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const found = await client.get(CONFIG_MAPS, { namespace: AGENT_NAMESPACE, name }, signal)
      versions.set(name, found)
      return found.data?.['state']
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught
      versions.delete(name)
      return undefined
    }
  }

  async function write(name: string, state: object): Promise<void> {
    const data = { state: JSON.stringify(state) }
    const current = versions.get(name)
    const metadata = { name, namespace: AGENT_NAMESPACE, labels: MANAGED_BY }
    try {
      const written = current
        ? await client.update(CONFIG_MAPS, { ...current, data })
        : await create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
      versions.set(name, written)
    } catch (caught) {
      // Whoever else wrote, or deleted it: the next read tells.
      versions.delete(name)
      throw caught
    }
  }

  async function create(configMap: ConfigMap): Promise<ConfigMap> {
    try {
      return await client.create(CONFIG_MAPS, configMap)
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught
      const metadata = { name: AGENT_NAMESPACE, labels: MANAGED_BY }
      await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata })
      return client.create(CONFIG_MAPS, configMap)
    }
  }

  return {
    async readInventory(bundle: string, signal: AbortSignal): Promise<Inventory | undefined> {
      const text = await read(inventoryName(bundle), signal)
      return text === undefined
        ? undefined
        : parseJson(InventorySchema, utf8(text), { what: `inventory of ${bundle}`, maxBytes: LIMIT })
    },
    writeInventory: (inventory: Inventory) => write(inventoryName(inventory.bundle), inventory),
    async deleteInventory(bundle: string): Promise<void> {
      const name = inventoryName(bundle)
      versions.delete(name)
      await client.delete(CONFIG_MAPS, { namespace: AGENT_NAMESPACE, name }).catch((caught: unknown) => {
        if (!isApiError(caught, 'NotFound')) throw caught
      })
    },
    /** The newest document ever accepted on this cluster by the agent with this id. */
    async readMark(clusterId: string, signal: AbortSignal): Promise<HeldDocument | undefined> {
      const text = await read(MARK_NAME, signal)
      if (text === undefined) return undefined
      const mark = parseJson(MarkSchema, utf8(text), { what: 'high-water mark', maxBytes: LIMIT })
      // The cluster joined again as another one: a new chain begins.
      return mark.clusterId === clusterId
        ? { epoch: mark.epoch, revision: mark.revision, digest: mark.digest }
        : undefined
    },
    writeMark: (clusterId: string, held: HeldDocument) =>
      write(MARK_NAME, { clusterId, epoch: held.epoch, revision: held.revision, digest: held.digest }),
  }
}

/** The agent's state in the cluster. */
export type ClusterState = ReturnType<typeof createClusterState>

/** The ConfigMap of a bundle's inventory. */
export function inventoryName(bundle: string): string {
  return `flotilla-inventory-${hex(sha256(bundle)).slice(0, 16)}`
}
