/**
 * Stores reports as ClusterReports: one write by compare-and-swap if more than the time changed, otherwise none. A
 * report with a statement must be signed by the cluster's identity key; a report without one is marked as unsigned.
 */
import type { Client } from '../client/client.ts'
import { utf8 } from '../core/bytes.ts'
import type { Clock } from '../core/time/clock.ts'
import { compact } from '../core/compact.ts'
import { digestOf } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { ApiError, isApiError } from '../core/errors.ts'
import { canonicalJson, jsonEqual } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import { formatTime, parseTime } from '../core/time/time.ts'
import { ClusterReport } from '../kinds/native/cluster-report.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { apiVersionOf } from '../kinds/meta.ts'
import { CheckIn, Report } from '../wire/link/frames.ts'
import type { CheckInAnswer, Claim, ReportAnswer } from '../wire/link/frames.ts'
import { KEPT_HEADER, STATEMENT_HEADER } from '../wire/link/report-statement.ts'
import { checkDetailBytes } from '../wire/link/check-details.ts'
import { LIMITS } from '../wire/limits.ts'
import { parseJson } from '../wire/validate.ts'
import type { ComplianceHistory } from './compliance/compliance-history.ts'
import type { Evidence } from './evidence.ts'
import { createReportStatements } from './report-statements.ts'
import type { GatewayRequest } from './routes/route.ts'
import type { TrafficCounters } from './traffic.ts'

const MAX_ROUNDS = 8
/** A request of a user for the agent expires, because older agents do not know these requests. */
const USER_REQUEST_MS = 600_000
/** A request from further ahead of this clock counts as expired: it would outlive the permission of its user. */
const MAX_AHEAD_MS = 60_000

export interface ReportPorts {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  readonly traffic: Pick<TrafficCounters, 'pending' | 'taken'>
  /** Key id of the hub's root key. */
  readonly root: () => Digest
  readonly evidence: Pick<Evidence, 'report' | 'isDurable' | 'hasRoom'>
  readonly history: Pick<ComplianceHistory, 'note'>
}

/** A stored report and its place in the journal: a ticket, or that a gateway kept it before. */
interface StoredReport {
  readonly digest: Digest
  readonly statement: string | undefined
  /** Undefined if the journal was full. */
  readonly ticket: number | 'KeptBefore' | undefined
}

interface AcceptedReport {
  readonly body: Uint8Array
  readonly digest: Digest
  /** Envelope of the statement. */
  readonly signature: string | undefined
  /** Document that the report is about. */
  readonly document: Digest | undefined
}

export function createReports({ client, clock, log, traffic, root, evidence, history }: ReportPorts) {
  const stored = new Map<string, StoredReport>()
  /** Cluster id → the last answered requests of users, by their times. */
  const answered = new Map<string, { readonly log?: string; readonly values?: string }>()
  const statements = createReportStatements(root)
  const writer = createReportWriter({ client, clock, log, traffic })

  async function report(cluster: Cluster, body: Uint8Array, headers: GatewayRequest['headers']): Promise<ReportAnswer> {
    const reported = readReport(body)
    const digest = digestOf(body)
    const statement = statements.verify(cluster, digest, headers)
    const isChanged = await writer.write(cluster, reported, statement !== undefined)
    history.note(cluster, reported.checks ?? [], reported.results)
    const isStatusChanged = await writeClusterStatus(cluster, reported)
    const isNew = isChanged || isStatusChanged || statement === undefined || headers[KEPT_HEADER] !== 'true'
    const signature = headers[STATEMENT_HEADER]
    const ticket = isNew ? await keep(cluster, { body, digest, signature, document: reported.document }) : 'KeptBefore'
    stored.set(cluster.spec.id, { digest, statement: signature, ticket })
    if (statement) statements.accept(statement)
    answered.set(cluster.spec.id, {
      ...answered.get(cluster.spec.id),
      ...compact({ log: reported.log?.asked, values: reported.values && valuesRequestOf(reported.values) }),
    })
    return keptAnswer(isKept(ticket))
  }

  /** Keeps an accepted report as evidence; a report that is sent again is kept once. */
  async function keep(cluster: Cluster, { body, digest, signature, document }: AcceptedReport) {
    const known = stored.get(cluster.spec.id)
    if (known?.digest === digest && known.ticket !== undefined && known.statement === signature) return known.ticket
    return await evidence.report(cluster, { body, statement: signature, follows: document })
  }

  const isKept = (ticket: StoredReport['ticket']): boolean =>
    ticket === 'KeptBefore' || (ticket !== undefined && evidence.isDurable(ticket))

  /** The only fields of a Cluster that a report changes. Labels, taints and spec belong to the hub's users. */
  async function writeClusterStatus(
    cluster: Cluster,
    { kubernetesVersion, agentVersion, claims }: Report,
  ): Promise<boolean> {
    const about = compact({ agentVersion, kubernetesVersion, claims: claims && distinct(claims) })
    const { status = {} } = cluster
    if (Object.entries(about).every(([field, value]) => jsonEqual(status[field as keyof typeof about] ?? [], value)))
      return false
    const patch = { type: 'merge', body: { status: about } } as const
    await client.patch(Cluster, { name: cluster.metadata.name }, patch, { subresource: 'status' })
    return true
  }

  function checkIn(cluster: Cluster, body: Uint8Array): CheckInAnswer {
    const { report } = parseJson(CheckIn, body, { what: 'check-in', maxBytes: LIMITS.requestBytes })
    const asked = userRequests(cluster)
    if (Object.keys(asked).length > 0) return { report: 'Wanted', ...asked }
    const known = stored.get(cluster.spec.id)
    if (known?.digest !== report) return { report: 'Wanted' }
    // A report that found the journal full is sent again when the journal takes records.
    if (known.ticket === undefined && evidence.hasRoom()) return { report: 'Wanted' }
    return { report: 'Known', ...keptAnswer(isKept(known.ticket)) }
  }

  /** Open requests of users for the agent's log and for values of drifted fields. */
  function userRequests({ spec }: Cluster): Pick<CheckInAnswer, 'log' | 'values'> {
    const done = answered.get(spec.id)
    const { logsAskedAt: log, valuesAsked: values } = spec
    return compact({
      log: log !== undefined && log !== done?.log && isOpen(log) ? log : undefined,
      values:
        values && valuesRequestOf({ ...values, asked: values.at }) !== done?.values && isOpen(values.at)
          ? { asked: values.at, bundle: values.bundle, key: values.key }
          : undefined,
    })
  }

  const isOpen = (asked: string): boolean => {
    const age = clock.now() - (parseTime(asked) ?? 0)
    return age >= -MAX_AHEAD_MS && age < USER_REQUEST_MS
  }

  return {
    report,
    checkIn,
    forget: (clusterId: string) => {
      answered.delete(clusterId)
      statements.forget(clusterId)
      writer.forget(clusterId)
      return stored.delete(clusterId)
    },
  }
}

/** A stored ClusterReport, as far as the next write needs it. */
interface KnownReport {
  readonly metadata: ClusterReport['metadata']
  readonly spec: Pick<ClusterReport['spec'], 'clusterId' | 'epoch' | 'revision' | 'traffic'>
  /** Digest of the spec without time and traffic. */
  readonly content: Digest
}

/**
 * Writes ClusterReports. The writer remembers the version that it wrote last, so that a changed report is one request
 * to the API: a compare-and-swap without a read before it. Whenever that fails, the report is read.
 */
function createReportWriter({
  client,
  clock,
  log,
  traffic,
}: Pick<ReportPorts, 'client' | 'clock' | 'log' | 'traffic'>) {
  /** By cluster ID. */
  const last = new Map<string, KnownReport>()

  async function read(name: string): Promise<KnownReport | undefined> {
    const current = await client.get(ClusterReport, { name }).catch(absentIfNotFound)
    return current && knownReport(current)
  }

  /** True if more than the time changed. */
  async function write(cluster: Cluster, reported: Report, signed: boolean): Promise<boolean> {
    const { name } = cluster.metadata
    const { id } = cluster.spec
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const content = reportSpec(cluster, reported, { signed, receivedAt: formatTime(clock.now()) })
      const digest = contentDigest(content)
      const remembered = last.get(id)
      last.delete(id)
      // Only the stored object tells that nothing is to write.
      const current = remembered && remembered.content !== digest ? remembered : await read(name)
      const isOwn = current?.spec.clusterId === id
      if (current && isOwn) refuseOlder(current, reported)
      const pending = traffic.pending(id)
      const before = isOwn ? current.spec.traffic : undefined
      const counted = {
        downBytes: (before?.downBytes ?? 0) + pending.down,
        upBytes: (before?.upBytes ?? 0) + pending.up,
      }
      const next = {
        apiVersion: apiVersionOf(ClusterReport),
        kind: ClusterReport.kind,
        spec: { ...content, traffic: counted },
      }
      try {
        if (!current) {
          const metadata = { name, ...ownerReferences(cluster) }
          last.set(id, knownReport(await client.create(ClusterReport, { ...next, metadata })))
        } else if (!isOwn) {
          // The cluster was deleted, and another cluster joined with its name: the old report does not apply.
          await client.delete(ClusterReport, { name }, { uid: current.metadata.uid ?? '' })
          continue
        } else {
          if (current.content === digest) {
            last.set(id, current)
            return false
          }
          last.set(id, knownReport(await client.update(ClusterReport, { ...next, metadata: current.metadata })))
        }
        traffic.taken(id, pending)
        log.debug({ cluster: name, epoch: reported.epoch, revision: reported.revision }, 'report stored')
        return true
      } catch (caught) {
        if (!isApiError(caught, 'Conflict', 'AlreadyExists', 'NotFound')) throw caught
      }
    }
    throw new ApiError('ServiceUnavailable', 'the report could not be stored now', { retryAfterSeconds: 5 })
  }

  return { write, forget: (clusterId: string) => last.delete(clusterId) }
}

function knownReport({ metadata, spec }: ClusterReport): KnownReport {
  // Without managed fields in the request, the server keeps those that it has.
  const { managedFields: _managed, ...own } = metadata
  const { clusterId, epoch, revision, traffic } = spec
  return { metadata: own, spec: { clusterId, epoch, revision, ...compact({ traffic }) }, content: contentDigest(spec) }
}

function contentDigest({ receivedAt: _at, traffic: _traffic, ...content }: ClusterReport['spec']): Digest {
  return digestOf(canonicalJson(content))
}

function keptAnswer(isKept: boolean): ReportAnswer {
  return isKept ? { kept: true } : {}
}

export type Reports = ReturnType<typeof createReports>

// A list map refuses a second claim of the same name. The first one counts.
function distinct(claims: readonly Claim[]): Claim[] {
  const byName = new Map<string, Claim>()
  for (const claim of claims) if (!byName.has(claim.name)) byName.set(claim.name, claim)
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

// I-11: the observed revision never decreases. An older report is a replay, or comes from a copy of the agent.
function refuseOlder({ spec }: KnownReport, { epoch, revision }: Report): void {
  if (epoch > spec.epoch || (epoch === spec.epoch && revision >= spec.revision)) return
  throw new ApiError(
    'Conflict',
    `the report is of epoch ${epoch} revision ${revision}; the cluster has already reported epoch ${spec.epoch} revision ${spec.revision}`,
  )
}

/** Every reported field except the fields of the Cluster's status. */
function reportSpec(
  cluster: Cluster,
  reported: Report,
  { signed, receivedAt }: { readonly signed: boolean; readonly receivedAt: string },
): ClusterReport['spec'] {
  const {
    agentVersion: _agent,
    kubernetesVersion: _kubernetes,
    claims: _claims,
    log,
    values,
    removals = [],
    feedback = [],
    checks = [],
    results,
    ...same
  } = reported
  return compact({
    clusterId: cluster.spec.id,
    ...same,
    signed,
    receivedAt,
    // Lines that no user requested are dropped.
    log: log?.asked === cluster.spec.logsAskedAt ? log : undefined,
    // Neither are values, except for the key that asked last.
    values: values && answersLastRequest(values, cluster) ? values : undefined,
    // A second row of the same bundle has no meaning. The last row counts.
    removals: removals.length === 0 ? undefined : oncePerBundle(removals),
    // An agent sends no more than this; more than this is not reported.
    feedback: feedback.length === 0 || isTooLarge(feedback) ? undefined : oncePerBundle(feedback),
    checks: checks.length === 0 ? undefined : boundChecks(checks),
    results: results && jsonBytes(results) <= LIMITS.resultBytes ? results : undefined,
  })
}

/** A request for values, by its time and key: two users can ask within a second. */
function valuesRequestOf({ asked, key }: Pick<NonNullable<Report['values']>, 'asked' | 'key'>): string {
  return `${asked} ${key}`
}

function answersLastRequest(values: NonNullable<Report['values']>, { spec: { valuesAsked: last } }: Cluster): boolean {
  return last !== undefined && valuesRequestOf(values) === valuesRequestOf({ ...last, asked: last.at })
}

/** Reads a report. Two rows of one bundle contradict each other. */
function readReport(body: Uint8Array): Report {
  const reported = parseJson(Report, body, { what: 'report', maxBytes: LIMITS.reportBytes })
  const { bundles } = reported
  if (new Set(bundles.map(({ bundle }) => bundle)).size === bundles.length) return reported
  throw new ApiError('BadRequest', 'the report has two rows of the same bundle')
}

/** One result for each check, with no more text than an agent of this version sends. */
function boundChecks(checks: NonNullable<Report['checks']>): NonNullable<Report['checks']> {
  const once = [...new Map(checks.map((one) => [`${one.bundle} ${one.kind} ${one.name}`, one])).values()]
  return checkDetailBytes(once) <= LIMITS.checkBytes
    ? once
    : once.map(({ message: _message, objects: _objects, ...state }) => state)
}

function oncePerBundle<T extends { readonly bundle: string }>(rows: readonly T[]): T[] {
  return [...new Map(rows.map((row) => [row.bundle, row])).values()]
}

function isTooLarge(feedback: NonNullable<Report['feedback']>): boolean {
  return jsonBytes(feedback) > LIMITS.feedbackBytes + feedback.length + 2
}

function jsonBytes(value: unknown): number {
  return utf8(canonicalJson(value)).byteLength
}

function ownerReferences(cluster: Cluster) {
  const { name, uid } = cluster.metadata
  return uid === undefined
    ? {}
    : { ownerReferences: [{ apiVersion: apiVersionOf(Cluster), kind: 'Cluster', name, uid }] }
}

function absentIfNotFound(caught: unknown): undefined {
  if (!isApiError(caught, 'NotFound')) throw caught
}
