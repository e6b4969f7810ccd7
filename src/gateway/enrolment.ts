/** Enrolment and renewal: a token and a proven key become a Cluster; an accepted Cluster's key becomes a certificate. */
import type { Client } from '../client/client.ts'
import type { Clock } from '../core/time/clock.ts'
import { DerError } from '../core/crypto/der.ts'
import { digestOf } from '../core/crypto/digest.ts'
import { ApiError, isApiError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import { formatTime } from '../core/time/time.ts'
import { parseSigningRequest } from '../core/crypto/x509.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import type { JoinToken } from '../kinds/native/join-token.ts'
import { apiVersionOf } from '../kinds/meta.ts'
import { SITE_CLASS_TIMES } from '../kinds/fields/site-class.ts'
import { isOlderVersion, tooOldMessage } from '../wire/trust/agent-version.ts'
import { openEnvelope, PAYLOAD, trustedKey, unverifiedPayload } from '../wire/trust/envelope.ts'
import { EnrolRequest, LastRequest, RenewRequest } from '../wire/link/frames.ts'
import type { EnrolAnswer, RenewAnswer } from '../wire/link/frames.ts'
import type { IssuedCertificate } from '../wire/trust/hub-keys.ts'
import { LIMITS } from '../wire/limits.ts'
import { readPublicKey } from '../wire/trust/trust-bundle.ts'
import { parseJson } from '../wire/validate.ts'
import { isAutoAccepted, consumeToken, findToken, nameFor, checkTokenNetwork } from './join-tokens.ts'

/** Signs a certificate for a cluster's agent; the transport CA's key is behind it. */
export type IssueCertificate = (request: {
  readonly clusterId: string
  /** SPKI PEM. */
  readonly publicKey: string
}) => Promise<IssuedCertificate>

/** What enrolment needs. */
export interface EnrolPorts {
  readonly client: Client
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** Digest of the hub's root key: requests for another hub are refused. */
  readonly root: () => string
  /** The oldest agent that may join; what has joined is told by the trust bundle. */
  readonly minAgentVersion: () => string
  readonly issueCertificate: IssueCertificate
  readonly clusterById: (id: string) => Cluster | undefined
}

// A person needs minutes; an agent that asks every few seconds costs one read each.
const PENDING_RETRY_SECONDS = 5

/** Answers enrol and renew requests. */
export function createEnrolment(ports: EnrolPorts) {
  const { client, clock, ids, log } = ports

  /** `address` is where the listener's socket says the agent is. */
  async function enrol(body: Uint8Array, address: string | undefined, signal: AbortSignal): Promise<EnrolAnswer> {
    const request = openEnrolRequest(body)
    refuseOtherHub(request.root, ports.root())
    const least = ports.minAgentVersion()
    if (isOlderVersion(request.agentVersion, least)) {
      throw new ApiError('Forbidden', tooOldMessage(request.agentVersion, least))
    }
    const known = request.clusterId === undefined ? undefined : ports.clusterById(request.clusterId)
    if (known && known.spec.identityKey === request.identityKey) {
      if (isClusterAccepted(known)) await noteSealingKey(known, request.sealingKey)
      return answer(known, request.csr)
    }
    const token = await findToken(client, request.token, signal)
    checkTokenNetwork(token, address)
    const name = nameFor(token, request.clusterName)
    const cluster = (await existing(name, request, signal)) ?? (await admit(name, request, { token, address, signal }))
    return answer(cluster, request.csr)
  }

  async function existing(name: string, request: EnrolRequest, signal: AbortSignal): Promise<Cluster | undefined> {
    const cluster = await client.get(Cluster, { name }, signal).catch((caught: unknown) => {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    })
    if (cluster && cluster.spec.identityKey !== request.identityKey) {
      log.warn({ cluster: name }, 'enrolment refused: the name is taken by another key')
      throw new ApiError(
        'AlreadyExists',
        `a cluster named ${name} is already registered with another key; choose another name, or delete the old cluster first`,
      )
    }
    return cluster
  }

  async function admit(
    name: string,
    request: EnrolRequest,
    { token, address, signal }: { token: JoinToken; address: string | undefined; signal: AbortSignal },
  ): Promise<Cluster> {
    // The token first: a crash after it leaves a use that only this very key can pick up again.
    const now = clock.now()
    const from = address === undefined ? {} : { address }
    await consumeToken(client, token, { cluster: name, key: digestOf(request.identityKey), now, ...from })
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
        ...(token.spec.siteClass ? { siteClass: token.spec.siteClass } : {}),
        ...SITE_CLASS_TIMES[token.spec.siteClass ?? 'Connected'],
      },
    }
    try {
      const created = await client.create(Cluster, cluster)
      log.info({ cluster: name, id: created.spec.id, accepted: created.spec.accepted }, 'cluster enrolled')
      return created
    } catch (caught) {
      if (!isApiError(caught, 'AlreadyExists')) throw caught
      const raced = await existing(name, request, signal)
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
    return { ...base, state: 'Accepted', certificate: await certify(cluster, csr) }
  }

  async function certify(cluster: Cluster, csr: string): Promise<string> {
    const { id } = cluster.spec
    const issued = await ports.issueCertificate({ clusterId: id, publicKey: keyOfRequest(csr, id) })
    const certificate = { notAfter: formatTime(issued.notAfter), fingerprint: issued.fingerprint }
    const key = { name: cluster.metadata.name }
    await client.patch(Cluster, key, { type: 'merge', body: { status: { certificate } } }, { subresource: 'status' })
    log.info({ cluster: key.name, id, notAfter: certificate.notAfter }, 'certificate issued')
    return issued.certificate
  }

  /** An agent's new sealing key, proven by its identity key: the assembler seals what it should open again. */
  async function noteSealingKey({ metadata, spec }: Cluster, sealingKey: string | undefined): Promise<void> {
    if (sealingKey === undefined || sealingKey === spec.sealingKey) return
    await client.patch(Cluster, { name: metadata.name }, { type: 'merge', body: { spec: { sealingKey } } })
    log.info({ cluster: metadata.name, id: spec.id }, 'new sealing key')
  }

  /** `callerId` is the id the request's own certificate proved, if any. */
  async function renew(body: Uint8Array, callerId: string | undefined): Promise<RenewAnswer> {
    const limits = { what: 'renew request', maxBytes: LIMITS.requestBytes }
    const claimed = parseJson(RenewRequest, unverifiedPayload(body), limits)
    refuseOtherHub(claimed.root, ports.root())
    const cluster = ports.clusterById(claimed.clusterId)
    if (!cluster || (callerId !== undefined && callerId !== claimed.clusterId)) throw unknownCluster()
    openEnvelope(body, PAYLOAD.renew, [trustedKey(readPublicKey(cluster.spec.identityKey))])
    if (!isClusterAccepted(cluster)) throw notAccepted(cluster.metadata.name)
    await noteSealingKey(cluster, claimed.sealingKey)
    return { certificate: await certify(cluster, claimed.csr) }
  }

  /** The cluster that asks for its last document, proven by its identity key alone; whether there is one is for the caller to see. */
  function provenByIdentity(body: Uint8Array): Cluster {
    const limits = { what: 'request', maxBytes: LIMITS.requestBytes }
    const claimed = parseJson(LastRequest, unverifiedPayload(body), limits)
    refuseOtherHub(claimed.root, ports.root())
    const cluster = ports.clusterById(claimed.clusterId)
    if (!cluster) throw unknownCluster()
    openEnvelope(body, PAYLOAD.last, [trustedKey(readPublicKey(cluster.spec.identityKey))])
    return cluster
  }

  return { enrol, renew, provenByIdentity }
}

/** Whether the cluster may have certificates and content: accepted, and not turned away since. */
export function isClusterAccepted({ spec }: Cluster): boolean {
  return spec.accepted && spec.refused === undefined
}

/** The refusal for certificates of clusters that are not registered (any more). */
export function unknownCluster(): ApiError {
  return new ApiError('Unauthorized', 'this hub does not know the cluster; it may have been deleted')
}

/** The one refusal for clusters that nobody accepted, that were rejected or that were revoked: the agent is not told which, nor why. */
export function notAccepted(name: string): ApiError {
  return new ApiError('Forbidden', `cluster ${name} is not accepted; accept it with "flotilla cluster accept ${name}"`)
}

// The payload names its own key, so read it, then insist that this key signed it.
function openEnrolRequest(body: Uint8Array): EnrolRequest {
  const limits = { what: 'enrol request', maxBytes: LIMITS.requestBytes }
  const claimed = parseJson(EnrolRequest, unverifiedPayload(body), limits)
  openEnvelope(body, PAYLOAD.enrol, [trustedKey(readPublicKey(claimed.identityKey))])
  return claimed
}

function refuseOtherHub(asked: string, root: string): void {
  if (asked !== root)
    throw new ApiError('BadRequest', `this request is for the hub with root ${asked}, this one has ${root}`)
}

// The common name is the whole id and there is nothing beside it: `prod1` never gets a certificate for `prod10`, nor a second group.
function keyOfRequest(csr: string, clusterId: string): string {
  try {
    const { subject, publicKey } = parseSigningRequest(csr)
    if (subject.commonName !== clusterId || subject.organizations.length > 0) {
      throw new ApiError('Forbidden', 'the signing request is not for this cluster')
    }
    return publicKey
  } catch (caught) {
    if (caught instanceof DerError) throw new ApiError('BadRequest', `signing request: ${caught.message}`)
    throw caught
  }
}
