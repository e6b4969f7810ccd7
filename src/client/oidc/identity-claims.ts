/** Reads user and groups from the claims of an ID token, as kube-apiserver does with a username and groups prefix. */
import type { JsonObject } from '../../core/json.ts'
import { OIDC_PREFIX } from './oidc-settings.ts'
import type { OidcSettings } from './oidc-settings.ts'

export type ClaimedIdentity =
  | { readonly username: string; readonly groups: readonly string[] }
  | { readonly problem: string }

const MAX_GROUPS = 1000
const MAX_NAME = 1000

/** The identity that verified claims stand for, or why they stand for none. */
export function readIdentity(
  claims: JsonObject,
  { usernameClaim, groupsClaim }: Pick<OidcSettings, 'usernameClaim' | 'groupsClaim'>,
): ClaimedIdentity {
  const name = claims[usernameClaim]
  if (!isName(name)) return { problem: `the token has no claim ${JSON.stringify(usernameClaim)} with a name` }
  if (usernameClaim === 'email' && 'email_verified' in claims && claims['email_verified'] !== true) {
    return { problem: 'the issuer has not verified the email address' }
  }
  const found = claims[groupsClaim] ?? []
  const groups = Array.isArray(found) ? found : [found]
  if (groups.length > MAX_GROUPS || !groups.every(isName)) {
    return { problem: `the claim ${JSON.stringify(groupsClaim)} is not a list of up to ${MAX_GROUPS} names` }
  }
  return { username: `${OIDC_PREFIX}${name}`, groups: groups.map((group) => `${OIDC_PREFIX}${group}`) }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME && !/\p{Cc}/u.test(value)
}
