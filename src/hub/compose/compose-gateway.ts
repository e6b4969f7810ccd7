import type { CertificateAndKey } from '../../core/crypto/x509.ts'
import { createGateway } from '../../gateway/create-gateway.ts'
import type { Gateway, GatewayOptions } from '../../gateway/create-gateway.ts'
import { issueAgentCertificate } from '../../wire/trust/hub-keys.ts'
import type { HubPorts } from '../ports.ts'

/** What a gateway needs; it gets the transport CA and no key that signs documents. */
export interface GatewayParts
  extends
    HubPorts,
    Pick<GatewayOptions, 'name' | 'client' | 'blobs' | 'agentBundle' | 'evidenceRetentionMs' | 'maintenance'> {
  /** Asked with each use: trust changes while a hub runs. */
  readonly trust: GatewayOptions['trust']
  readonly transportCa: () => CertificateAndKey
}

/** The gateway. */
export function composeGateway({ transportCa, ...parts }: GatewayParts): Gateway {
  const { ids, clock } = parts
  return createGateway({
    ...parts,
    issueCertificate: async ({ clusterId, publicKey }) =>
      issueAgentCertificate(transportCa(), { clusterId, publicKey, serial: ids.bytes(16), now: clock.now() }),
  })
}
