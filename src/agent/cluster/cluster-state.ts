/**
 * What the agent keeps in the cluster's own API, in namespace `flotilla-agent`: inventories, receipts, frozen values
 * and the high-water mark of documents. All of it lives and dies with the cluster, so that a restored disk of the agent
 * cannot take the cluster back in time.
 */
import type { Client } from '../../client/client.ts'
import { utf8 } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Type } from '../../core/schema/typebox.ts'
import type { AcceptedDocument } from '../../wire/document/document-chain.ts'
import { RemovalRow } from '../../wire/link/frames.ts'
import { parseJson } from '../../wire/validate.ts'
import { AGENT_NAMESPACE, CONFIG_MAPS, createAgentObjects } from './agent-objects.ts'
import { createFrozenStore } from './frozen-store.ts'
import { createInventoryStore } from './inventory-store.ts'
import { createPolicyMemory } from '../policies/policy-memory.ts'

const MARK_NAME = 'flotilla-agent-mark'
const RECEIPTS_NAME = 'flotilla-agent-receipts'
const MAX_BYTES = 4 * 1024 * 1024

const MarkSchema = Type.Object({
  clusterId: Type.String(),
  epoch: Type.Integer(),
  revision: Type.Integer(),
  digest: Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' }),
})

/** Creates the agent's state in the cluster. */
export function createClusterState(client: Client) {
  const objectsOfAgent = createAgentObjects(client)
  const { forget: forgetInventories, ...inventories } = createInventoryStore(objectsOfAgent)
  const { forget: forgetFrozen, ...frozen } = createFrozenStore(client)

  return {
    ...inventories,
    ...frozen,
    ...createPolicyMemory(objectsOfAgent),
    /** Receipts and the state of removals that are under way, newest last. */
    async readReceipts(signal?: AbortSignal): Promise<RemovalRow[]> {
      const text = await objectsOfAgent.read(RECEIPTS_NAME, signal)
      return text === undefined
        ? []
        : parseJson(Type.Array(RemovalRow), utf8(text), { what: 'receipts', maxBytes: MAX_BYTES })
    },
    writeReceipts: (receipts: readonly RemovalRow[]) =>
      objectsOfAgent.write(RECEIPTS_NAME, 'receipts', { data: { state: JSON.stringify(receipts) } }),
    /**
     * The resource version of the cluster now, and its mark: a cluster that was restored has a lower version or an
     * older mark.
     */
    async readAge(clusterId: string, signal: AbortSignal) {
      const select = { namespace: AGENT_NAMESPACE, fieldSelector: `metadata.name=${MARK_NAME}` }
      const { items, resourceVersion } = await client.list(CONFIG_MAPS, select, signal)
      const text = items[0]?.data?.['state']
      return { version: resourceVersion, mark: text === undefined ? undefined : parseMark(text, clusterId) }
    },
    /** The cluster was restored: nothing that was read or written is known any more. */
    forget(): void {
      objectsOfAgent.forget()
      forgetInventories()
      forgetFrozen()
    },
    /** The newest document that the agent with this id accepted on this cluster. */
    async readMark(clusterId: string, signal: AbortSignal): Promise<AcceptedDocument | undefined> {
      const text = await objectsOfAgent.read(MARK_NAME, signal)
      return text === undefined ? undefined : parseMark(text, clusterId)
    },
    writeMark(clusterId: string, { epoch, revision, digest }: AcceptedDocument): Promise<void> {
      const state = JSON.stringify({ clusterId, epoch, revision, digest })
      return objectsOfAgent.write(MARK_NAME, 'mark', { data: { state } })
    },
  }
}

/** The agent's state in the cluster. */
export type ClusterState = ReturnType<typeof createClusterState>

function parseMark(text: string, clusterId: string): AcceptedDocument | undefined {
  const mark = parseJson(MarkSchema, utf8(text), { what: 'high-water mark', maxBytes: MAX_BYTES })
  // A cluster that joined again has a new id, and a new chain of documents begins.
  return mark.clusterId === clusterId ? { epoch: mark.epoch, revision: mark.revision, digest: mark.digest } : undefined
}
