// Tested by src/agent/cluster/cluster-state.contract.test.ts
/**
 * The ConfigMaps in which the agent keeps its state, in its own namespace, with the version of each for the next write.
 */
import type { Client } from '../../client/client.ts'
import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'

/** The agent's own namespace; no bundle may touch it. */
export const AGENT_NAMESPACE = 'flotilla-agent'

/** Labels of every object of the agent. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'flotilla-agent' }
/** What an object is for: inventory, page, mark, receipts or frozen. */
export const ROLE_LABEL = 'flotilla.dev/agent-state'

/** A ConfigMap or a Secret, as far as the agent uses it. */
export interface ConfigMap extends KubeObject {
  data?: Record<string, string>
  binaryData?: Record<string, string>
}

/** ConfigMaps, as the client addresses them. */
export const CONFIG_MAPS: ResourceType<ConfigMap> = {
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

/** Reads and writes the agent's ConfigMaps. Only one agent writes them; a second agent meets a Conflict. */
export function createAgentObjects(client: Client) {
  const versions = new Map<string, ConfigMap>()

  function find(name: string, signal?: AbortSignal): Promise<ConfigMap | undefined> {
    return client.get(CONFIG_MAPS, { namespace: AGENT_NAMESPACE, name }, signal).catch(ignoreNotFound)
  }

  return {
    find,
    /** The `state` of a ConfigMap; its version is kept for the next write. */
    async read(name: string, signal?: AbortSignal): Promise<string | undefined> {
      const found = await find(name, signal)
      if (found) versions.set(name, found)
      else versions.delete(name)
      return found?.data?.['state']
    },
    async write(name: string, role: string, content: Pick<ConfigMap, 'data' | 'binaryData'>): Promise<void> {
      const current = versions.get(name)
      const labels = { ...MANAGED_BY, [ROLE_LABEL]: role }
      const metadata = current ? { ...current.metadata, labels } : { name, namespace: AGENT_NAMESPACE, labels }
      const configMap: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...content }
      try {
        const written = await (current
          ? client.update(CONFIG_MAPS, configMap)
          : createInNamespace(client, CONFIG_MAPS, configMap))
        // The next write needs only the version, not the content.
        versions.set(name, { apiVersion: 'v1', kind: 'ConfigMap', metadata: written.metadata })
      } catch (caught) {
        // Another writer changed or deleted it: the next read tells.
        versions.delete(name)
        throw caught
      }
    },
    async remove(name: string): Promise<void> {
      versions.delete(name)
      await client.delete(CONFIG_MAPS, { namespace: AGENT_NAMESPACE, name }).catch(ignoreNotFound)
    },
    /** Every ConfigMap of a role. */
    async *list(role: string, signal?: AbortSignal): AsyncIterable<ConfigMap> {
      let token: string | undefined
      do {
        const select = { namespace: AGENT_NAMESPACE, labelSelector: `${ROLE_LABEL}=${role}`, limit: 50 }
        const page = await client.list(CONFIG_MAPS, { ...select, ...compact({ continue: token }) }, signal)
        yield* page.items
        token = page.continue
      } while (token !== undefined)
    },
    /** Keeps the version of a ConfigMap that was read in another way. */
    noteVersion: (configMap: ConfigMap) => void versions.set(configMap.metadata.name, configMap),
    dropVersion: (name: string) => void versions.delete(name),
    /** The cluster was restored: no version is known any more. */
    forget: () => versions.clear(),
  }
}

/** The agent's ConfigMaps. */
export type AgentObjects = ReturnType<typeof createAgentObjects>

/** Creates an object in the agent's namespace, and the namespace first where it does not exist. */
export async function createInNamespace<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  object: T,
): Promise<T> {
  try {
    return await client.create(type, object)
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    const metadata = { name: AGENT_NAMESPACE, labels: MANAGED_BY }
    await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata })
    return client.create(type, object)
  }
}

/** A NotFound as undefined. */
export function ignoreNotFound(caught: unknown): undefined {
  if (!isApiError(caught, 'NotFound')) throw caught
  return undefined
}
