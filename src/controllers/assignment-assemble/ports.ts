import type { Digest } from '../../core/crypto/digest.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { Override } from '../../kinds/native/override.ts'
import type { AdmittedRemoval, AssembledEntry, AssembleInput } from '../../plan/document/assemble-document.ts'
import type { CompiledWindow, WindowEntry } from '../../plan/windows/window-rules.ts'
import type { ClusterDocument } from '../../wire/document/cluster-document.ts'
import type { AdmissionPorts } from './project-limits.ts'
import type { KeyedThrottle } from '../../engine/keyed-throttle.ts'

/** Signs a document; the bytes are the envelope whose digest the Assignment names. */
export type SignDocument = (document: ClusterDocument, signal: AbortSignal) => Promise<Uint8Array>

/** The ports of assignment-assemble. */
export interface AssignmentAssemblePorts extends AdmissionPorts {
  /** The Assignment of this name, also when it was made for another cluster id. */
  assignmentOf(cluster: string): Assignment | undefined
  /** All admissions of the cluster, of all Rollouts. */
  admissionsOf(cluster: Cluster): readonly AssembledEntry[]
  /** Removals that a Rollout admitted for the cluster, without removals that are no longer wanted. */
  removalsOf(cluster: Cluster): readonly AdmittedRemoval[]
  /** Receipts of the cluster's agent. */
  removedOf(cluster: Cluster): NonNullable<AssembleInput['removed']>
  /** The Bundles that the cluster reports as Ready or Drifted at exactly the revision of these entries. */
  wellOf(cluster: Cluster, entries: readonly AssembledEntry[]): ReadonlySet<string>
  /** The generation of a Bundle that the agent reports as started. */
  begun(cluster: Cluster, bundle: string): number | undefined
  /** The windows of all scopes. */
  windows(): readonly CompiledWindow[]
  /** The fields of an entry that the exceptions of windows read. */
  windowEntryOf(entry: AssembledEntry): WindowEntry
  /** The Overrides that decide about drift on the cluster. */
  driftDecisionsOf(cluster: string): readonly Override[]
  readonly sign: SignDocument
  /**
   * Seals the secret values of an entry's set to the cluster's key and stores them; undefined when the set has no
   * secret values. Throws Waiting when the values cannot be read.
   */
  seal(cluster: Cluster, entry: AssembledEntry, signal: AbortSignal): Promise<AssembledEntry['sealed']>
  /** The features that an agent must have to use a set. */
  requiredBy(set: Digest): Promise<readonly string[]>
  putBlob(bytes: Uint8Array): Promise<Digest>
  getBlob(digest: Digest): Promise<Uint8Array | undefined>
  createAssignment(assignment: Assignment, signal: AbortSignal): Promise<void>
  updateAssignment(assignment: Assignment, signal: AbortSignal): Promise<void>
  deleteAssignment(assignment: Assignment, signal: AbortSignal): Promise<void>
  /** The epoch that the root key signed last. */
  epoch(): number
  /** Clusters whose agents have documents of this hub that the hub does not know, of this epoch or a later epoch. */
  clustersAhead(epoch: number): readonly string[]
  /** The version of the trust bundle in force. */
  trustVersion(): number
  readonly pace: KeyedThrottle
}
