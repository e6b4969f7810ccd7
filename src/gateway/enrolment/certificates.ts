/** Client certificates and sealing keys of accepted clusters. */
import type { Client } from '../../client/client.ts'
import { DerError } from '../../core/crypto/der.ts'
import { parseSigningRequest } from '../../core/crypto/x509.ts'
import { ApiError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import { formatTime } from '../../core/time/time.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import type { IssuedCertificate } from '../../wire/trust/hub-keys.ts'

/** Signs a client certificate for a cluster's agent with the key of the transport CA. */
export type IssueCertificate = (request: {
  readonly clusterId: string
  /** SPKI PEM. */
  readonly publicKey: string
}) => Promise<IssuedCertificate>

export interface CertificatePorts {
  readonly client: Client
  readonly log: Logger
  readonly issueCertificate: IssueCertificate
}

export function createCertificates({ client, log, issueCertificate }: CertificatePorts) {
  return {
    /** Issues a certificate for a signing request and records it in the Cluster's status. */
    async issue(cluster: Cluster, csr: string): Promise<string> {
      const { id } = cluster.spec
      const issued = await issueCertificate({ clusterId: id, publicKey: readRequestedKey(csr, id) })
      const certificate = { notAfter: formatTime(issued.notAfter), fingerprint: issued.fingerprint }
      const key = { name: cluster.metadata.name }
      await client.patch(Cluster, key, { type: 'merge', body: { status: { certificate } } }, { subresource: 'status' })
      log.info({ cluster: key.name, id, notAfter: certificate.notAfter }, 'certificate issued')
      return issued.certificate
    },
    /** Records a new sealing key, which the identity key has signed. The hub then seals the cluster's values again. */
    async recordSealingKey({ metadata, spec }: Cluster, sealingKey: string | undefined): Promise<void> {
      if (sealingKey === undefined || sealingKey === spec.sealingKey) return
      await client.patch(Cluster, { name: metadata.name }, { type: 'merge', body: { spec: { sealingKey } } })
      log.info({ cluster: metadata.name, id: spec.id }, 'new sealing key')
    },
  }
}

// The common name must equal the whole id, and no organization may stand beside it: `prod1` never gets a certificate
// for
// `prod10`, nor a second group.
function readRequestedKey(csr: string, clusterId: string): string {
  try {
    const { subject, publicKey } = parseSigningRequest(csr)
    if (subject.commonName !== clusterId || subject.organizations.length > 0) {
      throw new ApiError('Forbidden', `signing request: the subject must be CN=${clusterId} and nothing else`)
    }
    return publicKey
  } catch (caught) {
    if (caught instanceof DerError) throw new ApiError('BadRequest', `signing request: ${caught.message}`)
    throw caught
  }
}
