// Tested by src/gateway/gateway.contract.test.ts.
/** How a request reaches its handler: first the caller is proven, then load is shed, then the route table decides. */
import { ApiError } from '../../core/errors.ts'
import type { HttpResponse } from '../../core/http.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { TIME_HEADER } from '../../wire/link/clock-skew.ts'
import { INSTANCE_HEADER } from '../../wire/link/frames.ts'
import type { AgentInstances } from '../agent-instances.ts'
import { clusterIdOf } from '../caller.ts'
import type { ClockSkew } from '../clock-skew.ts'
import type { ClusterLookup } from '../cluster-lookup.ts'
import { isClusterAccepted, notAccepted } from '../enrolment/enrolment.ts'
import type { Liveness } from '../liveness.ts'
import { busy } from '../load-shedder.ts'
import type { LoadShedder } from '../load-shedder.ts'
import { notFound } from '../responses.ts'
import type { TrafficCounters } from '../traffic.ts'
import { findRoute } from './route.ts'
import type { ClusterRoute, GatewayRequest, RouteTable } from './route.ts'

export interface RouterPorts {
  readonly table: RouteTable
  readonly clusters: Pick<ClusterLookup, 'proven' | 'isSynced'>
  readonly load: LoadShedder
  readonly instances: Pick<AgentInstances, 'noteContact' | 'maySpeak'>
  readonly liveness: Pick<Liveness, 'touch'>
  readonly skew: Pick<ClockSkew, 'note'>
  readonly traffic: Pick<TrafficCounters, 'received' | 'sending'>
}

export function createRouter(ports: RouterPorts) {
  const { table, clusters, load, instances, liveness, skew, traffic } = ports

  async function route(request: GatewayRequest): Promise<HttpResponse> {
    const found = findRoute(table, request.method, request.path)
    if (found?.caller === 'Anyone') {
      const id = clusterIdOf(request.caller)
      if (id === undefined) load.checkStranger(request.caller.address, found.cost)
      else load.check('follow', id)
      return found.handle(request)
    }
    if (!clusters.isSynced()) {
      throw new ApiError('ServiceUnavailable', 'the gateway is starting', { retryAfterSeconds: 1 })
    }
    if (found?.caller === 'IdentityKey') return found.handle(request)
    const cluster = clusters.proven(request.caller)
    return isClusterAccepted(cluster) ? accepted(cluster, found, request) : decommissioned(cluster, found, request)
  }

  async function accepted(
    cluster: Cluster,
    found: ClusterRoute | undefined,
    request: GatewayRequest,
  ): Promise<HttpResponse> {
    const { id } = cluster.spec
    const instance = request.headers[INSTANCE_HEADER]
    const retryAfterMs = load.retryAfterMs(found?.class ?? 'follow', id)
    if (retryAfterMs > 0) {
      // A refused agent still counts as heard, until it may return. A copy of the agent does not speak for the cluster.
      if (instances.maySpeak(cluster, instance)) liveness.touch(id, retryAfterMs)
      throw busy(retryAfterMs)
    }
    traffic.received(id, request.body.byteLength)
    await load.track(() => instances.noteContact(cluster, instance, request.caller.address))
    liveness.touch(id)
    await load.track(() => skew.note(cluster, request.headers[TIME_HEADER]))
    if (!found) throw notFound()
    return traffic.sending(id, await found.handle(cluster, request))
  }

  function decommissioned(
    cluster: Cluster,
    found: ClusterRoute | undefined,
    request: GatewayRequest,
  ): HttpResponse | Promise<HttpResponse> {
    load.check('follow', cluster.spec.id)
    if (!found?.handleDecommissioned) throw notAccepted(cluster.metadata.name)
    return found.handleDecommissioned(cluster, request)
  }

  return route
}
