/** The policy of a check, as far as the agent needs it between evaluations. */
import type { UnknownObject } from '../../kinds/meta.ts'
import { readConfigurationPolicy } from '../../plan/policy/configuration-policy.ts'
import type { ConfigurationPolicy } from '../../plan/policy/configuration-policy.ts'
import { goValue } from '../../plan/policy/go-value.ts'
import type { GoObject } from '../../plan/policy/go-value.ts'

/** Kinds of checks that the agent evaluates. */
export const CHECK_KINDS = ['ConfigurationPolicy', 'CertificatePolicy'] as const

/** The policy as it is evaluated, for its interval and its repairs. */
export function policyOf(check: UnknownObject): ConfigurationPolicy {
  return readConfigurationPolicy(goValue(check) as GoObject)
}
