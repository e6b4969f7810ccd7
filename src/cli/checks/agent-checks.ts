/** Whether an agent can work where it runs: its directory, its identity, the way to the hub, its rights in the cluster. */
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
    ...(gateways.length > 0 ? [{ name: 'way to the hub', checks: gateways.flatMap(gatewayChecks) }] : []),
    ...(identity.clusterId === undefined ? [] : [{ name: 'document', checks: documentChecks(document) }]),
    { name: 'cluster', checks: clusterRightsChecks(cluster) },
  ]
}

function dataChecks({ folder, trouble, isOpen, freeBytes = 0 }: AgentFacts['data']): Check[] {
  if (trouble !== undefined) return [check('data-folder', 'failed', `${folder}: ${trouble}`)]
  const space = freeBytes < SPACE_FAILED ? 'failed' : freeBytes < SPACE_WARNING ? 'warning' : 'ok'
  return [
    isOpen
      ? check('data-folder', 'warning', `${folder} may be read by others than its owner, and has the agent's keys`)
      : check('data-folder', 'ok', `${folder} is its owner's alone`),
    check('data-space', space, `${bytesText(freeBytes)} are free there`),
  ]
}

function identityChecks(identity: AgentFacts['identity'], version: string, nowMs: number): Check[] {
  const { trouble, clusterId, clusterName, trust } = identity
  if (trouble !== undefined) return [check('joined', 'failed', trouble)]
  const joined =
    clusterId === undefined
      ? check('joined', 'failed', 'the hub has not answered its request to join yet')
      : check('joined', 'ok', `joined as ${clusterName ?? clusterId}`)
  return [
    joined,
    ...(trust ? [versionCheck(trust, version)] : []),
    ...(clusterId === undefined ? [] : [certificateCheck(identity, nowMs)]),
  ]
}

function versionCheck(trust: NonNullable<AgentFacts['identity']['trust']>, version: string): Check {
  return trust.isTooOld
    ? check('agent-version', 'failed', `this is version ${version}, the hub asks for ${trust.leastVersion} or newer`)
    : check('agent-version', 'ok', `version ${version}; the hub asks for ${trust.leastVersion} or newer`)
}

function certificateCheck({ certificate }: AgentFacts['identity'], nowMs: number): Check {
  if (!certificate) return check('certificate', 'failed', 'the hub has issued no certificate: it waits to be accepted')
  const { endsMs, renewMs, isOfHub } = certificate
  if (!isOfHub)
    return check(
      'certificate',
      'warning',
      'the certificate is of a CA that the hub does not use any more; the agent renews it',
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
        'it is the hub of the join code, with a certificate of a CA that is new to this agent; the agent takes it at its next contact',
      )
    : newerTrust > 0
      ? check(
          'gateway-root',
          'ok',
          `it is the hub of the join code; ${newerTrust} newer trust ${newerTrust === 1 ? 'version waits' : 'versions wait'} for the agent`,
        )
      : check('gateway-root', 'ok', 'it is the hub of the join code')
  return [reached, root, skewCheck(skewMs)]
}

function skewCheck(skewMs: number | undefined): Check {
  if (skewMs === undefined) return check('clock-skew', 'warning', 'it does not say what time it is')
  const off = Math.abs(skewMs)
  // The date of an answer counts whole seconds.
  if (off < 2000) return check('clock-skew', 'ok', 'its clock agrees with this machine’s')
  const text = `its clock is ${humanAge(off)} ${skewMs < 0 ? 'behind' : 'ahead of'} this machine’s`
  return check('clock-skew', off > SKEW_WARNING_MS ? 'warning' : 'ok', text)
}

function documentChecks({ trouble, held, refusal }: AgentFacts['document']): Check[] {
  if (trouble !== undefined) return [check('document', 'failed', trouble)]
  const known = held
    ? held.lacking.length > 0
      ? check('document-refused', 'failed', `the document needs ${held.lacking.join(', ')}, which this version has not`)
      : check('document', 'ok', `follows revision ${held.epoch}/${held.revision}`)
    : check('document', 'ok', 'nothing was assigned to it yet')
  const refused =
    refusal &&
    check('document-refused', 'failed', `the newest document is refused (${refusal.reason}): ${refusal.message}`)
  return refused ? [known, refused] : [known]
}

function clusterRightsChecks(facts: AgentFacts['cluster']): Check[] {
  const { server, trouble, version, lacking = [], missed = [], executors = [], unasked = 0 } = facts
  if (trouble !== undefined) return [check('cluster-reachable', 'failed', `${server}: ${trouble}`)]
  return [
    check('cluster-reachable', 'ok', `${server} answers, Kubernetes ${version}`),
    lacking.length > 0
      ? check('agent-rights', 'failed', `the agent cannot keep its state: it may not ${rightsText(lacking)}`)
      : check('agent-rights', 'ok', 'the agent may keep its state'),
    ...(missed.length > 0 ? [check('agent-rights', 'warning', `it goes without ${rightsText(missed)}`)] : []),
    ...executors.map(executorCheck),
    ...(unasked > 0 ? [check('executor-rights', 'warning', `${unasked} more rights were not asked about`)] : []),
  ]
}

function executorCheck({
  executor,
  bundles,
  asked,
  denied,
  trouble,
}: NonNullable<AgentFacts['cluster']['executors']>[number]): Check {
  const who = executor === undefined ? 'the agent itself' : `ServiceAccount ${executor}`
  const what = bundles.length === 1 ? bundles[0]! : `${bundles.length} bundles`
  if (trouble !== undefined) return check('executor-rights', 'failed', `${who}, for ${what}: ${trouble}`)
  return denied.length > 0
    ? check('executor-rights', 'failed', `${who}, for ${what}, may not ${rightsText(denied)}`)
    : check(
        'executor-rights',
        'ok',
        `${who} may change what ${what} ${bundles.length === 1 ? 'has' : 'have'} (${asked} rights)`,
      )
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
