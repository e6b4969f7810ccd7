/**
 * The gateway: the only part of the hub that agents reach. An agent can read its own document, read the blobs that this
 * document names, write its own report and renew its own certificate. Every other request gets the same 404.
 */
import { readWholeNumber } from '../core/read-number.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Client } from '../client/client.ts'
import { createInformers } from '../client/informers.ts'
import type { Clock } from '../core/time/clock.ts'
import { ApiError, toError } from '../core/errors.ts'
import type { Handler, HttpRequest, HttpResponse } from '../core/http.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import { isUnreachable } from '../core/unreachable.ts'
import { COMPLIANCE_PURPOSE, COMPLIANCE_RETENTION_MS } from '../kinds/fields/compliance-record.ts'
import { createComplianceHistory } from './compliance/compliance-history.ts'
import { createJournalWriter } from '../journal/journal-writer.ts'
import type { JournalStats } from '../journal/journal-writer.ts'
import type { Cluster } from '../kinds/native/cluster.ts'
import { EVIDENCE_PURPOSE } from '../wire/evidence/evidence-record.ts'
import type { LoadLimits } from '../wire/link/load-shedding.ts'
import type { HubTrust } from '../wire/trust/hub-keys.ts'
import { allSignerKeys } from '../wire/trust/trust-bundle.ts'
import { WireError } from '../wire/validate.ts'
import { createAgentInstances } from './agent-instances.ts'
import { createBandwidth } from './bandwidth.ts'
import { LIMITS } from '../wire/limits.ts'
import { createBlobAccess } from './blob-access.ts'
import type { IssueCertificate } from './enrolment/certificates.ts'
import { createClockSkew } from './clock-skew.ts'
import { createClusterLookup } from './cluster-lookup.ts'
import { createEnrolment, isClusterAccepted } from './enrolment/enrolment.ts'
import { createEvidence, trustRecord } from './evidence.ts'
import { createFollowStreams } from './follow-streams.ts'
import { createLiveness } from './liveness.ts'
import { createLoadShedder } from './load-shedder.ts'
import { createNewerDocuments } from './newer-document.ts'
import { createPackCache } from './pack-cache.ts'
import { createRateLimiter } from './rate-limit.ts'
import { createReports } from './reports.ts'
import { errorResponse } from './responses.ts'
import { createAgentBundleHandler } from './routes/agent-bundle.ts'
import type { AgentBundle } from './routes/agent-bundle.ts'
import { createContentHandlers } from './routes/content.ts'
import { createDocumentHandlers } from './routes/document.ts'
import { createEnrolmentHandlers } from './routes/enrolment.ts'
import { createFollowHandlers } from './routes/follow.ts'
import { createReportHandlers } from './routes/report.ts'
import { parseRequest } from './routes/route.ts'
import type { ClusterRoute } from './routes/route.ts'
import { routeTable } from './routes/route-table.ts'
import { createRouter } from './routes/router.ts'
import { createTrustHandler } from './routes/trust.ts'
import { createSetCache } from './set-cache.ts'
import { createTrafficCounters } from './traffic.ts'

const EVIDENCE_RETENTION_MS = 90 * 86_400_000

export interface GatewayOptions {
  /** Unique among the hub's gateways; part of the name of the gateway's Lease. */
  readonly name: string
  /** The hub's API, as `system:flotilla:gateway`. */
  readonly client: Client
  readonly blobs: Pick<Blobs, 'get' | 'put'>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** Read on every use, so that a rotation takes effect at once. */
  readonly trust: () => Pick<HubTrust, 'root' | 'envelopes' | 'newest'>
  readonly issueCertificate: IssueCertificate
  /** Why the hub is in maintenance and registers no clusters; undefined while it works. Read on every use. */
  readonly maintenance?: () => string | undefined
  /** Limits of load shedding. Defaults to what one core can answer. */
  readonly loadLimits?: LoadLimits
  /** The agent's program by digest, for machines that start without it. */
  readonly agentBundle?: AgentBundle
  /** How long evidence is kept. Defaults to 90 days. */
  readonly evidenceRetentionMs?: number
}

export interface Gateway {
  /** Answers agents. The listener proves the caller from the client certificate. */
  readonly handle: Handler
  /** Number of open follow streams. */
  streams(): number
  /** What the gateway's journal has written, and what waits. */
  journals(): readonly JournalStats[]
  /**
   * Sends agents to other gateways: ends their streams, spread over this time, and refuses new ones. All other requests
   * are answered. Resolves when no stream is open, at the latest after this time.
   */
  drain(ms: number): Promise<void>
  /** Resolves when the gateway knows all clusters. */
  whenReady(signal: AbortSignal): Promise<void>
  /** Ends every stream and stops the informers. */
  close(): Promise<void>
}

export function createGateway(options: GatewayOptions): Gateway {
  const parts = createParts(options)
  const { clock, log, ids, life, informers, clusters, liveness, streams } = parts
  const route = createRouter({ ...parts, table: createTable(options, parts) })
  forgetDeletedClusters(parts)

  // Until the informers have synced, the gateway refuses all agents: this time is not counted as listening.
  const listening = informers.whenSynced(life.signal).then(
    () => liveness.run(life.signal),
    () => {}, // closed before the informers synced
  )
  const running = Promise.all([
    informers.run(life.signal),
    listening,
    parts.journal.run(life.signal),
    parts.complianceJournal.run(life.signal),
  ])

  function errorAnswer(caught: unknown, request: HttpRequest, signal: AbortSignal): HttpResponse {
    if (isUnreachable(caught) && !signal.aborted) {
      log.warn({ err: toError(caught) }, 'the API or the blobs of the hub cannot be reached')
      const retryAfterSeconds = 5 + Math.floor(ids.fraction() * 5)
      return errorResponse(new ApiError('ServiceUnavailable', 'the hub cannot be reached now', { retryAfterSeconds }))
    }
    if (!(caught instanceof ApiError || caught instanceof WireError) && !signal.aborted) {
      log.error({ err: toError(caught), method: request.method, path: request.path }, 'request failed')
    }
    return errorResponse(caught)
  }

  clusters.onAssignmentChange(streams.wake)
  return {
    async handle(request, caller, signal) {
      try {
        return await route(parseRequest(request, caller, signal))
      } catch (caught) {
        return errorAnswer(caught, request, signal)
      }
    },
    streams: () => streams.count(),
    journals: () => [parts.journal.stats(), parts.complianceJournal.stats()],
    async drain(ms) {
      streams.drain(ms, life.signal)
      const until = clock.monotonicMs() + ms
      while (streams.count() > 0 && clock.monotonicMs() < until && !life.signal.aborted) {
        await clock.sleep(DRAIN_CHECK_MS, life.signal).catch(() => {}) // aborted: the loop ends
      }
    },
    whenReady: (signal) => informers.whenSynced(signal),
    async close() {
      life.abort()
      await running
    },
  }
}

/** The interval at which a gateway that drains looks whether all agents have left. */
const DRAIN_CHECK_MS = 100

/** Each report that differs is a write to the database: three of the largest reports at once, and one a minute. */
const REPORT_BYTES = { burst: 3 * LIMITS.reportBytes, perMinute: LIMITS.reportBytes }

/** The state of a gateway: what the informers know, and what is counted for each cluster. */
function createParts(options: GatewayOptions) {
  const { clock, ids, trust } = options
  const log = options.log.child({ room: 'gateway', gateway: options.name })
  const informers = createInformers({ client: options.client, clock, ids, log })
  const { client } = informers
  const clusters = createClusterLookup(informers)
  const traffic = createTrafficCounters()
  const instances = createAgentInstances({ client, clock, log })
  const written = { client: options.client, blobs: options.blobs, clock, ids, log }
  const journal = createJournalWriter({
    ...written,
    stream: { purpose: EVIDENCE_PURPOSE, writer: options.name },
    retentionMs: options.evidenceRetentionMs ?? EVIDENCE_RETENTION_MS,
    preamble: () => [trustRecord(trust(), clock.now())],
  })
  const complianceJournal = createJournalWriter({
    ...written,
    stream: { purpose: COMPLIANCE_PURPOSE, writer: options.name },
    retentionMs: COMPLIANCE_RETENTION_MS,
  })
  const history = createComplianceHistory({ journal: complianceJournal, clock })
  const evidence = createEvidence({ journal, blobs: options.blobs, trust, clock, log })
  const sets = createSetCache(options.blobs)
  const streams = createFollowStreams({
    clock,
    ids,
    clusterOf: (id, instance) => {
      const cluster = clusters.byId(id)
      return cluster && isClusterAccepted(cluster) && instances.maySpeak(cluster, instance) ? cluster : undefined
    },
    headOf: (cluster) => {
      const spec = clusters.assignment(cluster)?.spec
      return spec && { epoch: spec.epoch, revision: spec.revision, document: spec.document }
    },
    trustVersion: () => trust().newest.bundle.version,
  })
  return {
    clock,
    ids,
    log,
    informers,
    client,
    clusters,
    traffic,
    instances,
    journal,
    complianceJournal,
    history,
    evidence,
    sets,
    streams,
    life: new AbortController(),
    load: createLoadShedder({ clock, ids, limits: options.loadLimits }),
    liveness: createLiveness({ client: options.client, clock, log, gateway: options.name }),
    bandwidth: createBandwidth(clock),
    skew: createClockSkew({ client, clock, log }),
    reports: createReports({ client, clock, log, traffic, evidence, history, root: () => trust().root.keyId }),
    reportLimit: createRateLimiter({ clock, what: 'reports from this cluster', burst: 60, perMinute: 60 }),
    reportBytesLimit: createRateLimiter({ clock, what: 'bytes of reports from this cluster', ...REPORT_BYTES }),
  }
}

type Parts = ReturnType<typeof createParts>

function createTable({ blobs, trust, ...options }: GatewayOptions, parts: Parts) {
  const { client, clock, ids, log, clusters, sets, life, bandwidth } = parts
  const signers = () => allSignerKeys(trust())
  const access = createBlobAccess({ blobs, sets, signers })
  const documents = createDocumentHandlers({
    ...parts,
    blobs,
    access,
    recordNewer: createNewerDocuments({
      client,
      clock,
      log,
      signers,
      epoch: () => trust().newest.bundle.epoch,
    }),
  })
  const enrolment = createEnrolment({
    client,
    clock,
    ids,
    log,
    clusterById: clusters.byId,
    issueCertificate: options.issueCertificate,
    maintenance: options.maintenance ?? (() => undefined),
    root: () => trust().root.keyId,
    minAgentVersion: () => trust().newest.bundle.minAgentVersion,
  })

  function paced(handle: ClusterRoute['handle']): ClusterRoute['handle'] {
    return async (cluster, request) => {
      const answer = await handle(cluster, request)
      logContent(log, cluster, request.path, answer)
      const ended = AbortSignal.any([request.signal, life.signal])
      return bandwidth.pace(cluster, answer, ended, () => clusters.byId(cluster.spec.id))
    }
  }

  return routeTable({
    trust: createTrustHandler(trust),
    agentBundle: createAgentBundleHandler(options.agentBundle),
    ...createEnrolmentHandlers({ enrolment, clusters, documents, load: parts.load }),
    ...createFollowHandlers({ streams: parts.streams, clusters, closing: life.signal }),
    ...documents,
    ...createContentHandlers({ blobs, access, clusters, sets, packs: createPackCache({ blobs, sets }) }),
    ...createReportHandlers(parts),
    paced,
  })
}

/** Whatever a gateway counts for a cluster ends with the cluster. */
function forgetDeletedClusters(parts: Parts): void {
  const { clusters, instances, streams, load, liveness, reports, traffic, bandwidth, skew } = parts
  const counted = [load, liveness, reports, instances, parts.reportLimit, parts.reportBytesLimit, traffic, bandwidth]
  clusters.onClusterChange((id, cluster) => {
    if (cluster) instances.noteStored(cluster)
    streams.wake(id)
    if (cluster) return
    for (const part of [...counted, skew, parts.evidence, parts.history]) part.forget(id)
  })
}

function logContent(log: Logger, { metadata }: Cluster, path: string, { headers }: HttpResponse): void {
  const [, from = '0'] = /^bytes (\d+)-/.exec(headers['content-range'] ?? '') ?? []
  const bytes = headers['content-length'] ?? ''
  log.debug({ cluster: metadata.name, path, from: readWholeNumber(from), bytes: readWholeNumber(bytes) }, 'content')
}
