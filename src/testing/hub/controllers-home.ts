/** All controllers over a real embedded API in memory, in virtual time; agents are played by the test. */
import type { HttpGet } from '../../source/http-get.ts'
import { SourceError } from '../../source/source-error.ts'
import assert from 'node:assert/strict'
import { compact } from '../../core/compact.ts'
import { CONTROLLERS_USER } from '../../apiserver/rbac/controller-rules.ts'
import { createApiServer } from '../../apiserver/server/api-server.ts'
import type { CollectableBlobs } from '../../blobs/blobs.ts'
import { createMemoryBlobs } from '../../blobs/memory-blobs.ts'
import type { Client } from '../../client/client.ts'
import { createClient } from '../../client/create-client.ts'
import { createRest } from '../../client/rest.ts'
import type { Rest } from '../../client/rest.ts'
import { CONTROLLER_GROUPS, createControllers } from '../../controllers/controllers.ts'
import type {
  AskGatePort,
  ControllerGroup,
  ControllersOptions,
  FetchSourcePort,
  PushedAgentsPort,
  RenderPort,
} from '../../controllers/controllers.ts'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import type { Transport } from '../../core/http.ts'
import { canonicalJson } from '../../core/json.ts'
import { isApiError } from '../../core/errors.ts'
import { silentLogger } from '../../core/log.ts'
import { formatTime } from '../../core/time/time.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import { Lease } from '../../kinds/builtin/coordination.ts'
import { Namespace } from '../../kinds/builtin/core.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import { dialectControllers, installDialects } from '../../hub/home/dialects.ts'
import { installFirstProjects } from '../../hub/home/first-projects.ts'
import { createBundleRenderer } from '../../hub/compose/bundle-renderer.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import type { VirtualClock } from '../../sim/kernel/virtual-clock.ts'
import type { FetchRequest } from '../../source/fetch-request.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import type { Store } from '../../store/store.ts'
import type { ClusterDocument } from '../../wire/document/cluster-document.ts'
import { formatLiveness, LIVENESS_ANNOTATION, LIVENESS_LABEL, LIVENESS_NAMESPACE } from '../../wire/link/liveness.ts'
import { build } from '../fixtures/builders.ts'
import type { DialectName } from '../../hub/home/dialect-names.ts'
import { rightsNoter } from './used-rights.ts'
import type { UsedRights } from './used-rights.ts'

/** A running home and the handles a test needs. */
export interface ControllersHome {
  readonly clock: VirtualClock
  readonly client: Client
  /** The API as a command of the CLI reads it. */
  readonly rest: Rest
  /** The API as a user of these groups, with the rights that roles give and no more. */
  as(user: string, ...groups: readonly string[]): Transport
  /** `METHOD path` of every write, in order. */
  readonly writes: string[]
  /** The API as the controllers' user. */
  readonly self: Client
  /** Rights that the controllers used, and the requests that were denied. */
  readonly rights: UsedRights
  /** How often a bundle was rendered. */
  rendered(): number
  /** What was asked of sources, in order. */
  readonly fetches: readonly FetchRequest[]
  /** Plays the world of sources. */
  serveSources(fetchSource: FetchSourcePort): void
  /** Puts something between the controllers and the renderer. */
  serveRenders(wrap: (render: RenderPort) => RenderPort): void
  /** Plays the world of gates. */
  serveGates(askGate: AskGatePort): void
  /** Answers what dialects ask git services. */
  serveHttp(httpGet: HttpGet): void
  readonly blobs: CollectableBlobs
  create<T extends KubeObject>(object: T, type: ResourceType<T>): Promise<T>
  find<T extends KubeObject>(type: ResourceType<T>, key: string): Promise<T | undefined>
  /** The document a cluster's Assignment names; it is not signed here. */
  documentOf(cluster: string): Promise<ClusterDocument>
  /** Plays the agent: reports every bundle of its Assignment, as the gateway would store it. */
  report(
    cluster: string,
    state: BundleStateName,
    message?: string,
    removals?: NonNullable<ClusterReport['spec']['removals']>,
  ): Promise<void>
  /** Plays a gateway: publishes a summary. */
  summarize(gateway: string, up: number, seen: Readonly<Record<string, number>>): Promise<void>
  /** Starts the controllers again, with empty memory; the API stays. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** Starts a home; in memory unless there is a store. */
export async function startControllersHome(
  dialects: readonly DialectName[] = [],
  store: Store = createMemoryStore(),
  pushedAgents?: PushedAgentsPort,
  /** Groups of controllers that run together, as in one process. */
  processes: readonly (readonly ControllerGroup[])[] = [CONTROLLER_GROUPS],
): Promise<ControllersHome> {
  const clock = createVirtualClock()
  const ids = createSeededIds('controllers')
  const blobs = createMemoryBlobs()
  const api = createApiServer({ store, clock, ids, kinds: [...BUILTIN_KINDS, ...NATIVE_KINDS], log: silentLogger })
  const caller = { user: 'admin', groups: ['system:masters'] }
  // The controllers have their own role and no more, as in a hub that runs.
  const self = { user: CONTROLLERS_USER, groups: ['system:authenticated'] }
  const writes: string[] = []
  const rights: UsedRights = { used: new Set(), denied: [] }
  const noteRight = rightsNoter(rights)
  const transport: Transport = (request, signal) => api.handle(request, caller, signal)
  const client = createClient({ clock, transport })
  const controllersClient = createClient({
    clock,
    transport: async (request, signal) => {
      if (request.method !== 'GET') writes.push(`${request.method} ${request.path.replace(/\?.*/, '')}`)
      const answer = await api.handle(request, self, signal)
      noteRight(request, answer.status)
      return answer
    },
  })
  let renders = 0
  let render: RenderPort = createBundleRenderer({ blobs, clock, ids })
  const fetches: FetchRequest[] = []
  let fetchSource: FetchSourcePort = async () => ({
    kind: 'Failed',
    reason: 'NoNetwork',
    message: 'None.',
    retry: true,
  })
  let httpGet: HttpGet = async () => {
    throw new SourceError('Unreachable', 'there is no network.')
  }
  let askGate: AskGatePort = async () => ({ kind: 'Unreachable', message: 'no listener' })
  const options: ControllersOptions = {
    client: controllersClient,
    blobs,
    clock,
    ids,
    log: silentLogger,
    render: async (request, signal) => {
      renders++
      return await render(request, signal)
    },
    fetchSource: async (request, signal) => {
      fetches.push(request)
      return await fetchSource(request, signal)
    },
    askGate: (question, signal) => askGate(question, signal),
    httpGet: async (request) => await httpGet(request),
    sign: async (document) => utf8(canonicalJson(document)),
    epoch: () => 1,
    onTrustChange: () => () => {},
    trustVersion: () => 1,
    dialects: dialectControllers(dialects),
    pushedAgents,
  }
  const { signal: never } = new AbortController()
  const installing = installDialects(dialects, { client, controllers: controllersClient, clock, signal: never })
  await clock.settle()
  await installing
  await installFirstProjects({ client, signal: never })
  let controllers = start()

  function start() {
    const made = processes.map((groups) => createControllers({ ...options, groups }))
    const ended = Promise.all(made.map((one) => one.run(new AbortController().signal)))
    return { close: async () => void (await Promise.all(made.map((one) => one.close()))), ended }
  }

  async function find<T extends KubeObject>(type: ResourceType<T>, key: string): Promise<T | undefined> {
    const { metadata } = build(type, key, {} as never)
    try {
      return await client.get(type, metadata)
    } catch (caught) {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    }
  }

  await ensureSystemNamespace(client)
  return {
    clock,
    rest: createRest({ transport, clock }),
    client,
    as: (user, ...groups) => {
      const person = { user, groups: [...groups, 'system:authenticated'] }
      return (request, signal) => api.handle(request, person, signal)
    },
    writes,
    self: controllersClient,
    rights,
    find,
    rendered: () => renders,
    fetches,
    serveSources: (port) => void (fetchSource = port),
    serveRenders: (wrap) => void (render = wrap(render)),
    serveGates: (port) => void (askGate = port),
    serveHttp: (port) => void (httpGet = port),
    blobs,
    create: (object, type) => client.create(type, object),
    documentOf: async (cluster) => {
      const bytes = await blobs.get((await client.get(Assignment, { name: cluster })).spec.document)
      return JSON.parse(fromUtf8(bytes!)) as ClusterDocument
    },
    report: async (cluster, state, message, removals) => {
      const assignment = await find(Assignment, cluster)
      const present = await find(ClusterReport, cluster)
      const spec: ClusterReport['spec'] = {
        clusterId: assignment?.spec.clusterId ?? ((await find(Cluster, cluster))?.spec.id || `c-${cluster}`),
        epoch: assignment?.spec.epoch ?? 0,
        revision: assignment?.spec.revision ?? 0,
        receivedAt: formatTime(clock.now()),
        bundles: (assignment?.spec.entries ?? []).map(({ bundle, generation, set }) =>
          compact({
            bundle,
            generation,
            set,
            state,
            message,
          }),
        ),
        ...(removals ? { removals: [...removals] } : {}),
      }
      if (present) await client.update(ClusterReport, { ...present, spec })
      else await client.create(ClusterReport, build(ClusterReport, cluster, { spec }))
    },
    summarize: async (gateway, up, seen) => {
      const key = `${LIVENESS_NAMESPACE}/flotilla-gateway-${gateway}`
      const annotations = { [LIVENESS_ANNOTATION]: formatLiveness({ up, seen }) }
      const present = await find(Lease, key)
      const spec = { holderIdentity: gateway, renewTime: formatTime(clock.now()).replace('Z', '.000000Z') }
      const metadata = { labels: { [LIVENESS_LABEL]: gateway }, annotations }
      if (present) await client.update(Lease, { ...present, metadata: { ...present.metadata, annotations }, spec })
      else await client.create(Lease, build(Lease, key, { spec }, metadata))
    },
    restart: async () => {
      const closing = controllers.close()
      await clock.settle()
      await closing
      await controllers.ended
      controllers = start()
    },
    close: async () => {
      const closing = controllers.close()
      await clock.settle()
      await closing
      await controllers.ended
      await api.close()
      await store.close()
      assert.deepEqual(rights.denied, [], 'the controllers lack no right')
    },
  }
}

async function ensureSystemNamespace(client: Client): Promise<void> {
  await client.create(Namespace, build(Namespace, LIVENESS_NAMESPACE, {})).catch((caught: unknown) => {
    if (!isApiError(caught, 'AlreadyExists')) throw caught
  })
}
