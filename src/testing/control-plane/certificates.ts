// Certificates of a control plane for tests: a root of its own, short-lived, made in memory.
import { generateKeyPair } from '../../core/bytes.ts'
import { systemIds } from '../../core/system-ids.ts'
import { type CertificateAndKey, type CertificateKind, issueCertificate, selfSignedCa } from '../../core/crypto/x509.ts'

const HOUR_MS = 3_600_000
const LOOPBACK = ['127.0.0.1', '::1', 'localhost', 'kubernetes.default.svc']

/** Issues the certificates of one control plane. */
export interface Authority {
  /** PEM. */
  readonly certificate: string
  /** A server certificate for the loopback addresses, Kubernetes' own service names and other addresses. */
  server(addresses?: readonly string[]): CertificateAndKey
  /** A client certificate: Kubernetes reads the common name as the user and the organisations as groups. */
  client(user: string, groups: readonly string[]): CertificateAndKey
}

/** A new root, valid from an hour ago for a day. */
export function newAuthority(): Authority {
  const now = Date.now()
  const validity = { notBefore: now - HOUR_MS, notAfter: now + 24 * HOUR_MS }
  const { privateKey } = generateKeyPair('p256')
  const subject = { commonName: 'flotilla-test-root', organizations: [] }
  const certificate = selfSignedCa({ privateKey, subject, serial: systemIds.bytes(16), ...validity })
  const issue = (
    kind: CertificateKind,
    user: string,
    names: { readonly groups?: readonly string[]; readonly sans?: readonly string[] },
  ): CertificateAndKey => {
    const keys = generateKeyPair('p256')
    const leaf = issueCertificate({
      issuer: { certificate, privateKey },
      subject: { commonName: user, organizations: names.groups ?? [] },
      publicKey: keys.publicKey,
      serial: systemIds.bytes(16),
      kind,
      sans: names.sans ?? [],
      ...validity,
    })
    return { certificate: leaf, privateKey: keys.privateKey }
  }
  return {
    certificate,
    server: (addresses = []) => issue('server', 'kube-apiserver', { sans: [...LOOPBACK, ...addresses] }),
    client: (user, groups) => issue('client', user, { groups }),
  }
}
