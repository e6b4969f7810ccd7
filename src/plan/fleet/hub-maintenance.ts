/** Maintenance of a hub: a user stops all decisions for a time. The ConfigMap below says so to every hub of an API. */
import { humanAge, parseTime } from '../../core/time/time.ts'
import { silenceProblem } from './hub-health.ts'
import type { HubHealth } from './hub-health.ts'

/** The ConfigMap; without it, and with another state than On, the hub works. */
export const HUB_MAINTENANCE = { namespace: 'flotilla-system', name: 'flotilla-hub-maintenance' } as const

/** The field manager of the command. */
export const MAINTENANCE_MANAGER = 'flotilla-maintenance'

/** A maintenance that is on. */
export interface Maintenance {
  /** Its beginning, RFC 3339. Tells one maintenance from another. */
  readonly since: string
  readonly reason: string
}

const MAX_REASON = 300
const NO_REASON = 'no reason given'

/** The data of the ConfigMap. */
export function maintenanceData(maintenance: Maintenance | undefined): Record<string, string> {
  return maintenance ? { state: 'On', ...maintenance } : { state: 'Off' }
}

/** Undefined when the hub works. What a user wrote by hand counts, too: only the state matters. */
export function parseMaintenance(data: Readonly<Record<string, string>> | undefined): Maintenance | undefined {
  if (data?.['state'] !== 'On') return undefined
  const { since = '', reason = '' } = data
  const isTime = since.length <= 40 && parseTime(since) !== undefined
  // Terminals obey control characters.
  const text = reason
    .slice(0, MAX_REASON)
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
  return { since: isTime ? since : 'unknown', reason: text === '' ? NO_REASON : text }
}

/** ` since 5m`; empty if the beginning is unknown. */
export function maintenanceAge({ since }: Maintenance, nowMs: number): string {
  const atMs = parseTime(since)
  return atMs === undefined ? '' : ` since ${humanAge(nowMs - atMs)}`
}

/**
 * The hubs that run and have not carried out this state yet. A hub that is silent is not waited for: it cannot write,
 * and reads the state within seconds when it can again.
 */
export function unconfirmedHubs(
  hubs: readonly { readonly name: string; readonly health: HubHealth | undefined }[],
  wanted: Maintenance | undefined,
  nowMs: number,
): string[] {
  return hubs.flatMap(({ name, health }) => {
    if (health && (silenceProblem(health, nowMs) !== undefined || health.maintenance === wanted?.since)) return []
    return [name]
  })
}
