/**
 * `POST /agent/v1/enrol`, `renew` and `last`: requests that the identity key signs, good without a client certificate.
 */
import type { HttpResponse } from '../../core/http.ts'
import { clusterIdOf } from '../caller.ts'
import { notAccepted } from '../enrolment/enrolment.ts'
import type { Enrolment } from '../enrolment/enrolment.ts'
import { jsonResponse } from '../responses.ts'
import type { DocumentHandlers } from './document.ts'
import type { ClusterLookup } from '../cluster-lookup.ts'
import type { GatewayRequest } from './route.ts'

export interface EnrolmentHandlerPorts {
  readonly enrolment: Enrolment
  readonly clusters: Pick<ClusterLookup, 'hasLastDocument'>
  readonly documents: Pick<DocumentHandlers, 'document'>
}

export function createEnrolmentHandlers({ enrolment, clusters, documents }: EnrolmentHandlerPorts) {
  return {
    enrol: async ({ body, caller, signal }: GatewayRequest): Promise<HttpResponse> =>
      jsonResponse(await enrolment.enrol(body, caller.address, signal)),
    renew: async ({ body, caller }: GatewayRequest): Promise<HttpResponse> =>
      jsonResponse(await enrolment.renew(body, clusterIdOf(caller))),
    /** The last document of a decommissioned cluster whose certificate has expired. The hub issues no new one. */
    last: async (request: GatewayRequest): Promise<HttpResponse> => {
      const cluster = enrolment.provenByIdentity(request.body)
      if (!clusters.hasLastDocument(cluster)) throw notAccepted(cluster.metadata.name)
      return documents.document(cluster, { ...request, parameters: new URLSearchParams() })
    },
  }
}
