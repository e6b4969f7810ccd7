/**
 * `GET /agent/v1/document` and `POST /agent/v1/held`: the cluster's own document, and a newer one that only the agent
 * has.
 */
import type { Blobs } from '../../blobs/blobs.ts'
import { digestOf, isDigest } from '../../core/crypto/digest.ts'
import { ApiError } from '../../core/errors.ts'
import type { HttpResponse } from '../../core/http.ts'
import type { Logger } from '../../core/log.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { encodeDelta } from '../../wire/document/binary-delta.ts'
import { BASE_HEADER } from '../../wire/link/frames.ts'
import { unwrapEnvelope, wrapEnvelope } from '../../wire/trust/envelope.ts'
import type { BlobAccess } from '../blob-access.ts'
import type { ClusterLookup } from '../cluster-lookup.ts'
import type { Evidence } from '../evidence.ts'
import type { LoadShedder } from '../load-shedder.ts'
import type { RecordNewerDocument } from '../newer-document.ts'
import type { RateLimiter } from '../rate-limit.ts'
import { jsonResponse, notFound, resumableResponse } from '../responses.ts'
import type { GatewayRequest } from './route.ts'

export interface DocumentHandlerPorts {
  readonly blobs: Pick<Blobs, 'get'>
  readonly access: BlobAccess
  readonly clusters: Pick<ClusterLookup, 'assignment'>
  readonly load: LoadShedder
  readonly log: Logger
  readonly recordNewer: RecordNewerDocument
  readonly reportLimit: RateLimiter
  readonly evidence: Pick<Evidence, 'document'>
}

export function createDocumentHandlers(ports: DocumentHandlerPorts) {
  const { blobs, access, clusters, load, log, recordNewer, reportLimit, evidence } = ports
  return {
    /** The newest document, as a delta to the document in `base` if that is one of this cluster. */
    async document(cluster: Cluster, request: GatewayRequest): Promise<HttpResponse> {
      const digest = clusters.assignment(cluster)?.spec.document
      if (digest === undefined) throw notFound()
      const bytes = await blobs.get(digest)
      if (!bytes) {
        // I-27: a document is stored before an Assignment names it. A missing one is the hub's fault, so the agent must
        // not read this answer as "there is no document".
        log.error({ cluster: cluster.metadata.name, digest }, 'the signed document is missing from the blob store')
        throw new ApiError('ServiceUnavailable', 'the document cannot be read now', { retryAfterSeconds: 10 })
      }
      evidence.document(cluster, digest, bytes)
      const base = request.parameters.get('base')
      const older = isDigest(base) && (await access.documentOf(cluster.spec.id, base)) && (await blobs.get(base))
      const raw = unwrapEnvelope(bytes)
      // A delta only if the agent can rebuild the same bytes: the head names the digest of the envelope.
      if (!older || !isDigest(base) || digestOf(wrapEnvelope(raw)) !== digest) return resumableResponse(bytes, request)
      return resumableResponse(encodeDelta(raw, unwrapEnvelope(older)), request, { [BASE_HEADER]: base })
    },
    /** A document that the hub signed and no longer knows, after a restore from a backup. */
    async held(cluster: Cluster, { body }: GatewayRequest): Promise<HttpResponse> {
      reportLimit.take(cluster.spec.id)
      await load.track(() => recordNewer(cluster, clusters.assignment(cluster), body))
      return jsonResponse({})
    },
  }
}

export type DocumentHandlers = ReturnType<typeof createDocumentHandlers>
