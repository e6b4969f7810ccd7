/**
 * Enrolment and renewal. A join token and a proven identity key register a Cluster; an accepted Cluster receives client
 * certificates.
 */
import type { Client } from '../../client/client.ts'
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { ApiError, isApiError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import type { JoinToken } from '../../kinds/native/join-token.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import { SITE_CLASS_TIMES } from '../../kinds/fields/site-class.ts'
import { isOlderVersion, tooOldMessage } from '../../wire/trust/agent-version.ts'
import { openEnvelope, PAYLOAD, trustedKey, unverifiedPayload } from '../../wire/trust/envelope.ts'
import { EnrolRequest, LastRequest, RenewRequest } from '../../wire/link/frames.ts'
import type { EnrolAnswer, RenewAnswer } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import { readPublicKey } from '../../wire/trust/trust-bundle.ts'
import { parseJson } from '../../wire/validate.ts'
import { createCertificates } from './certificates.ts'
import type { IssueCertificate } from './certificates.ts'
import { isAutoAccepted, consumeToken, findToken, joiningName, checkTokenNetwork } from './join-tokens.ts'

export interface EnrolmentPorts {
  readonly client: Client
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** Digest of the hub's root key. Requests that name another root are refused. */
  readonly root: () => string
  /** The oldest agent version that may join. Agents that have joined read it from the trust bundle. */
  readonly minAgentVersion: () => string
  readonly issueCertificate: IssueCertificate
  /** Why no cluster is registered now. */
  readonly maintenance: () => string | undefined
  readonly clusterById: (id: string) => Cluster | undefined
}

/** A request to enrol with a valid signature, and the registered cluster that has its key. */
interface OpenEnrol {
  readonly request: EnrolRequest
  readonly cluster: Cluster | undefined
}

/** A request to renew that the identity key of the cluster has signed. */
interface OpenRenew {
  readonly request: RenewRequest
  readonly cluster: Cluster
}

/** How a request to enrol came. */
interface Joining {
  readonly token: JoinToken
  readonly address: string | undefined
  readonly signal: AbortSignal
}

// A person accepts within minutes; until then each retry of the agent costs one read.
const PENDING_RETRY_SECONDS = 5
const MAINTENANCE_RETRY_SECONDS = 15

export function createEnrolment(ports: EnrolmentPorts) {
  const { client, clock, ids, log } = ports
  const certificates = createCertificates(ports)

  /** `address` is the agent's address as the listener's socket knows it. */
  async function enrol(
    { request, cluster: known }: OpenEnrol,
    address: string | undefined,
    signal: AbortSignal,
  ): Promise<EnrolAnswer> {
    if (known) {
      if (isClusterAccepted(known)) await certificates.recordSealingKey(known, request.sealingKey)
      return answer(known, request.csr)
    }
    const maintenance = ports.maintenance()
    if (maintenance !== undefined) {
      const message = `the hub is in maintenance and registers no clusters: ${maintenance}`
      throw new ApiError('ServiceUnavailable', message, { retryAfterSeconds: MAINTENANCE_RETRY_SECONDS })
    }
    const token = await findToken(client, request.token, signal)
    checkTokenNetwork(token, address)
    const name = joiningName(token, request.clusterName)
    const cluster =
      (await findRegistered(name, request, { token, address, signal })) ??
      (await register(name, request, { token, address, signal }))
    return answer(cluster, request.csr)
  }

  async function findRegistered(name: string, request: EnrolRequest, joining: Joining): Promise<Cluster | undefined> {
    const { token, signal } = joining
    const cluster = await client.get(Cluster, { name }, signal).catch((caught: unknown) => {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    })
    if (cluster && cluster.spec.identityKey !== request.identityKey) {
      if (cluster.spec.kubeconfigSecret && token.spec.takeOver && token.spec.clusterName === name)
        return await waitForTakeOver(cluster, request, joining)
      log.warn({ cluster: name }, 'enrolment refused: the name belongs to a cluster with another key')
      throw new ApiError(
        'AlreadyExists',
        `cluster "${name}" is already registered with another key; choose another name, or delete the registered cluster first`,
      )
    }
    return cluster
  }

  /** Counts the use of the token before the Cluster is written: after a crash, only the same key can continue it. */
  async function consume(name: string, request: EnrolRequest, { token, address }: Joining): Promise<void> {
    const { identityKey, sealingKey } = request
    await consumeToken(client, token, {
      cluster: name,
      key: digestOf(identityKey),
      now: clock.now(),
      ...compact({ address }),
      ...(token.spec.takeOver && { takeOver: { identityKey, sealingKey } }),
    })
  }

  /** The gateway never replaces an identity: it records the keys, and the controller of pushed agents follows. */
  async function waitForTakeOver(cluster: Cluster, request: EnrolRequest, joining: Joining): Promise<Cluster> {
    await consume(cluster.metadata.name, request, joining)
    log.info({ cluster: cluster.metadata.name }, 'an agent in the cluster takes over from the agent of the hub')
    return { ...cluster, spec: { ...cluster.spec, accepted: false } }
  }

  async function register(name: string, request: EnrolRequest, joining: Joining): Promise<Cluster> {
    const { token, address } = joining
    await consume(name, request, joining)
    const cluster: Cluster = {
      apiVersion: apiVersionOf(Cluster),
      kind: Cluster.kind,
      metadata: { name, labels: { ...token.spec.labels } },
      spec: {
        id: `c-${ids.suffix(12)}`,
        accepted: isAutoAccepted(token, { name, address, agentVersion: request.agentVersion }),
        identityKey: request.identityKey,
        sealingKey: request.sealingKey,
        joinToken: token.metadata.name,
        ...compact({ siteClass: token.spec.siteClass }),
        ...SITE_CLASS_TIMES[token.spec.siteClass ?? 'Connected'],
      },
    }
    try {
      const created = await client.create(Cluster, cluster)
      log.info({ cluster: name, id: created.spec.id, accepted: created.spec.accepted }, 'cluster enrolled')
      return created
    } catch (caught) {
      if (!isApiError(caught, 'AlreadyExists')) throw caught
      const raced = await findRegistered(name, request, joining)
      if (raced) return raced
      throw caught
    }
  }

  async function answer(cluster: Cluster, csr: string | undefined): Promise<EnrolAnswer> {
    const { id, accepted } = cluster.spec
    if (cluster.spec.refused) throw notAccepted(cluster.metadata.name)
    const base = { clusterId: id, clusterName: cluster.metadata.name }
    if (!accepted) return { ...base, state: 'Pending', retryAfterSeconds: PENDING_RETRY_SECONDS }
    if (csr === undefined) return { ...base, state: 'Accepted' }
    return { ...base, state: 'Accepted', certificate: await certificates.issue(cluster, csr) }
  }

  async function renew({ request: claimed, cluster }: OpenRenew): Promise<RenewAnswer> {
    if (!isClusterAccepted(cluster)) throw notAccepted(cluster.metadata.name)
    await certificates.recordSealingKey(cluster, claimed.sealingKey)
    return { certificate: await certificates.issue(cluster, claimed.csr) }
  }

  return { ...createRequestReaders(ports), enrol, renew }
}

/** Reads signed requests and verifies them. Nothing here asks the hub's API. */
function createRequestReaders(ports: EnrolmentPorts) {
  /** Verifies a request to enrol. Its key is that of the cluster, if the cluster is registered. */
  function openEnrol(body: Uint8Array): OpenEnrol {
    const request = openEnrolRequest(body)
    refuseOtherHub(request.root, ports.root())
    const least = ports.minAgentVersion()
    if (isOlderVersion(request.agentVersion, least)) {
      throw new ApiError('Forbidden', tooOldMessage(request.agentVersion, least))
    }
    const known = request.clusterId === undefined ? undefined : ports.clusterById(request.clusterId)
    return { request, cluster: known?.spec.identityKey === request.identityKey ? known : undefined }
  }

  /** `callerId` is the id that the client certificate of the request proves; undefined without a certificate. */
  function openRenew(body: Uint8Array, callerId: string | undefined): OpenRenew {
    const limits = { what: 'renew request', maxBytes: LIMITS.requestBytes }
    const claimed = parseJson(RenewRequest, unverifiedPayload(body), limits)
    refuseOtherHub(claimed.root, ports.root())
    const cluster = ports.clusterById(claimed.clusterId)
    if (!cluster || (callerId !== undefined && callerId !== claimed.clusterId)) throw unknownCluster()
    openEnvelope(body, PAYLOAD.renew, [trustedKey(readPublicKey(cluster.spec.identityKey))])
    return { request: claimed, cluster }
  }

  /** The cluster whose identity key signed a request for the last document. Checks no more than the signature. */
  function openLast(body: Uint8Array): { readonly cluster: Cluster } {
    const limits = { what: 'request', maxBytes: LIMITS.requestBytes }
    const claimed = parseJson(LastRequest, unverifiedPayload(body), limits)
    refuseOtherHub(claimed.root, ports.root())
    const cluster = ports.clusterById(claimed.clusterId)
    if (!cluster) throw unknownCluster()
    openEnvelope(body, PAYLOAD.last, [trustedKey(readPublicKey(cluster.spec.identityKey))])
    return { cluster }
  }

  return { openEnrol, openRenew, openLast }
}

export type Enrolment = ReturnType<typeof createEnrolment>

/** Whether the cluster may have certificates and content: accepted, and not rejected or revoked since. */
export function isClusterAccepted({ spec }: Cluster): boolean {
  return spec.accepted && spec.refused === undefined
}

/** The refusal for certificates of clusters that are not registered, or no longer. */
export function unknownCluster(): ApiError {
  return new ApiError('Unauthorized', 'the cluster is not registered with this hub; it may have been deleted')
}

/** The same refusal for pending, rejected and revoked clusters: the agent does not learn which applies, nor why. */
export function notAccepted(name: string): ApiError {
  return new ApiError(
    'Forbidden',
    `cluster "${name}" is not accepted; accept it with "flotilla cluster accept ${name}"`,
  )
}

// The payload names its own key; the signature must be by this key.
function openEnrolRequest(body: Uint8Array): EnrolRequest {
  const limits = { what: 'enrol request', maxBytes: LIMITS.requestBytes }
  const claimed = parseJson(EnrolRequest, unverifiedPayload(body), limits)
  openEnvelope(body, PAYLOAD.enrol, [trustedKey(readPublicKey(claimed.identityKey))])
  return claimed
}

function refuseOtherHub(asked: string, root: string): void {
  if (asked !== root)
    throw new ApiError('BadRequest', `the request is for the hub with root ${asked}; this hub has root ${root}`)
}
