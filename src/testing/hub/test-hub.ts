/**
 * A hub's agent side for tests: the embedded API, a gateway over it, trust, and hand-made Assignments instead of
 * controllers.
 */
import { compact } from '../../core/compact.ts'
import { createApiServer } from '../../apiserver/server/api-server.ts'
import type { ConnectHub, HubConnection } from '../../agent/link/hub-api.ts'
import { createMemoryBlobs } from '../../blobs/memory-blobs.ts'
import { createClient } from '../../client/create-client.ts'
import type { Client } from '../../client/client.ts'
import { concatBytes } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { isApiError } from '../../core/errors.ts'
import { bytesBody, readBody } from '../../core/http.ts'
import type { Caller, HttpResponse, Transport } from '../../core/http.ts'
import { createSealer } from '../../controllers/assignment-assemble/sealer.ts'
import { createSetFacts } from '../../controllers/assignment-assemble/set-facts.ts'
import { storeFiles, storeSet } from '../../controllers/bundle-render/store-set.ts'
import { canonicalJson } from '../../core/json.ts'
import { silentLogger } from '../../core/log.ts'
import { Secret } from '../../core/secret.ts'
import { formatTime } from '../../core/time/time.ts'
import { callerOfUnverified } from '../../gateway/caller.ts'
import { createGateway } from '../../gateway/create-gateway.ts'
import type { Gateway, GatewayOptions } from '../../gateway/create-gateway.ts'
import { installPolicies } from '../../hub/home/kube-home.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { JoinToken } from '../../kinds/native/join-token.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import type { AssembledEntry } from '../../plan/document/assemble-document.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import type { VirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import type { PreparedContent } from '../../render/bundle/prepare-content.ts'
import type { ClusterDocument, DocumentEntry, Tombstone } from '../../wire/document/cluster-document.ts'
import type { Signer } from '../../wire/trust/envelope.ts'
import { amendTrust, issueAgentCertificate, loadTrust, TRUST_FILES } from '../../wire/trust/hub-keys.ts'
import { formatJoinCode, tokenHash, tokenSecret } from '../../wire/trust/join-code.ts'
import type { FileChange } from '../../wire/trust/rotate-keys.ts'
import { ROUTES } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import { SEALED_FEATURE } from '../../wire/document/sealed-values.ts'
import { readTrustedDocument, signDocument } from '../../wire/document/signed-document.ts'
import { build } from '../fixtures/builders.ts'
import { buildTrust } from '../fixtures/wire-builders.ts'

/** Where the test hub says it listens. */
export const TEST_ENDPOINT = 'https://hub.example:7444'

/** What one bundle of an assignment holds: objects, and the generation they belong to. */
export interface TestBundle {
  readonly generation: number
  readonly objects?: readonly UnknownObject[]
  /** Instead of objects: what the agent renders. */
  readonly content?: PreparedContent
  readonly startBy?: string
  readonly attempt?: number
  readonly options?: BundleOptions
}

/** Where the objects of a test hub are, and the time that passes there. */
export interface TestHome {
  readonly clock: VirtualClock
  as(user: string): Transport
  close(): Promise<void>
}

/** An embedded API in memory, on a virtual clock unless told. */
export function embeddedHome(
  ids: ReturnType<typeof createSeededIds>,
  clock: VirtualClock = createVirtualClock(),
): TestHome {
  const store = createMemoryStore()
  const kinds = [...BUILTIN_KINDS, ...NATIVE_KINDS]
  const api = createApiServer({ store, clock, ids: ids.fork('api'), kinds, log: silentLogger })
  return {
    clock,
    as: (user) => {
      // The gateway has its own role and no more, as in a hub that runs.
      const caller: Caller = { user, groups: [user === 'admin' ? 'system:masters' : 'system:authenticated'] }
      return (request, signal) => api.handle(request, caller, signal)
    },
    async close() {
      await api.close()
      await store.close()
    },
  }
}

/** What a test wants otherwise. */
export interface TestHubOptions extends Pick<GatewayOptions, 'loadLimits'> {
  readonly home?: TestHome
}

/** Starts the agent side of a hub, on a virtual clock unless its home has another. */
export async function startTestHub(seed = 'hub', { home: givenHome, ...options }: TestHubOptions = {}) {
  const ids = createSeededIds(seed)
  const home = givenHome ?? embeddedHome(ids)
  const { clock, as } = home
  const client: Client = createClient({ transport: as('admin'), clock })
  await installPolicies(client, new AbortController().signal)
  const blobs = createMemoryBlobs()
  const built = buildTrust(1, [TEST_ENDPOINT])
  const trustFiles = built.files
  let { trust } = built
  let { signer } = trust
  const writes: string[] = []
  const gateways: Gateway[] = []
  const network = {
    up: true,
    /** Gateways by endpoint. All other endpoints are the first gateway. */
    at: new Map<string, Gateway>(),
    requests: [] as string[],
    /** Path → bytes of answers that arrived. */
    received: new Map<string, number>(),
    /** Something on the way keeps an answer until it is whole, as some proxies do. */
    buffers: false,
    /** The hub's API answers its gateways. */
    apiUp: true,
    /** How long each of its answers takes, and how many wait for one now and waited at most. */
    apiMs: 0,
    apiAsked: 0,
    apiAskedMost: 0,
    /** Requests for this path do not arrive. */
    refuses: undefined as string | undefined,
    /** A proxy on the way, or the hub itself, sends other bytes than requested. */
    bends: undefined as ((path: string, bytes: Uint8Array) => Uint8Array) | undefined,
    /** The next answers with a tag (long ones) break off after so many bytes. */
    cuts: [] as number[],
  }

  function whileReachable(transport: Transport): Transport {
    return async (request, signal) => {
      if (!network.apiUp) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      if (network.apiMs === 0) return transport(request, signal)
      network.apiAsked += 1
      network.apiAskedMost = Math.max(network.apiAskedMost, network.apiAsked)
      try {
        await clock.sleep(network.apiMs, signal)
        return await transport(request, signal)
      } finally {
        network.apiAsked -= 1
      }
    }
  }

  /** Another gateway of the same hub, which hears of the others through the API alone. */
  async function startGateway(name: string): Promise<Gateway> {
    const started = createGateway({
      ...options,
      name,
      client: createClient({ transport: recording(whileReachable(as('system:flotilla:gateway')), writes), clock }),
      blobs,
      clock,
      ids: ids.fork(`gateway${name === '0' ? '' : name}`),
      log: silentLogger,
      trust: () => trust,
      issueCertificate: async ({ clusterId, publicKey }) =>
        issueAgentCertificate(trust.transportCa, { clusterId, publicKey, serial: ids.bytes(16), now: clock.now() }),
    })
    gateways.push(started)
    const synced = started.whenReady(new AbortController().signal)
    await clock.advance(1000)
    await synced
    return started
  }
  const gateway = await startGateway('0')

  /** A new version of the trust bundle, as `flotilla trust` makes it. */
  function amend(changes: Parameters<typeof amendTrust>[1]): void {
    trustFiles[TRUST_FILES.bundles] = amendTrust(trust, changes, clock.now())
    trust = loadTrust((name) => trustFiles[name])
  }

  /** A transport as TLS would make it: the caller is what the certificate proves now. */
  const connect: ConnectHub = ({ certificate, endpoint }: HubConnection) => {
    const closed = new AbortController()
    return {
      transport: async (request, signal) => {
        if (!network.up || request.path.split('?')[0] === network.refuses) throw new Error('connect ECONNREFUSED')
        network.requests.push(`${request.method} ${request.path.split('?')[0]}`)
        const caller = callerOfUnverified(certificate, trust.newest.bundle.transportCas, clock.now())
        const ended = AbortSignal.any([signal, closed.signal])
        const answer = await (network.at.get(endpoint) ?? gateway).handle(request, caller, ended)
        const path = request.path.split('?')[0]!
        const { bends } = network
        if (network.buffers || (bends && path !== ROUTES.follow)) {
          const chunks: Uint8Array[] = []
          for await (const chunk of answer.body) chunks.push(chunk)
          ended.throwIfAborted()
          const bytes = concatBytes(chunks)
          return { ...answer, body: bytesBody(bends ? bends(path, bytes) : bytes) }
        }
        return { ...answer, body: whileUp(answer, path) }
      },
      close: async () => closed.abort(),
    }
  }

  async function* whileUp({ body, headers }: HttpResponse, path: string): AsyncIterable<Uint8Array> {
    const cut = headers['etag'] === undefined ? undefined : network.cuts.shift()
    let arrived = 0
    for await (const chunk of body) {
      for (let at = 0; at < chunk.byteLength; at += 512) {
        if (!network.up || (cut !== undefined && arrived >= cut)) throw new Error('read ECONNRESET')
        const piece = chunk.subarray(at, at + 512)
        arrived += piece.byteLength
        network.received.set(path, (network.received.get(path) ?? 0) + piece.byteLength)
        yield piece
      }
    }
  }

  /** One request with a certificate's authority, or with none. */
  async function ask(
    method: string,
    path: string,
    by: {
      readonly certificate?: string
      readonly body?: Uint8Array
      readonly address?: string
      readonly headers?: Readonly<Record<string, string>>
      /** The first one unless told. */
      readonly gateway?: Gateway
    } = {},
  ) {
    const proven = callerOfUnverified(by.certificate, trust.newest.bundle.transportCas, clock.now())
    const caller = compact({ ...proven, address: by.address })
    const request = { method, path, headers: by.headers ?? {}, ...(by.body ? { body: by.body } : {}) }
    const answer = await (by.gateway ?? gateway).handle(request, caller, new AbortController().signal)
    return { status: answer.status, text: await textOf(answer) }
  }

  /** A join token and its code. */
  async function token(name: string, spec: Partial<JoinToken['spec']> = {}): Promise<string> {
    const secret = tokenSecret(ids.bytes(32))
    const fields = {
      tokenHash: tokenHash(secret),
      expiresAt: formatTime(clock.now() + 3_600_000),
      uses: 1,
      labels: {},
      accept: 'Auto' as const,
      ...spec,
    }
    await client.create(JoinToken, build(JoinToken, name, { spec: fields }))
    return formatJoinCode({ endpoints: [TEST_ENDPOINT], root: trust.root.keyId, token: { name, secret } })
  }

  // The key of every bundle's secret values.
  const valuesKey = new Secret(new Uint8Array(32).fill(7))
  const valuesKeys = { of: async () => valuesKey, make: async () => valuesKey, forget: () => {} }
  const factsOf = createSetFacts(blobs)
  const seal = createSealer({ blobs, valuesKeys, factsOf })

  async function putSet(
    objects: readonly UnknownObject[],
    options?: BundleOptions,
    bundle = 'default/x',
  ): Promise<Digest> {
    const ports = { putBlob: (bytes: Uint8Array) => blobs.put(bytes), valuesKeyOf: valuesKeys.make }
    const stored = await storeSet({ bundle, options }, objects, ports)
    if ('problem' in stored) throw new Error(stored.problem)
    return stored.set
  }

  async function putFiles(content: PreparedContent, options?: BundleOptions): Promise<Digest> {
    return (await storeFiles(options, content, { putBlob: (bytes) => blobs.put(bytes) })).set
  }

  /** Writes the next document of a cluster, as the assembler would. */
  async function assign(
    name: string,
    bundles: Readonly<Record<string, TestBundle>>,
    overrides: Partial<ClusterDocument> & { readonly tombstones?: readonly Tombstone[] } = {},
  ): Promise<Digest> {
    const { tombstones = [], ...fields } = overrides
    const cluster = await client.get(Cluster, { name })
    const current = await client.get(Assignment, { name }).catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound')) throw caught
    })
    const assembled: AssembledEntry[] = []
    for (const [bundle, { generation, objects = [], content, startBy, attempt, options: how }] of Object.entries(
      bundles,
    )) {
      const set = content ? await putFiles(content, how) : await putSet(objects, how, bundle)
      const again = compact({ startBy, attempt })
      const entry = { bundle, generation, set, rollout: bundle, ...again }
      const sealed = await seal(cluster, entry, new AbortController().signal)
      assembled.push({ ...entry, ...(sealed ? { sealed } : {}) })
    }
    const entries: DocumentEntry[] = assembled.map(({ sealed, ...entry }) => ({
      ...entry,
      ...(sealed ? { sealed: sealed.values } : {}),
    }))
    const facts = await Promise.all(entries.map((entry) => factsOf(entry.set)))
    const needed = new Set(facts.flatMap((one) => one?.requires ?? []))
    const previous = current?.spec.document
    const before = previous && (await blobs.get(previous))
    const older = (before && readTrustedDocument(before)?.ancestors) ?? []
    const ancestors = previous && !('previous' in fields) ? [previous, ...older].slice(0, LIMITS.ancestors) : undefined
    const document: ClusterDocument = compact({
      format: 'flotilla.dev/document/v1',
      clusterId: cluster.spec.id,
      epoch: 1,
      revision: (current?.spec.revision ?? 0) + 1,
      previous,
      ancestors,
      issuedAt: formatTime(clock.now()),
      requires: ['sets/v1', ...(assembled.some(({ sealed }) => sealed) ? [SEALED_FEATURE] : []), ...needed],
      rules: { trustVersion: 1 },
      content: { entries, tombstones },
      ...fields,
    })
    const digest = await blobs.put(signDocument(signer, document))
    const spec = compact({
      clusterId: cluster.spec.id,
      epoch: document.epoch,
      revision: document.revision,
      document: digest,
      ...(document.terminal ? { terminal: true } : {}),
      previous,
      entries: assembled.map(({ startBy: _startBy, ...entry }) => entry),
    })
    if (current) await client.update(Assignment, { ...current, spec })
    else await client.create(Assignment, build(Assignment, name, { spec }))
    return digest
  }

  /** A certificate for any cluster id, without enrolment. */
  function certificateFor(clusterId: string): string {
    const request = { clusterId, publicKey: trust.root.publicKey, serial: ids.bytes(16), now: clock.now() }
    return issueAgentCertificate(trust.transportCa, request).certificate
  }

  async function close(): Promise<void> {
    let isClosed = false
    const closing = Promise.all(gateways.map((one) => one.close())).then(() => (isClosed = true))
    await clock.settle()
    // A gateway that cannot reach the API gives up closing its journal after five seconds.
    if (!isClosed) await clock.advance(6_000)
    await closing
    await home.close()
  }

  return {
    clock,
    ids,
    client,
    blobs,
    get trust() {
      return trust
    },
    amend,
    trustFiles,
    /** Writes a change of trust to the key folder, as `flotilla trust` does. */
    rotate(changes: readonly FileChange[]): void {
      for (const { name, text } of changes) trustFiles[name] = text
      trust = loadTrust((name) => trustFiles[name])
    },
    /** Documents made from now on are signed by this key. */
    signWith: (key: Signer) => (signer = key),
    gateway,
    startGateway,
    network,
    writes,
    connect,
    ask,
    token,
    putSet,
    assign,
    certificateFor,
    close,
  }
}

/** The agent side of a hub. */
export type TestHub = Awaited<ReturnType<typeof startTestHub>>

/** A ConfigMap. */
export function configMap(name: string, data: Record<string, string> = {}, namespace = 'default'): UnknownObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data }
}

/** A Secret, with its values as text. */
export function secretObject(name: string, stringData: Record<string, string>, namespace = 'default'): UnknownObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData }
}

/** A Deployment of one container. */
export function deployment(name: string, image = 'web:1', namespace = 'default'): UnknownObject {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } }
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace }, spec }
}

/** A Job that is a hook, or whatever its annotations say. */
export function hookJob(name: string, annotations: Record<string, string>, image = 'job:1'): UnknownObject {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image }] } }
  const metadata = { name, namespace: 'default', annotations }
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { backoffLimit: 0, template } }
}

/** The digest of an object's canonical JSON, as sets name it. */
export function objectDigest(object: UnknownObject): Digest {
  return digestOf(canonicalJson(object))
}

function recording(transport: Transport, writes: string[]): Transport {
  return (request, signal) => {
    if (request.method !== 'GET') writes.push(`${request.method} ${request.path.split('?')[0]}`)
    return transport(request, signal)
  }
}

async function textOf(answer: HttpResponse): Promise<string> {
  return new TextDecoder().decode(await readBody(answer.body, 16 * 1024 * 1024))
}
