/** `GET /agent/v1/blob/DIGEST` and `GET /agent/v1/set/DIGEST`: the content that the cluster's own document names. */
import { readWholeNumber } from '../../core/read-number.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import { isDigest } from '../../core/crypto/digest.ts'
import type { HttpResponse } from '../../core/http.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { BASE_HEADER } from '../../wire/link/frames.ts'
import type { BlobAccess } from '../blob-access.ts'
import type { ClusterLookup } from '../cluster-lookup.ts'
import type { PackCache } from '../pack-cache.ts'
import { notFound, resumableResponse } from '../responses.ts'
import type { SetCache } from '../set-cache.ts'
import type { GatewayRequest } from './route.ts'

export interface ContentHandlerPorts {
  readonly blobs: Pick<Blobs, 'get'>
  readonly access: BlobAccess
  readonly clusters: Pick<ClusterLookup, 'assignment'>
  readonly packs: PackCache
  readonly sets: SetCache
}

export function createContentHandlers({ blobs, access, clusters, packs, sets }: ContentHandlerPorts) {
  return {
    async blob(cluster: Cluster, request: GatewayRequest): Promise<HttpResponse> {
      const digest = request.name
      const assignment = clusters.assignment(cluster)
      if (!isDigest(digest) || !assignment || !(await access.reaches(assignment, digest))) throw notFound()
      const bytes = await blobs.get(digest)
      if (!bytes) throw notFound()
      return resumableResponse(bytes, request)
    },
    /** A pack of a set with its objects, as a difference to the set in `base` if that is one of this cluster. */
    async set(cluster: Cluster, request: GatewayRequest): Promise<HttpResponse> {
      const { name: set, parameters } = request
      const from = readWholeNumber(parameters.get('from') ?? '0')
      const assignment = clusters.assignment(cluster)
      if (!isDigest(set) || from === undefined) throw notFound()
      if (!assignment?.spec.entries.some((entry) => entry.set === set)) throw notFound()
      const asked = parameters.get('base')
      const isOwn = isDigest(asked) && (await access.isOwnBase(assignment, asked, parameters.get('held')))
      // Without a usable base the agent receives the whole set, which is always correct.
      const base = isOwn && isDigest(asked) && (await sets(asked)) ? asked : undefined
      const pack = await packs({ set, base, from })
      if (!pack) throw notFound()
      return resumableResponse(pack, request, base === undefined ? {} : { [BASE_HEADER]: base })
    },
  }
}
