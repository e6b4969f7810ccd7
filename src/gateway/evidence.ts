// Tested by src/gateway/evidence.contract.test.ts
/**
 * Keeps what proves the state of clusters in the journal: each accepted report with its signature, the documents that
 * the agents received, and the trust bundles that the signatures lead to. All bytes are kept as they were sent.
 */
import type { Blobs } from '../blobs/blobs.ts'
import { compact } from '../core/compact.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { toError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import type { Clock } from '../core/time/clock.ts'
import { formatTime } from '../core/time/time.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { Cluster } from '../kinds/native/cluster.ts'
import { readTrustedDocument } from '../wire/document/signed-document.ts'
import { writeExact } from '../wire/evidence/evidence-record.ts'
import type { EvidenceRecord, TrustRecord } from '../wire/evidence/evidence-record.ts'
import type { HubTrust } from '../wire/trust/hub-keys.ts'
import { writePublicKey } from '../wire/trust/trust-bundle.ts'

export interface EvidencePorts {
  readonly journal: Pick<JournalWriter, 'append' | 'isDurable' | 'hasRoom'>
  readonly blobs: Pick<Blobs, 'get'>
  readonly trust: () => Pick<HubTrust, 'root' | 'envelopes' | 'newest'>
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
}

/** The trust bundles as a record; each index of the stream begins with it. */
export function trustRecord(trust: Pick<HubTrust, 'root' | 'envelopes'>, now: number): TrustRecord {
  return {
    type: 'trust',
    at: formatTime(now),
    root: writePublicKey(trust.root.publicKey),
    envelopes: trust.envelopes.map(writeExact),
  }
}

export function createEvidence({ journal, blobs, trust, clock, log }: EvidencePorts) {
  /** Cluster id → the newest document in the journal. */
  const documents = new Map<string, Digest>()
  let trustVersion = trust().newest.bundle.version

  function append(record: EvidenceRecord): number | undefined {
    const { version } = trust().newest.bundle
    if (version !== trustVersion && journal.append(trustRecord(trust(), clock.now())) !== undefined)
      trustVersion = version
    return journal.append(record)
  }

  /** Keeps a document of this cluster. The caller knows that the cluster may read it. */
  function document({ metadata, spec }: Cluster, digest: Digest, envelope: Uint8Array): void {
    if (documents.get(spec.id) === digest) return
    const about = { cluster: metadata.name, clusterId: spec.id, at: formatTime(clock.now()) }
    const ticket = append({ type: 'document', ...about, envelope: writeExact(envelope) })
    if (ticket !== undefined) documents.set(spec.id, digest)
  }

  return {
    document,
    /** Keeps a report, and before it the document that the report is about. Undefined if the journal is full. */
    async report(cluster: Cluster, { body, statement, follows }: ReportEvidence): Promise<number | undefined> {
      if (follows !== undefined && documents.get(cluster.spec.id) !== follows) {
        const envelope = await blobs.get(follows).catch((caught: unknown) => {
          log.warn({ cluster: cluster.metadata.name, err: toError(caught) }, 'a document cannot be kept as evidence')
        })
        // A report can name anything; only documents of the cluster itself belong to its evidence.
        if (envelope && readTrustedDocument(envelope)?.clusterId === cluster.spec.id)
          document(cluster, follows, envelope)
      }
      return append(
        compact({
          type: 'report',
          cluster: cluster.metadata.name,
          clusterId: cluster.spec.id,
          identityKey: cluster.spec.identityKey,
          at: formatTime(clock.now()),
          body: writeExact(body),
          statement,
        }),
      )
    },
    isDurable: journal.isDurable,
    hasRoom: journal.hasRoom,
    forget: (clusterId: string) => documents.delete(clusterId),
  }
}

export interface ReportEvidence {
  readonly body: Uint8Array
  /** Envelope of the signed statement. */
  readonly statement: string | undefined
  /** Digest of the document that the report is about. */
  readonly follows: Digest | undefined
}

export type Evidence = ReturnType<typeof createEvidence>
