/** What a hub says about itself on its own API, so that the CLI can make join codes without the hub's directory. */
import type { Client, Reader } from '../../client/client.ts'
import { isDigest } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { isApiError, Stalled } from '../../core/errors.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'

/** How agents reach and recognise this hub. */
export interface HubInfo {
  /** Gateways, `https://host:port`. */
  readonly endpoints: readonly string[]
  /** The digest of the root's public key. */
  readonly root: Digest
  /** The agent's bundle, which gateways hand out by this digest; absent when this hub has none. */
  readonly agentBundle?: Digest
  /** Image of the agent for manifests; absent when this hub names none. */
  readonly agentImage?: string
}

/** Where hubs keep what is theirs. */
export const SYSTEM_NAMESPACE = 'flotilla-system'

const NAME = 'flotilla-hub'

interface ConfigMap extends KubeObject {
  data?: Record<string, string>
}

const CONFIG_MAP: ResourceType<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
}

const NAMESPACE: ResourceType<KubeObject> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  scope: 'Cluster',
}

/** Makes a namespace unless it is there. */
export async function ensureNamespace(client: Client, name: string): Promise<void> {
  try {
    await client.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  } catch (caught) {
    if (!isApiError(caught, 'AlreadyExists')) throw caught
  }
}

/** Publishes the hub's information; nothing is written when it says so already. */
export async function publishHubInfo(client: Client, info: HubInfo): Promise<void> {
  await client.apply(
    CONFIG_MAP,
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: NAME, namespace: SYSTEM_NAMESPACE },
      data: {
        endpoints: info.endpoints.join('\n'),
        root: info.root,
        ...(info.agentBundle && { agentBundle: info.agentBundle }),
        ...(info.agentImage && { agentImage: info.agentImage }),
      },
    },
    { fieldManager: 'flotilla-hub', force: true },
  )
}

/** Reads it back. */
export async function readHubInfo(client: Reader): Promise<HubInfo> {
  let data: Record<string, string> = {}
  try {
    data = (await client.get(CONFIG_MAP, { namespace: SYSTEM_NAMESPACE, name: NAME })).data ?? {}
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
  }
  const endpoints = (data['endpoints'] ?? '').split('\n').filter((line) => line !== '')
  const { root, agentBundle, agentImage } = data
  if (endpoints.length === 0 || !isDigest(root)) {
    throw new Stalled('NoHub', `no hub uses this API: ConfigMap ${SYSTEM_NAMESPACE}/${NAME} not found`, {
      todo: 'start a hub, or use the admin.kubeconfig of the hub',
    })
  }
  return { endpoints, root, ...(isDigest(agentBundle) && { agentBundle }), ...(agentImage && { agentImage }) }
}
