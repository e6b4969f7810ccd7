/** Who an agent is, from its certificate alone. Identity is compared whole; nothing of the request counts. */
import type { Caller } from '../core/http.ts'
import { parseCertificate, wasIssuedBy } from '../core/crypto/x509.ts'
import { AGENT_ORGANIZATION } from '../wire/trust/hub-keys.ts'

/** A caller without a valid agent certificate. It may read the trust bundle, enrol and renew. */
export const ANONYMOUS: Caller = { user: 'system:anonymous', groups: ['system:unauthenticated'] }

const PREFIX = 'cluster:'

/**
 * The caller of a verified certificate. Certificates that are not an agent's, or not only an agent's, are anonymous.
 */
export function callerOfCertificate(pem: string): Caller {
  const { subject, isCa } = parseCertificate(pem)
  const isAgent = subject.organizations.length === 1 && subject.organizations[0] === AGENT_ORGANIZATION && !isCa
  return isAgent ? { user: `${PREFIX}${subject.commonName}`, groups: [AGENT_ORGANIZATION] } : ANONYMOUS
}

/** For transports without TLS (simulations): checks issuer and validity first, as a TLS stack does. */
export function callerOfUnverified(pem: string | undefined, cas: readonly string[], now: number): Caller {
  if (pem === undefined) return ANONYMOUS
  const { notBefore, notAfter } = parseCertificate(pem)
  const valid = notBefore <= now && now <= notAfter && cas.some((ca) => wasIssuedBy(pem, ca))
  return valid ? callerOfCertificate(pem) : ANONYMOUS
}

/** The cluster id of a proven agent; undefined for other callers. */
export function clusterIdOf(caller: Caller): string | undefined {
  return caller.groups.includes(AGENT_ORGANIZATION) && caller.user.startsWith(PREFIX)
    ? caller.user.slice(PREFIX.length)
    : undefined
}
