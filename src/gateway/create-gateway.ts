/**
 * The only door of agents. Behind it an agent may do exactly this: read its own document, read the blobs that document names, write its own report,
 * renew its own certificate. Everything else is the same 404.
 */
import type { Blobs } from '../blobs/blobs.ts'
import type { Client } from '../client/client.ts'
import { createInformers } from '../client/informers.ts'
import { base64 } from '../core/bytes.ts'
import type { Clock } from '../core/time/clock.ts'
import { digestOf, isDigest } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { ApiError, toError } from '../core/errors.ts'
import type { Caller, Handler, HttpRequest, HttpResponse } from '../core/http.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import { isUnreachable } from '../core/unreachable.ts'
import { Assignment } from '../kinds/native/assignment.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { admitRequest, initialLoadState } from '../wire/link/load-shedding.ts'
import type { RequestClass, LoadLimits } from '../wire/link/load-shedding.ts'
import { TIME_HEADER } from '../wire/link/clock-skew.ts'
import { encodeDelta } from '../wire/document/binary-delta.ts'
import { unwrapEnvelope, wrapEnvelope } from '../wire/trust/envelope.ts'
import { BASE_HEADER, frameLine, INSTANCE_HEADER, ROUTES } from '../wire/link/frames.ts'
import type { TrustAnswer } from '../wire/link/frames.ts'
import type { HubTrust } from '../wire/trust/hub-keys.ts'
import { LIMITS } from '../wire/limits.ts'
import { allSignerKeys, trustVersionOf, writePublicKey } from '../wire/trust/trust-bundle.ts'
import { WireError } from '../wire/validate.ts'
import { bytesResponse, jsonResponse, notFound, errorResponse, resumableResponse } from './responses.ts'
import { createBandwidth } from './bandwidth.ts'
import { clusterIdOf } from './caller.ts'
import { createEnrolment, isClusterAccepted, notAccepted, unknownCluster } from './enrolment.ts'
import type { IssueCertificate } from './enrolment.ts'
import { createFollow } from './follow-streams.ts'
import type { Follower } from './follow-streams.ts'
import { createNewerDocuments } from './newer-document.ts'
import { createInstances } from './agent-instances.ts'
import { createSetCache } from './set-cache.ts'
import { createLiveness } from './liveness.ts'
import { createPacks } from './pack-cache.ts'
import { createRateLimiter } from './rate-limit.ts'
import { createBlobAccess } from './blob-access.ts'
import { createReports } from './reports.ts'
import { createSkew } from './clock-skew.ts'
import { createTrafficCounters } from './traffic.ts'

/** What a gateway is made of. */
export interface GatewayOptions {
  /** Unique among the hub's gateways; part of its Lease's name. */
  readonly name: string
  /** The hub's API, as `system:flotilla:gateway`. */
  readonly client: Client
  readonly blobs: Pick<Blobs, 'get'>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** Asked on every use, so that a rotation is seen at once. */
  readonly trust: () => Pick<HubTrust, 'root' | 'envelopes' | 'newest'>
  readonly issueCertificate: IssueCertificate
  /** The agent's own program by digest, for machines that start from nothing. */
  /** How many requests pass when everybody comes at once. */
  readonly admission?: LoadLimits
  readonly agentBundle?: (digest: Digest) => Promise<Uint8Array | undefined>
}

// What one core does; a fleet that comes back at once is let in over some seconds.
const ADMISSION: LoadLimits = { perSecond: 400, burst: 1600, atWork: 200 }
const MOST_WAIT_SECONDS = 55

/** A running gateway. */
export interface Gateway {
  /** Answers agents; the caller is what the listener proved from the client certificate. */
  readonly handle: Handler
  /** How many agents follow their document now. */
  streams(): number
  /** Resolves when the gateway knows all clusters. */
  whenReady(signal: AbortSignal): Promise<void>
  /** Ends every stream and stops following the hub. */
  close(): Promise<void>
}

/** Starts a gateway. */
export function createGateway(options: GatewayOptions): Gateway {
  const { clock, ids, trust } = options
  const log = options.log.child({ room: 'gateway', gateway: options.name })
  const life = new AbortController()
  const informers = createInformers({ client: options.client, clock, ids, log })
  const clusters = informers.of(Cluster)
  const assignments = informers.of(Assignment)
  clusters.addIndex('id', (cluster) => [cluster.spec.id])
  const clusterById = (id: string) => clusters.lister.by('id', id)[0]
  const assignmentOf = (cluster: Cluster) => {
    const assignment = assignments.lister.get(cluster.metadata.name)
    // A cluster that was deleted and joined again under the same name is another cluster.
    return assignment?.spec.clusterId === cluster.spec.id ? assignment : undefined
  }

  const liveness = createLiveness({ client: options.client, clock, log, gateway: options.name })
  const traffic = createTrafficCounters()
  const bandwidth = createBandwidth(clock)
  const skew = createSkew({ client: informers.client, clock, log })
  const reports = createReports({ client: informers.client, clock, log, traffic })
  const held = createNewerDocuments({
    client: informers.client,
    clock,
    log,
    signers: () => allSignerKeys(trust()),
    epoch: () => trust().newest.bundle.epoch,
  })
  const limits = options.admission ?? ADMISSION
  let admission = initialLoadState(limits, clock.monotonicMs())
  let atWork = 0
  const reportQuota = createRateLimiter({ clock, what: 'reports', burst: 60, perMinute: 60 })
  const instances = createInstances({ client: informers.client, clock, log })
  const sets = createSetCache(options.blobs)
  const reach = createBlobAccess({ blobs: options.blobs, sets })
  const packs = createPacks({ blobs: options.blobs, sets })
  const enrolment = createEnrolment({
    client: informers.client,
    clock,
    ids,
    log,
    clusterById,
    issueCertificate: options.issueCertificate,
    root: () => trust().root.keyId,
    minAgentVersion: () => trust().newest.bundle.minAgentVersion,
  })
  const follow = createFollow({
    clock,
    ids,
    clusterOf: (id, instance) => {
      const cluster = clusterById(id)
      return cluster && isClusterAccepted(cluster) && instances.maySpeak(cluster, instance) ? cluster : undefined
    },
    headOf: (cluster) => {
      const spec = assignmentOf(cluster)?.spec
      return spec && { epoch: spec.epoch, revision: spec.revision, document: spec.document }
    },
    trustVersion: () => trust().newest.bundle.version,
  })

  assignments.onChange(({ before, after }) => follow.wake((after ?? before)!.spec.clusterId))
  clusters.onChange(({ before, after }) => {
    const { id } = (after ?? before)!.spec
    if (after) instances.note(after)
    follow.wake(id)
    if (after) return
    for (const part of [liveness, reports, instances, reportQuota, traffic, bandwidth, skew]) part.forget(id)
  })
  // Until the clusters are known everybody is sent away: that is no listening.
  const listening = informers.whenSynced(life.signal).then(
    () => liveness.run(life.signal),
    () => {}, // closed before it knew them
  )
  const running = Promise.all([informers.run(life.signal), listening])

  async function route(request: HttpRequest, caller: Caller, signal: AbortSignal): Promise<HttpResponse> {
    const [path = '', query = ''] = request.path.split('?', 2)
    const parameters = new URLSearchParams(query)
    const at = `${request.method} ${path}`
    const body = request.body ?? new Uint8Array()
    if (at === `GET ${ROUTES.trust}`) return jsonResponse(trustAnswer(Number(parameters.get('after') ?? 0)))
    if (request.method === 'GET' && path.startsWith(ROUTES.agentBundle)) return agentBundle(path)
    if (!clusters.synced() || !assignments.synced()) {
      throw new ApiError('ServiceUnavailable', 'the gateway is starting', { retryAfterSeconds: 1 })
    }
    if ([ROUTES.enrol, ROUTES.renew, ROUTES.last].some((by) => at === `POST ${by}`)) letIn('renew')
    if (at === `POST ${ROUTES.enrol}`) return jsonResponse(await enrolment.enrol(body, caller.address, signal))
    if (at === `POST ${ROUTES.renew}`) return jsonResponse(await enrolment.renew(body, clusterIdOf(caller)))
    if (at === `POST ${ROUTES.last}`) return lastDocument(enrolment.provenByIdentity(body), request)

    const cluster = provenCluster(caller)
    if (!isClusterAccepted(cluster)) return lastRoute(cluster, request, parameters)
    const who = at === `POST ${ROUTES.report}` || at === `POST ${ROUTES.checkIn}` ? 'report' : 'follow'
    const comesBackInMs = comeBackIn(who)
    if (comesBackInMs > 0) {
      // However busy we are, the cluster was heard, and does as it is told; a copy of its agent is not the cluster.
      if (instances.maySpeak(cluster, request.headers[INSTANCE_HEADER])) liveness.touch(cluster.spec.id, comesBackInMs)
      throw busy(comesBackInMs)
    }
    traffic.received(cluster.spec.id, body.byteLength)
    return traffic.sending(cluster.spec.id, await agentRoute(cluster, request, caller, signal))
  }

  /** What a proven cluster may ask. */
  async function agentRoute(
    cluster: Cluster,
    request: HttpRequest,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    const [path = '', query = ''] = request.path.split('?', 2)
    const parameters = new URLSearchParams(query)
    const at = `${request.method} ${path}`
    const body = request.body ?? new Uint8Array()
    const instance = request.headers[INSTANCE_HEADER]
    await working(() => instances.hear(cluster, instance, caller.address))
    liveness.touch(cluster.spec.id)
    await working(() => skew.note(cluster, request.headers[TIME_HEADER]))
    if (at === `GET ${ROUTES.follow}`) {
      const by = { instance, holds: parameters.get('document') ?? undefined }
      const wait = parameters.get('wait')
      return wait === null ? followAnswer(cluster, by, signal) : pollAnswer(cluster, by, { wait, signal })
    }
    const atItsPace = async (answering: Promise<HttpResponse>) => {
      const answer = await answering
      noteContent(cluster, path, answer)
      return bandwidth.pace(cluster, answer, AbortSignal.any([signal, life.signal]), () => clusterById(cluster.spec.id))
    }
    if (at === `GET ${ROUTES.document}`) return atItsPace(documentAnswer(cluster, request, parameters))
    if (request.method === 'GET' && path.startsWith(ROUTES.blob)) return atItsPace(blobAnswer(cluster, path, request))
    if (request.method === 'GET' && path.startsWith(ROUTES.set))
      return atItsPace(setAnswer(cluster, request, parameters))
    if (at === `POST ${ROUTES.held}`) {
      reportQuota.take(cluster.spec.id)
      await working(() => held(cluster, assignmentOf(cluster), body))
      return jsonResponse({})
    }
    if (at === `POST ${ROUTES.checkIn}`) return jsonResponse(reports.checkIn(cluster, body))
    if (at === `POST ${ROUTES.report}`) {
      reportQuota.take(cluster.spec.id)
      await working(() => reports.report(cluster, body))
      return jsonResponse({})
    }
    throw notFound()
  }

  function noteContent({ metadata }: Cluster, path: string, { headers }: HttpResponse): void {
    const [, from = 0] = /^bytes (\d+)-/.exec(headers['content-range'] ?? '') ?? []
    log.debug({ cluster: metadata.name, path, from: Number(from), bytes: Number(headers['content-length']) }, 'content')
  }

  /** All that a cluster that was decommissioned may still ask: the document that says so. */
  async function lastRoute(cluster: Cluster, request: HttpRequest, parameters: URLSearchParams): Promise<HttpResponse> {
    letIn('follow')
    const at = `${request.method} ${request.path.split('?', 1)[0]}`
    if (at === `GET ${ROUTES.document}`) return documentAnswer(cluster, request, parameters)
    if (at !== `GET ${ROUTES.follow}`) throw notAccepted(cluster.metadata.name)
    const { epoch, revision, document } = assignmentOf(cluster)!.spec
    return bytesResponse(frameLine({ type: 'head', epoch, revision, document }), 'application/x-ndjson', {
      headers: { 'cache-control': 'no-store' },
    })
  }

  /** The same document for one whose certificate has run out, and who gets no other: it holds no credential afterwards. */
  function lastDocument(cluster: Cluster, request: HttpRequest): Promise<HttpResponse> {
    if (!isLast(cluster)) throw notAccepted(cluster.metadata.name)
    return documentAnswer(cluster, request, new URLSearchParams())
  }

  /** Whether the cluster was decommissioned, and its last document says so. */
  function isLast(cluster: Cluster): boolean {
    return cluster.spec.decommission !== undefined && assignmentOf(cluster)?.spec.terminal === true
  }

  function provenCluster(caller: Caller): Cluster {
    const id = clusterIdOf(caller)
    // Before the path is looked at: without a certificate there is no sign of which paths exist.
    if (id === undefined) throw new ApiError('Unauthorized', 'a valid certificate of an enrolled agent is needed')
    const cluster = clusterById(id)
    if (!cluster) throw unknownCluster()
    if (!isClusterAccepted(cluster) && !isLast(cluster)) throw notAccepted(cluster.metadata.name)
    return cluster
  }

  function trustAnswer(after: number): TrustAnswer {
    const { root, envelopes } = trust()
    const newer = envelopes.filter((envelope) => trustVersionOf(envelope) > after || !Number.isSafeInteger(after))
    const bundles = newer.slice(0, LIMITS.trustVersions).map((envelope) => base64(envelope))
    return { root: writePublicKey(root.publicKey), bundles }
  }

  function followAnswer(cluster: Cluster, by: Follower, signal: AbortSignal): HttpResponse {
    const ended = AbortSignal.any([signal, life.signal])
    const headers = { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' }
    return { status: 200, headers, body: follow.frames(cluster.spec.id, by, ended) }
  }

  /** The same frames for those whose proxies hold streams back: one answer, as soon as there is news or the wait is over. */
  async function pollAnswer(
    cluster: Cluster,
    by: Follower,
    { wait, signal }: { readonly wait: string; readonly signal: AbortSignal },
  ): Promise<HttpResponse> {
    const seconds = /^\d{1,3}$/.test(wait) ? Math.min(Number(wait), MOST_WAIT_SECONDS) : 0
    const ended = AbortSignal.any([signal, life.signal])
    const frames = await follow.poll(cluster.spec.id, by, { waitMs: seconds * 1000, signal: ended })
    return bytesResponse(frames, 'application/x-ndjson', { headers: { 'cache-control': 'no-store' } })
  }

  function letIn(who: RequestClass): void {
    const comesBackInMs = comeBackIn(who)
    if (comesBackInMs > 0) throw busy(comesBackInMs)
  }

  /** What may wait for the hub's API. */
  async function working(work: () => Promise<void>): Promise<void> {
    atWork += 1
    try {
      await work()
    } finally {
      atWork -= 1
    }
  }

  /** 0 for who is let in now. */
  function comeBackIn(who: RequestClass): number {
    const next = admitRequest(admission, who, limits, { now: clock.monotonicMs(), fraction: ids.fraction(), atWork })
    admission = next.state
    return next.retryAfterMs ?? 0
  }

  async function documentAnswer(
    cluster: Cluster,
    request: HttpRequest,
    parameters: URLSearchParams,
  ): Promise<HttpResponse> {
    const digest = assignmentOf(cluster)?.spec.document
    if (digest === undefined) throw notFound()
    const bytes = await options.blobs.get(digest)
    if (!bytes) {
      // I-27: documents are stored before an Assignment names them, so this is ours to repair, not the agent's to read as absence.
      log.error({ cluster: cluster.metadata.name, digest }, 'the signed document is missing from the blobs')
      throw new ApiError('ServiceUnavailable', 'the document cannot be read now', { retryAfterSeconds: 10 })
    }
    const base = parameters.get('base')
    const older = isDigest(base) && (await reach.documentOf(cluster.spec.id, base)) && (await options.blobs.get(base))
    const raw = unwrapEnvelope(bytes)
    // Only what comes out the same on the other side: the digest of the envelope is what the agent was promised.
    if (!older || !isDigest(base) || digestOf(wrapEnvelope(raw)) !== digest) return resumableResponse(bytes, request)
    return resumableResponse(encodeDelta(raw, unwrapEnvelope(older)), request, { [BASE_HEADER]: base })
  }

  /** A set with its objects, as a difference to one the agent has. */
  async function setAnswer(cluster: Cluster, request: HttpRequest, parameters: URLSearchParams): Promise<HttpResponse> {
    const set = request.path.split('?', 1)[0]!.slice(ROUTES.set.length)
    const from = Number(parameters.get('from') ?? 0)
    const assignment = assignmentOf(cluster)
    if (!isDigest(set) || !Number.isSafeInteger(from) || from < 0) throw notFound()
    if (!assignment?.spec.entries.some((entry) => entry.set === set)) throw notFound()
    const asked = parameters.get('base')
    const isOwn = isDigest(asked) && (await reach.isOwnBase(assignment, asked, parameters.get('held')))
    // A base that is gone or not this cluster's is no base: the whole is never wrong.
    const base = isOwn && isDigest(asked) && (await sets(asked)) ? asked : undefined
    const pack = await packs({ set, base, from })
    if (!pack) throw notFound()
    return resumableResponse(pack, request, base === undefined ? {} : { [BASE_HEADER]: base })
  }

  async function blobAnswer(cluster: Cluster, path: string, request: HttpRequest): Promise<HttpResponse> {
    const digest = path.slice(ROUTES.blob.length)
    const assignment = assignmentOf(cluster)
    if (!isDigest(digest) || !assignment || !(await reach.reaches(assignment, digest))) throw notFound()
    const bytes = await options.blobs.get(digest)
    if (!bytes) throw notFound()
    return resumableResponse(bytes, request)
  }

  async function agentBundle(path: string): Promise<HttpResponse> {
    const digest = path.slice(ROUTES.agentBundle.length)
    const bytes = isDigest(digest) ? await options.agentBundle?.(digest) : undefined
    if (!bytes) throw notFound()
    return bytesResponse(bytes, 'text/javascript')
  }

  return {
    async handle(request, caller, signal) {
      try {
        return await route(request, caller, signal)
      } catch (caught) {
        if (isUnreachable(caught) && !signal.aborted) {
          log.warn({ err: toError(caught) }, 'the hub’s API cannot be reached')
          const retryAfterSeconds = 5 + Math.floor(ids.fraction() * 5)
          return errorResponse(
            new ApiError('ServiceUnavailable', 'the hub cannot be reached now', { retryAfterSeconds }),
          )
        }
        if (!(caught instanceof ApiError || caught instanceof WireError) && !signal.aborted) {
          log.error({ err: toError(caught), method: request.method, path: request.path }, 'request failed')
        }
        return errorResponse(caught)
      }
    },
    streams: () => follow.count(),
    whenReady: (signal) => informers.whenSynced(signal),
    async close() {
      life.abort()
      await running
    },
  }
}

function busy(comesBackInMs: number): ApiError {
  const retryAfterSeconds = Math.ceil(comesBackInMs / 1000)
  return new ApiError('TooManyRequests', 'the gateway is busy; come back a little later', { retryAfterSeconds })
}
