import { toError } from '../../core/errors.ts'
import type { Admission } from '../server/admission.ts'
import type { ServerParts } from '../server/context.ts'
import { refuseApproval } from '../strategies/certificate-approval.ts'
import { aggregate } from './aggregation.ts'
import { ensureBootstrapRoles } from './bootstrap.ts'
import type { BootstrapChoice } from './bootstrap.ts'
import { refuseEscalation } from './escalation.ts'
import { createRbacAuthorizer } from './rbac-authorizer.ts'
import type { RbacAuthorizer } from './rbac-authorizer.ts'
import { createRoleCache } from './role-cache.ts'

/** Access control that runs: roles followed in the store, aggregation kept, escalation refused. */
export interface Rbac {
  readonly authorizer: RbacAuthorizer
  readonly admission: Admission
  /** Calls back after each change of roles and bindings. */
  onChange(listener: () => void): void
  /** Resolves when the roles that always exist are there and known. */
  readonly ready: Promise<void>
  /** Resolves when the signal has ended everything. */
  readonly done: Promise<void>
}

/** Starts access control; it ends with the signal. */
export function startRbac(
  parts: Omit<ServerParts, 'admission'> & BootstrapChoice,
  admission: Admission,
  signal: AbortSignal,
): Rbac {
  const cache = createRoleCache(parts)
  const authorizer = createRbacAuthorizer(cache)
  let work = Promise.resolve()
  let isDue = false
  const listeners = new Set<() => void>()
  const consider = () => {
    for (const listener of listeners) listener()
    if (isDue) return
    isDue = true
    work = catchUp(work)
  }
  const catchUp = async (before: Promise<void>): Promise<void> => {
    await before
    isDue = false
    await aggregate(cache, parts).catch((error: unknown) => {
      parts.log.error({ err: toError(error) }, 'cluster roles could not be aggregated')
    })
  }
  const prepare = async (): Promise<void> => {
    await ensureBootstrapRoles({ ...parts, admission }, parts)
    await cache.load()
  }
  const follow = async (prepared: Promise<void>): Promise<void> => {
    try {
      await prepared
      consider()
      await cache.run(signal, consider)
    } catch (error) {
      parts.log.error({ err: toError(error) }, 'roles could not be prepared')
    }
    await work
  }
  const ready = prepare()
  const done = follow(ready)
  return {
    authorizer,
    admission: refuseEscalation(authorizer, refuseApproval(authorizer, admission)),
    onChange: (listener) => void listeners.add(listener),
    ready,
    done,
  }
}
