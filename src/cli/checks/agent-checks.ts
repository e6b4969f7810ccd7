/** Checks of an agent: data directory, identity, connection to the hub, document and permissions in the cluster. */
import { plural } from '../../core/text/name-some.ts'
import { humanAge } from '../../core/time/time.ts'
import type { AgentFacts } from '../../plan/fleet/agent-diagnostics.ts'
import { bytesText } from '../print/format-bytes.ts'
import type { Check, CheckCategory, CheckId, CheckResult } from './check.ts'

const DAY_MS = 86_400_000
const EXPIRY_WARNING_MS = 3 * DAY_MS
const SKEW_WARNING_MS = 30_000
const SPACE_FAILED = 64 * 1024 * 1024
const SPACE_WARNING = 512 * 1024 * 1024

/** The checks of an agent. */
export function agentChecks(facts: AgentFacts, nowMs: number): CheckCategory[] {
  const { data, identity, gateways, document, cluster } = facts
  return [
    { name: 'data directory', checks: dataChecks(data) },
    ...(data.trouble === undefined
      ? [{ name: 'identity', checks: identityChecks(identity, facts.version, nowMs) }]
      : []),
    ...(gateways.length > 0 ? [{ name: 'connection to the hub', checks: gateways.flatMap(gatewayChecks) }] : []),
    ...(identity.clusterId === undefined ? [] : [{ name: 'document', checks: documentChecks(document) }]),
    { name: 'cluster', checks: clusterRightsChecks(cluster) },
  ]
}

function dataChecks({ folder, trouble, isOpen, freeBytes = 0 }: AgentFacts['data']): Check[] {
  if (trouble !== undefined) return [check('data-folder', 'failed', `${folder}: ${trouble}`)]
  const space = freeBytes < SPACE_FAILED ? 'failed' : freeBytes < SPACE_WARNING ? 'warning' : 'ok'
  return [
    isOpen
      ? check('data-folder', 'warning', `${folder} contains the keys of the agent and can be read by other users`)
      : check('data-folder', 'ok', `${folder} can be read by its owner only`),
    check('data-space', space, `${bytesText(freeBytes)} free`),
  ]
}

function identityChecks(identity: AgentFacts['identity'], version: string, nowMs: number): Check[] {
  const { trouble, clusterId, clusterName, trust } = identity
  if (trouble !== undefined) return [check('joined', 'failed', trouble)]
  const joined =
    clusterId === undefined
      ? check('joined', 'failed', 'the hub has not answered the request to join yet')
      : check('joined', 'ok', `joined as ${clusterName ?? clusterId}`)
  return [
    joined,
    ...(trust ? [versionCheck(trust, version)] : []),
    ...(clusterId === undefined ? [] : [certificateCheck(identity, nowMs)]),
  ]
}

function versionCheck(trust: NonNullable<AgentFacts['identity']['trust']>, version: string): Check {
  return trust.isTooOld
    ? check('agent-version', 'failed', `version ${version}; the hub requires ${trust.leastVersion} or newer`)
    : check('agent-version', 'ok', `version ${version}; the hub requires ${trust.leastVersion} or newer`)
}

function certificateCheck({ certificate }: AgentFacts['identity'], nowMs: number): Check {
  if (!certificate) return check('certificate', 'failed', 'no certificate: the cluster waits for acceptance')
  const { endsMs, renewMs, isOfHub } = certificate
  if (!isOfHub)
    return check(
      'certificate',
      'warning',
      'the certificate was issued by a CA that the hub no longer uses; the agent renews it',
    )
  const left = endsMs - nowMs
  if (left <= 0)
    return check(
      'certificate',
      'failed',
      `the certificate expired ${humanAge(-left)} ago; the agent renews it when it reaches the hub`,
    )
  const due = renewMs - nowMs
  const renewal = due > 0 ? `is renewed in ${humanAge(due)}` : `should have been renewed ${humanAge(-due)} ago`
  const result = left < EXPIRY_WARNING_MS && due <= 0 ? 'warning' : 'ok'
  return check('certificate', result, `the certificate is valid for ${humanAge(left)} and ${renewal}`)
}

function gatewayChecks(facts: AgentFacts['gateways'][number]): Check[] {
  const { endpoint, proxy, trouble, otherRoot, isUnknownCa, skewMs, newerTrust = 0 } = facts
  const way = proxy === undefined ? '' : ` through the proxy ${proxy}`
  if (trouble !== undefined)
    return [check(proxy === undefined ? 'gateway-reachable' : 'proxy', 'failed', `${endpoint}${way}: ${trouble}`)]
  const reached = check('gateway-reachable', 'ok', `${endpoint} answers${way}`)
  if (otherRoot !== undefined) return [reached, check('gateway-root', 'failed', otherRoot)]
  const root = isUnknownCa
    ? check(
        'gateway-root',
        'warning',
        'the server is the hub of the join code, with a CA that is new to this agent; the agent accepts it at its next check-in',
      )
    : newerTrust > 0
      ? check(
          'gateway-root',
          'ok',
          `the server is the hub of the join code; ${plural(newerTrust, 'newer trust version waits', 'newer trust versions wait')} for the agent`,
        )
      : check('gateway-root', 'ok', 'the server is the hub of the join code')
  return [reached, root, skewCheck(skewMs)]
}

function skewCheck(skewMs: number | undefined): Check {
  if (skewMs === undefined) return check('clock-skew', 'warning', 'the hub sends no date')
  const off = Math.abs(skewMs)
  // The Date header has a resolution of a second.
  if (off < 2000) return check('clock-skew', 'ok', 'the clock of the hub agrees with the clock of this machine')
  const text = `the clock of the hub is ${humanAge(off)} ${skewMs < 0 ? 'behind' : 'ahead of'} the clock of this machine`
  return check('clock-skew', off > SKEW_WARNING_MS ? 'warning' : 'ok', text)
}

function documentChecks({ trouble, held, refusal }: AgentFacts['document']): Check[] {
  if (trouble !== undefined) return [check('document', 'failed', trouble)]
  const known = held
    ? held.lacking.length > 0
      ? check(
          'document-refused',
          'failed',
          `the document requires ${held.lacking.join(', ')}, which this version does not support`,
        )
      : check('document', 'ok', `the agent has revision ${held.epoch}/${held.revision}`)
    : check('document', 'ok', 'no Bundle is assigned to the cluster')
  const refused =
    refusal &&
    check('document-refused', 'failed', `the agent refuses the newest document (${refusal.reason}): ${refusal.message}`)
  return refused ? [known, refused] : [known]
}

function clusterRightsChecks(facts: AgentFacts['cluster']): Check[] {
  const { server, trouble, version, lacking = [], missed = [], executors = [], unasked = 0 } = facts
  if (trouble !== undefined) return [check('cluster-reachable', 'failed', `${server}: ${trouble}`)]
  return [
    check('cluster-reachable', 'ok', `${server} answers, Kubernetes ${version}`),
    lacking.length > 0
      ? check('agent-rights', 'failed', `the agent cannot store its state: it may not ${rightsText(lacking)}`)
      : check('agent-rights', 'ok', 'the agent may store its state'),
    ...(missed.length > 0
      ? [check('agent-rights', 'warning', `optional permissions are missing: ${rightsText(missed)}`)]
      : []),
    ...executors.map(executorCheck),
    ...(unasked > 0
      ? [
          check(
            'executor-rights',
            'warning',
            `${plural(unasked, 'more permission was', 'more permissions were')} not checked`,
          ),
        ]
      : []),
  ]
}

function executorCheck({
  executor,
  bundles,
  asked,
  denied,
  unwatched = [],
  trouble,
}: NonNullable<AgentFacts['cluster']['executors']>[number]): Check {
  const who = executor === undefined ? 'the agent itself' : `ServiceAccount ${executor}`
  const what = bundles.length === 1 ? bundles[0]! : `${bundles.length} bundles`
  if (trouble !== undefined) return check('executor-rights', 'failed', `${who}, for ${what}: ${trouble}`)
  if (denied.length > 0) return check('executor-rights', 'failed', `${who}, for ${what}, may not ${rightsText(denied)}`)
  return unwatched.length > 0
    ? check(
        'executor-rights',
        'warning',
        `${who}, for ${what}, may not ${rightsText(unwatched)}: the agent reads the objects in turn and sees changes later`,
      )
    : check('executor-rights', 'ok', `${who} may change the objects of ${what} (${plural(asked, 'permission')})`)
}

const MOST_SHOWN = 5

/** `patch, delete deployments.apps in namespace shop; list nodes`. */
function rightsText(rights: AgentFacts['cluster']['lacking'] & {}): string {
  const verbs = new Map<string, string[]>()
  for (const { verb, resource, namespace } of rights) {
    const what = `${resource}${namespace === undefined ? '' : ` in namespace ${namespace}`}`
    verbs.set(what, [...(verbs.get(what) ?? []), verb])
  }
  const texts = [...verbs].map(([what, all]) => `${all.join(', ')} ${what}`)
  const more = texts.length - MOST_SHOWN
  return `${texts.slice(0, MOST_SHOWN).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

function check(id: CheckId, result: CheckResult, text: string): Check {
  return { id, result, text }
}
