/** Whether a hub answers, agrees about the time, knows its version, and has nobody waiting at the door. */
import { humanAge } from '../../core/time/time.ts'
import type { Check, CheckCategory } from './check.ts'

/** What was learned by asking the hub. */
export interface HubFacts {
  readonly server: string
  /** Undefined when it answered. */
  readonly trouble: string | undefined
  readonly ready: string | undefined
  readonly version: string | undefined
  readonly clientVersion: string
  /** The hub's clock minus ours. */
  readonly skewMs: number | undefined
  /** When the certificate this command signs in with ends. */
  readonly certificateEndsMs: number | undefined
  readonly mayList: boolean
  readonly pendingClusters: number
}

const SKEW_WARNING_MS = 30_000
const EXPIRY_WARNING_MS = 7 * 86_400_000

/** The checks of a hub. */
export function hubChecks(facts: HubFacts, nowMs: number): CheckCategory[] {
  if (facts.trouble !== undefined) {
    return [
      { name: 'hub', checks: [{ id: 'hub-reachable', result: 'failed', text: `${facts.server}: ${facts.trouble}` }] },
    ]
  }
  const checks: Check[] = [
    { id: 'hub-reachable', result: 'ok', text: `${facts.server} answers` },
    facts.ready === 'ok'
      ? { id: 'hub-ready', result: 'ok', text: 'it is ready' }
      : { id: 'hub-ready', result: 'failed', text: `it is not ready: ${facts.ready ?? 'no answer'}` },
    skewCheck(facts.skewMs),
    versionCheck(facts),
    ...certificateChecks(facts.certificateEndsMs, nowMs),
    facts.mayList
      ? { id: 'may-list', result: 'ok', text: 'you may see the fleet' }
      : { id: 'may-list', result: 'failed', text: 'you may not list clusters.flotilla.dev' },
    facts.pendingClusters === 0
      ? { id: 'pending-clusters', result: 'ok', text: 'no cluster waits to be accepted' }
      : { id: 'pending-clusters', result: 'warning', text: `${facts.pendingClusters} clusters wait to be accepted` },
  ]
  return [{ name: 'hub', checks }]
}

function skewCheck(skewMs: number | undefined): Check {
  if (skewMs === undefined) return { id: 'clock-skew', result: 'warning', text: 'it does not say what time it is' }
  const off = Math.abs(skewMs)
  const text =
    off < 1000
      ? 'its clock agrees with this machine’s'
      : `its clock is ${humanAge(off)} ${skewMs < 0 ? 'behind' : 'ahead of'} this machine’s`
  return { id: 'clock-skew', result: Math.abs(skewMs) > SKEW_WARNING_MS ? 'warning' : 'ok', text }
}

function versionCheck({ version, clientVersion }: HubFacts): Check {
  const own = /flotilla-(\S+)$/.exec(version ?? '')?.[1]
  if (own === undefined)
    return { id: 'version', result: 'ok', text: `its API is Kubernetes ${version ?? 'of an unknown version'}` }
  return own === clientVersion
    ? { id: 'version', result: 'ok', text: `version ${own}, the same as this program` }
    : { id: 'version', result: 'warning', text: `the hub is version ${own}, this program ${clientVersion}` }
}

function certificateChecks(endsMs: number | undefined, nowMs: number): Check[] {
  if (endsMs === undefined) return []
  const left = endsMs - nowMs
  if (left <= 0)
    return [{ id: 'own-certificate', result: 'failed', text: `your certificate expired ${humanAge(-left)} ago` }]
  const result = left < EXPIRY_WARNING_MS ? 'warning' : 'ok'
  return [{ id: 'own-certificate', result, text: `your certificate is valid for ${humanAge(left)}` }]
}
