/**
 * Documents that agents show to a hub that was restored from an older backup: signed by this hub, and newer than the
 * Assignment.
 */
import type { Client } from '../client/client.ts'
import type { Clock } from '../core/time/clock.ts'
import { ApiError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import { formatTime } from '../core/time/time.ts'
import type { Assignment } from '../kinds/native/assignment.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { isAheadOf } from '../wire/document/document-chain.ts'
import type { TrustedKey } from '../wire/trust/envelope.ts'
import { openDocument } from '../wire/document/signed-document.ts'

export interface NewerDocumentPorts {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  /** Every key that has ever signed documents of this hub. */
  readonly signers: () => readonly TrustedKey[]
  /** Epoch of the newest trust bundle. */
  readonly epoch: () => number
}

/** Records a document of an agent if the hub does not know it. */
export type RecordNewerDocument = ReturnType<typeof createNewerDocuments>

export function createNewerDocuments({ client, clock, log, signers, epoch }: NewerDocumentPorts) {
  // The signature is the proof: an agent cannot forge it, and a document of another cluster proves nothing.
  return async function record(
    cluster: Cluster,
    assignment: Assignment | undefined,
    envelope: Uint8Array,
  ): Promise<void> {
    const { document, digest } = openDocument(envelope, signers())
    if (document.clusterId !== cluster.spec.id)
      throw new ApiError('Forbidden', 'the document belongs to another cluster')
    if (!isAheadOf({ epoch: document.epoch, revision: document.revision, digest }, assignment?.spec)) return
    // A person has already ended this timeline with a new epoch.
    if (document.epoch < epoch()) return
    const known = cluster.status?.ahead
    if (
      known &&
      (known.epoch > document.epoch || (known.epoch === document.epoch && known.revision >= document.revision))
    )
      return
    const ahead = { epoch: document.epoch, revision: document.revision, document: digest, at: formatTime(clock.now()) }
    const patch = { type: 'merge', body: { status: { ahead } } } as const
    await client.patch(Cluster, { name: cluster.metadata.name }, patch, { subresource: 'status' })
    log.error(
      { cluster: cluster.metadata.name, ...ahead },
      'the hub was restored from an older state: an agent has a newer document of this hub',
    )
  }
}
