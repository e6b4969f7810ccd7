/** `GET /agent/v1/follow`: the heads of a cluster's documents, as a stream or as one long poll. */
import { readWholeNumber } from '../../core/read-number.ts'
import type { HttpResponse } from '../../core/http.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { frameLine, INSTANCE_HEADER } from '../../wire/link/frames.ts'
import type { ClusterLookup } from '../cluster-lookup.ts'
import { bytesResponse } from '../responses.ts'
import { draining } from '../follow-streams.ts'
import type { FollowStreams } from '../follow-streams.ts'
import type { GatewayRequest } from './route.ts'

const MAX_WAIT_SECONDS = 55
const CONTENT_TYPE = 'application/x-ndjson'
const NO_STORE = { 'cache-control': 'no-store' }

export interface FollowHandlerPorts {
  readonly streams: FollowStreams
  readonly clusters: Pick<ClusterLookup, 'assignment'>
  /** Aborted when the gateway closes. */
  readonly closing: AbortSignal
}

export function createFollowHandlers({ streams, clusters, closing }: FollowHandlerPorts) {
  return {
    /**
     * A stream of frames. With `wait`, for proxies that hold streams back, one answer at the first head or after the
     * wait.
     */
    async follow(cluster: Cluster, { headers, parameters, signal }: GatewayRequest): Promise<HttpResponse> {
      // Before the answer begins: the body of a stream cannot refuse any more.
      if (streams.isDraining()) throw draining()
      const follower = { instance: headers[INSTANCE_HEADER], holds: parameters.get('document') ?? undefined }
      const wait = parameters.get('wait')
      const ended = AbortSignal.any([signal, closing])
      if (wait === null) {
        const body = streams.frames(cluster.spec.id, follower, ended)
        return { status: 200, headers: { 'content-type': CONTENT_TYPE, ...NO_STORE }, body }
      }
      const seconds = Math.min(readWholeNumber(wait) ?? 0, MAX_WAIT_SECONDS)
      const frames = await streams.poll(cluster.spec.id, follower, { waitMs: seconds * 1000, signal: ended })
      return bytesResponse(frames, CONTENT_TYPE, { headers: NO_STORE })
    },
    /** The head of the last document, once. */
    lastHead(cluster: Cluster): HttpResponse {
      const { epoch, revision, document } = clusters.assignment(cluster)!.spec
      return bytesResponse(frameLine({ type: 'head', epoch, revision, document }), CONTENT_TYPE, { headers: NO_STORE })
    },
  }
}
