/** The small named files that an agent keeps between starts. */

/** A resolved write is durable. After a crash a file has either its old or its new bytes. */
export interface AgentStorage {
  read(name: string): Promise<Uint8Array | undefined>
  write(name: string, bytes: Uint8Array): Promise<void>
}

/** Names of the agent's files. */
export const AGENT_FILES = {
  /** Hub, keys, cluster id: created at the first start. */
  identity: 'identity.json',
  /** The TLS certificate and its key, which are replaced together. */
  transport: 'transport.json',
  /** The newest verified trust bundle. */
  trust: 'trust.json',
  /** The newest accepted document, in its envelope. */
  document: 'document.json',
  /** Why the newest document was refused, for `flotilla check --agent`. */
  refusal: 'refusal.json',
  /** Incarnation, resource version and mark of the cluster at the last check. */
  incarnation: 'incarnation.json',
  /** Which sets are complete on disk. */
  bases: 'bases.json',
  /** The sealed values of each set. */
  sealed: 'sealed.json',
  /** The results of policy engines in the last report. */
  results: 'results.json',
  /** The token of the agent's own account in the cluster; only of agents that the hub runs. */
  access: 'access.json',
} as const

/** Storage in memory, for simulations and tests. */
export function createMemoryStorage(files: Map<string, Uint8Array> = new Map()): AgentStorage {
  return {
    read: async (name) => files.get(name),
    write: async (name, bytes) => void files.set(name, bytes.slice()),
  }
}
