import type { AuthorizationAttributes } from '../http/api-errors.ts'

/** Who may do what; `rbac/` decides it. */

/** The answer of an authorizer; the reason is for people, and may say why a yes as well as why a no. */
export interface Decision {
  readonly allowed: boolean
  readonly reason?: string
}

/** Decides whether an attempt is allowed. */
export interface Authorizer {
  authorize(attempt: AuthorizationAttributes): Promise<Decision>
}
