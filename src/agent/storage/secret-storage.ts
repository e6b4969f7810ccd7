/**
 * Keeps the identity of an agent in a Secret of its cluster, so that a pod needs no volume. All other files are on
 * disk: an agent that loses them gets them from the hub again, and its state in the cluster guards against older
 * documents.
 */
import type { Client } from '../../client/client.ts'
import { base64, fromBase64 } from '../../core/bytes.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import { AGENT_NAMESPACE, createInNamespace, ignoreNotFound, MANAGED_BY } from '../cluster/agent-objects.ts'
import { AGENT_FILES } from './storage.ts'
import type { AgentStorage } from './storage.ts'

interface IdentitySecret extends KubeObject {
  data?: Record<string, string>
}

const SECRETS: ResourceType<IdentitySecret> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  scope: 'Namespaced',
}

/** Without these files, an agent could not prove again who it is. */
const KEPT: ReadonlySet<string> = new Set([AGENT_FILES.identity, AGENT_FILES.transport, AGENT_FILES.trust])

/**
 * Storage whose identity is in Secret `flotilla-agent/NAME`, and whose other files are in `disk`. Files that `disk` has
 * of the identity are copied into the Secret when they are read. A write that meets the write of another agent fails.
 */
export function createSecretStorage(client: Client, name: string, disk: AgentStorage): AgentStorage {
  let known: IdentitySecret | undefined
  let isRead = false

  async function current(): Promise<IdentitySecret | undefined> {
    if (!isRead) known = await client.get(SECRETS, { namespace: AGENT_NAMESPACE, name }).catch(ignoreNotFound)
    isRead = true
    return known
  }

  async function put(file: string, bytes: Uint8Array): Promise<void> {
    const found = await current()
    const metadata = found?.metadata ?? { name, namespace: AGENT_NAMESPACE, labels: MANAGED_BY }
    const data = { ...found?.data, [file]: base64(bytes) }
    const secret: IdentitySecret = { apiVersion: 'v1', kind: 'Secret', metadata, data }
    try {
      known = await (found ? client.update(SECRETS, secret) : createInNamespace(client, SECRETS, secret))
    } catch (caught) {
      // The next use reads what another writer wrote.
      isRead = false
      throw caught
    }
  }

  return {
    async read(file) {
      if (!KEPT.has(file)) return await disk.read(file)
      const text = (await current())?.data?.[file]
      if (text !== undefined) return fromBase64(text)
      const earlier = await disk.read(file)
      if (earlier) await put(file, earlier)
      return earlier
    },
    async write(file, bytes) {
      await (KEPT.has(file) ? put(file, bytes) : disk.write(file, bytes))
    },
  }
}
