import { CONTROLLERS_USER } from '../apiserver/rbac/controller-rules.ts'
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
 * The users of the hub's own parts. Controllers and gateway have the rights of their roles in apiserver/rbac and no
 * others. The administrator is the user of `admin.kubeconfig`; with these rights the hub installs kinds, policies and
 * roles at its start.
 */
export const HUB_USERS = {
  controllers: { commonName: CONTROLLERS_USER, organizations: [] },
  gateway: { commonName: 'system:flotilla:gateway', organizations: [] },
  admin: { commonName: 'admin', organizations: ['system:masters'] },
} as const
