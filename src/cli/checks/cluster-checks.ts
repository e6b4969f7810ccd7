// Tested by src/cli/checks/checks.test.ts.
/** Checks of a cluster: registration, connectivity, document and Bundles. */
import { findCondition } from '../../core/conditions.ts'
import { plural } from '../../core/text/name-some.ts'
import { humanAge, parseTime } from '../../core/time/time.ts'
import { localTime } from '../print/print-time.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { CERTIFICATE_WARNING_DAYS } from '../../plan/fleet/cluster-badges.ts'
import type { Check, CheckCategory, CheckId, CheckResult } from './check.ts'

/** The objects of a cluster. */
export interface ClusterFacts {
  readonly cluster: Cluster
  readonly assignment: Assignment | undefined
  readonly report: ClusterReport | undefined
}

const DAY_MS = 86_400_000

/** The checks of a cluster. */
export function clusterChecks({ cluster, assignment, report }: ClusterFacts, nowMs: number): CheckCategory[] {
  return [
    { name: 'registration', checks: registrationChecks(cluster) },
    { name: 'connectivity', checks: connectivityChecks(cluster, nowMs) },
    { name: 'content', checks: contentChecks(cluster, assignment, report) },
  ]
}

function registrationChecks({ metadata, spec, status }: Cluster): Check[] {
  const { refused } = spec
  const taken = status?.conditions?.find(({ type, status: is }) => type === 'AliasTaken' && is === 'True')
  return [
    refused
      ? check(
          'accepted',
          'failed',
          `${refused.verdict.toLowerCase()} at ${localTime(refused.at)}${refused.reason ? `: ${refused.reason}` : ''}`,
        )
      : spec.accepted
        ? check('accepted', 'ok', 'accepted')
        : check('accepted', 'failed', `waits for acceptance: use "flotilla cluster accept ${metadata.name}"`),
    ...(taken ? [check('alias-taken', 'warning', taken.message)] : []),
  ]
}

function connectivityChecks({ spec, status }: Cluster, nowMs: number): Check[] {
  const available = findCondition(status?.conditions, 'Available')
  const seen = agoOf(status?.lastSeen, nowMs)
  const { rival } = status?.agent ?? {}
  return [
    available?.status === 'True'
      ? check('agent-connected', 'ok', `the agent is connected and checks in at least every ${spec.checkInSeconds} s`)
      : check(
          'agent-connected',
          'failed',
          seen === undefined
            ? 'no agent has contacted the hub'
            : `the agent last contacted the hub ${seen} ago: ${available?.message ?? 'unknown reason'}`,
        ),
    ...(rival
      ? [
          check(
            'one-agent',
            'failed',
            `a second agent with the same identity connects from ${rival.address ?? 'an unknown address'} since ${localTime(rival.since)}`,
          ),
        ]
      : [check('one-agent', 'ok', 'one agent connects for the cluster')]),
    certificateCheck(status?.certificate?.notAfter, nowMs),
  ]
}

function certificateCheck(notAfter: string | undefined, nowMs: number): Check {
  const end = notAfter === undefined ? undefined : parseTime(notAfter)
  if (end === undefined) return check('certificate', 'warning', 'no certificate has been issued yet')
  if (end <= nowMs)
    return check(
      'certificate',
      'failed',
      `the certificate expired ${humanAge(nowMs - end)} ago; the agent renews it when it reconnects`,
    )
  const days = Math.floor((end - nowMs) / DAY_MS)
  return check(
    'certificate',
    days < CERTIFICATE_WARNING_DAYS ? 'warning' : 'ok',
    `the certificate is valid for ${humanAge(end - nowMs)}`,
  )
}

function contentChecks(
  cluster: Cluster,
  assignment: Assignment | undefined,
  report: ClusterReport | undefined,
): Check[] {
  if (assignment?.spec.clusterId !== cluster.spec.id) {
    return [check('document', 'ok', 'no Bundle is assigned to the cluster')]
  }
  const { epoch, revision } = assignment.spec
  const own = report?.spec.clusterId === cluster.spec.id ? report : undefined
  const observed = own && `${own.spec.epoch}/${own.spec.revision}`
  const isCurrent = own?.spec.epoch === epoch && own.spec.revision >= revision
  const unhealthy = (own?.spec.bundles ?? []).filter(({ state }) => state === 'Failed' || state === 'Drifted')
  return [
    isCurrent
      ? check('document', 'ok', `the agent has the newest document, revision ${revision}`)
      : check(
          'document',
          'warning',
          `the newest document is revision ${epoch}/${revision}, the agent has ${observed ?? 'none'}`,
        ),
    ...(own?.spec.refusal
      ? [
          check(
            'document-refused',
            'failed',
            `the agent refuses the newest document (${own.spec.refusal.reason}): ${own.spec.refusal.message}`,
          ),
        ]
      : []),
    ...unhealthy.map(({ bundle, state, message, firstFailing }) =>
      check(
        state === 'Failed' ? 'bundle-failed' : 'bundle-drifted',
        state === 'Failed' ? 'failed' : 'warning',
        `${bundle}: ${failureText(firstFailing, message) || state}`,
      ),
    ),
    ...(own && unhealthy.length === 0
      ? [check('bundle-failed', 'ok', `${plural(own.spec.bundles?.length ?? 0, 'Bundle')}, none failed`)]
      : []),
  ]
}

function agoOf(time: string | undefined, nowMs: number): string | undefined {
  const ms = time === undefined ? undefined : parseTime(time)
  return ms === undefined ? undefined : humanAge(Math.max(0, nowMs - ms))
}

function check(id: CheckId, result: CheckResult, text: string): Check {
  return { id, result, text }
}

/** The failing object and its message. Most messages begin with the object already. */
function failureText(object: string | undefined, message: string | undefined): string {
  const parts = object !== undefined && message?.startsWith(object) ? [message] : [object, message]
  return parts.filter(Boolean).join(': ')
}
