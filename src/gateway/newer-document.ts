/** What agents show a hub that forgot: a document with this hub's own signature that the hub does not know. */
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

/** What it takes to believe an agent. */
export interface NewerDocumentPorts {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  /** Every key that ever signed documents of this hub. */
  readonly signers: () => readonly TrustedKey[]
  /** The epoch the root signed last. */
  readonly epoch: () => number
}

/** Takes documents that agents hold. */
export function createNewerDocuments({ client, clock, log, signers, epoch }: NewerDocumentPorts) {
  /** Notes a document that is beyond the present one. The signature is the proof: an agent cannot make one up, and one for another cluster proves nothing. */
  return async function take(
    cluster: Cluster,
    assignment: Assignment | undefined,
    envelope: Uint8Array,
  ): Promise<void> {
    const { document, digest } = openDocument(envelope, signers())
    if (document.clusterId !== cluster.spec.id) throw new ApiError('Forbidden', 'this document is of another cluster')
    if (!isAheadOf({ epoch: document.epoch, revision: document.revision, digest }, assignment?.spec)) return
    // A timeline that a person has ended already.
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
      'this hub came back from an older state: an agent holds a newer document of it',
    )
  }
}
