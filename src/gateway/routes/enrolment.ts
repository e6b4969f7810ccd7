/**
 * `POST /agent/v1/enrol`, `renew` and `last`: requests that the identity key signs, good without a client certificate.
 */
import type { Caller, HttpResponse } from '../../core/http.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { clusterIdOf } from '../caller.ts'
import { notAccepted } from '../enrolment/enrolment.ts'
import type { Enrolment } from '../enrolment/enrolment.ts'
import type { LoadShedder } from '../load-shedder.ts'
import { jsonResponse } from '../responses.ts'
import type { DocumentHandlers } from './document.ts'
import type { ClusterLookup } from '../cluster-lookup.ts'
import type { GatewayRequest } from './route.ts'

export interface EnrolmentHandlerPorts {
  readonly enrolment: Enrolment
  readonly clusters: Pick<ClusterLookup, 'hasLastDocument'>
  readonly documents: Pick<DocumentHandlers, 'document'>
  readonly load: Pick<LoadShedder, 'check' | 'checkStranger'>
}

export function createEnrolmentHandlers({ enrolment, clusters, documents, load }: EnrolmentHandlerPorts) {
  /**
   * Counts a request for the cluster that signed it. A caller that proves no cluster counts as a stranger, also with a
   * valid signature: each stranger can make a key.
   */
  function admit(cluster: Cluster | undefined, caller: Caller): void {
    const id = cluster?.spec.id ?? clusterIdOf(caller)
    if (id === undefined) load.checkStranger(caller.address)
    else load.check('renew', id)
  }

  /** Reads and verifies a request, which needs the hub's API for nothing, before it is counted. */
  function verified<T extends { readonly cluster: Cluster | undefined }>(caller: Caller, open: () => T): T {
    let request: T
    try {
      request = open()
    } catch (caught) {
      admit(undefined, caller)
      throw caught
    }
    admit(request.cluster, caller)
    return request
  }

  return {
    enrol: async ({ body, caller, signal }: GatewayRequest): Promise<HttpResponse> => {
      const request = verified(caller, () => enrolment.openEnrol(body))
      return jsonResponse(await enrolment.enrol(request, caller.address, signal))
    },
    renew: async ({ body, caller }: GatewayRequest): Promise<HttpResponse> => {
      const request = verified(caller, () => enrolment.openRenew(body, clusterIdOf(caller)))
      return jsonResponse(await enrolment.renew(request))
    },
    /** The last document of a decommissioned cluster whose certificate has expired. The hub issues no new one. */
    last: async (request: GatewayRequest): Promise<HttpResponse> => {
      const { cluster } = verified(request.caller, () => enrolment.openLast(request.body))
      if (!clusters.hasLastDocument(cluster)) throw notAccepted(cluster.metadata.name)
      return documents.document(cluster, { ...request, parameters: new URLSearchParams() })
    },
  }
}
