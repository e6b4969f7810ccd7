import type { Blobs } from '../../blobs/blobs.ts'
import type { Client } from '../../client/client.ts'
import { createControllers } from '../../controllers/controllers.ts'
import type {
  AskGatePort,
  ControllerGroup,
  Controllers,
  DialectControllers,
  FetchSourcePort,
  PushedAgentsPort,
  RenderPort,
} from '../../controllers/controllers.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { HubTrust } from '../../wire/trust/hub-keys.ts'
import { signDocument } from '../../wire/document/signed-document.ts'
import { ensureNamespace, publishHubInfo, SYSTEM_NAMESPACE } from '../home/hub-info.ts'
import type { HubInfo } from '../home/hub-info.ts'
import type { HttpGet } from '../../source/http-get.ts'
import type { HubPorts } from '../ports.ts'

/** What the controllers need. */
export interface ControllerParts extends HubPorts {
  readonly client: Client
  /** If omitted, all. */
  readonly groups?: readonly ControllerGroup[]
  readonly blobs: Pick<Blobs, 'put' | 'get'>
  readonly render: RenderPort
  readonly fetchSource: FetchSourcePort
  readonly askGate: AskGatePort
  readonly httpGet?: HttpGet | undefined
  readonly pushedAgents?: PushedAgentsPort | undefined
  readonly trust: Pick<HubTrust, 'signer' | 'newest'>
  /** Without it the trust never changes while these controllers run. */
  readonly onTrustChange?: (changed: () => void) => () => void
  readonly metrics?: Metrics
  readonly dialects?: readonly DialectControllers[]
}

/** All controllers. */
export function composeControllers({ trust, ...parts }: ControllerParts): Controllers {
  return createControllers({
    ...parts,
    onTrustChange: parts.onTrustChange ?? (() => () => {}),
    sign: async (document) => signDocument(trust.signer, document),
    epoch: () => trust.newest.bundle.epoch,
    trustVersion: () => trust.newest.bundle.version,
  })
}

/** Says on the API how agents reach and recognise this hub. */
export async function announceHub(
  client: Client,
  trust: HubTrust,
  agent: Pick<HubInfo, 'agentBundle' | 'agentImage'>,
): Promise<void> {
  await ensureNamespace(client, SYSTEM_NAMESPACE)
  await publishHubInfo(client, {
    endpoints: trust.newest.bundle.endpoints,
    root: trust.root.keyId,
    ...agent,
  })
}
