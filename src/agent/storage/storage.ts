/** What an agent keeps between starts: a few small named files. */

/** A resolved write is durable and whole: after a crash a file has its old or its new bytes. */
export interface AgentStorage {
  read(name: string): Promise<Uint8Array | undefined>
  write(name: string, bytes: Uint8Array): Promise<void>
}

/** The agent's files. */
export const AGENT_FILES = {
  /** Hub, keys, cluster id: made once, never replaced. */
  identity: 'identity.json',
  /** The TLS certificate and its key; replaced together. */
  transport: 'transport.json',
  /** The newest verified trust bundle. */
  trust: 'trust.json',
  /** The newest accepted document, in its envelope. */
  document: 'document.json',
  /** Why the newest document was refused, for whoever looks at the machine. */
  refusal: 'refusal.json',
  /** How far the cluster had come when it was last looked at. */
  incarnation: 'incarnation.json',
  /** Which content is wholly here. */
  bases: 'bases.json',
  /** Which sealed values belong to which set. */
  sealed: 'sealed.json',
} as const

/** Storage that forgets with the process, for simulations and tests. */
export function createMemoryStorage(files: Map<string, Uint8Array> = new Map()): AgentStorage {
  return {
    read: async (name) => files.get(name),
    write: async (name, bytes) => void files.set(name, bytes.slice()),
  }
}
