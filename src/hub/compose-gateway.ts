import type { CertificateAndKey } from '../core/x509.ts'
import { createGateway } from '../gateway/create-gateway.ts'
import type { Gateway, GatewayOptions } from '../gateway/create-gateway.ts'
import { issueAgentCertificate } from '../wire/hub-trust.ts'
import type { HubTrust } from '../wire/hub-trust.ts'
import type { HubPorts } from './ports.ts'

/** What a gateway needs; it gets the transport CA and no key that signs documents. */
export interface GatewayParts extends HubPorts, Pick<GatewayOptions, 'name' | 'client' | 'blobs' | 'agentBundle'> {
  readonly trust: Pick<HubTrust, 'root' | 'envelopes' | 'newest'>
  readonly transportCa: CertificateAndKey
}

/** The gateway. */
export function composeGateway({ trust, transportCa, ...parts }: GatewayParts): Gateway {
  const { ids, clock } = parts
  return createGateway({
    ...parts,
    trust: () => trust,
    issueCertificate: async ({ clusterId, publicKey }) =>
      issueAgentCertificate(transportCa, { clusterId, publicKey, serial: ids.bytes(16), now: clock.now() }),
  })
}
