import type { Clock } from '../core/time/clock.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'

/** Time, randomness and a place for words: what every part gets. */
export interface HubPorts {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
}

/**
 * The users of the hub's own parts; controllers may do everything for now, the gateway only what its role in
 * apiserver/rbac/bootstrap-roles.ts says.
 */
export const HUB_USERS = {
  controllers: { commonName: 'system:flotilla:hub', organizations: ['system:masters'] },
  gateway: { commonName: 'system:flotilla:gateway', organizations: [] },
  admin: { commonName: 'admin', organizations: ['system:masters'] },
} as const
