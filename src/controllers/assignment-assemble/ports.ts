import type { Digest } from '../../core/crypto/digest.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { AdmittedRemoval, AssembledEntry, AssembleInput } from '../../plan/document/assemble-document.ts'
import type { CompiledWindow, WindowEntry } from '../../plan/windows/window-rules.ts'
import type { ClusterDocument } from '../../wire/document/cluster-document.ts'
import type { KeyedThrottle } from '../../engine/keyed-throttle.ts'

/** Signs a document; the bytes are the envelope whose digest the Assignment names. */
export type SignDocument = (document: ClusterDocument, signal: AbortSignal) => Promise<Uint8Array>

/** What assignment-assemble needs from the world. */
export interface AssignmentAssemblePorts {
  /** The Assignment of this name, also one that was made for another cluster id. */
  assignmentOf(cluster: string): Assignment | undefined
  /** Every admission of the cluster that any Rollout holds. */
  admissionsOf(cluster: Cluster): readonly AssembledEntry[]
  /** Removals of the cluster that any Rollout admitted and that are still meant. */
  removalsOf(cluster: Cluster): readonly AdmittedRemoval[]
  /** What the cluster's agent has confirmed. */
  removedOf(cluster: Cluster): NonNullable<AssembleInput['removed']>
  /** The bundles that the cluster reports well at exactly what these entries say. */
  wellOf(cluster: Cluster, entries: readonly AssembledEntry[]): ReadonlySet<string>
  /** The generation of a bundle that the cluster has begun, as far as it said. */
  begun(cluster: Cluster, bundle: string): number | undefined
  /** The windows of all scopes. */
  windows(): readonly CompiledWindow[]
  /** What windows' exceptions look at in an entry. */
  windowEntryOf(entry: AssembledEntry): WindowEntry
  readonly sign: SignDocument
  /** Seals the secret values of an entry's set to the cluster's key and stores them; undefined when the set has none. Throws Waiting when they cannot be read. */
  seal(cluster: Cluster, entry: AssembledEntry, signal: AbortSignal): Promise<AssembledEntry['sealed']>
  /** What an agent must have to use a set, besides knowing sets. */
  requiredBy(set: Digest): Promise<readonly string[]>
  putBlob(bytes: Uint8Array): Promise<Digest>
  getBlob(digest: Digest): Promise<Uint8Array | undefined>
  createAssignment(assignment: Assignment, signal: AbortSignal): Promise<void>
  updateAssignment(assignment: Assignment, signal: AbortSignal): Promise<void>
  deleteAssignment(assignment: Assignment, signal: AbortSignal): Promise<void>
  /** The epoch the root signed last. */
  epoch(): number
  /** Clusters whose agents hold documents of this hub that it does not know, of this epoch or a later one. */
  clustersAhead(epoch: number): readonly string[]
  /** The TrustBundle version in force. */
  trustVersion(): number
  readonly pace: KeyedThrottle
}
