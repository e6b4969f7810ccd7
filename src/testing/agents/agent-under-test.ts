/** An agent with its own embedded cluster, joined to a test hub; it can be stopped, restarted and looked at. */
import { compact } from '../../core/compact.ts'
import { createAgent } from '../../agent/create-agent.ts'
import type { Agent } from '../../agent/create-agent.ts'
import { renderInPlace } from '../../agent/render/render-in-place.ts'
import { createSecretStorage } from '../../agent/storage/secret-storage.ts'
import { createMemoryStorage } from '../../agent/storage/storage.ts'
import type { AgentStorage } from '../../agent/storage/storage.ts'
import { createMemoryBlobs } from '../../blobs/memory-blobs.ts'
import { createClient } from '../../client/create-client.ts'
import { fromUtf8 } from '../../core/bytes.ts'
import { ApiError, isApiError } from '../../core/errors.ts'
import type { Transport } from '../../core/http.ts'
import { seededKeys } from '../../core/crypto/key-pair.ts'
import { silentLogger } from '../../core/log.ts'
import type { Logger } from '../../core/log.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { KubeObject, UnknownObject } from '../../kinds/meta.ts'
import type { LocalLimits } from '../../plan/apply/local-limits.ts'
import { createEmbeddedCluster } from '../../sim/fleet/embedded-cluster.ts'
import type { WorkloadBehaviour } from '../../sim/workloads/workloads.ts'
import type { TestHub } from '../hub/test-hub.ts'

/** What may differ between agents under test. */
export interface AgentUnderTestOptions {
  readonly joinCode: string
  readonly clusterName?: string
  readonly behaviour?: Partial<WorkloadBehaviour>
  readonly log?: Logger
  readonly ceiling?: LocalLimits
  /** Secret of the cluster that keeps the identity, instead of the disk. */
  readonly identitySecret?: string
}

const TYPES = {
  ConfigMap: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' },
  Deployment: { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', scope: 'Namespaced' },
  Secret: { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', scope: 'Namespaced' },
  Job: { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', scope: 'Namespaced' },
  Namespace: { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', scope: 'Cluster' },
} as const

/** Makes an agent and its cluster; nothing runs before `start`. */
export function createAgentUnderTest(hub: TestHub, name: string, options: AgentUnderTestOptions) {
  const { clock } = hub
  const ids = hub.ids.fork(`agent-${name}`)
  const log = options.log ?? silentLogger
  const cluster = createEmbeddedCluster({
    name,
    clock,
    ids: ids.fork('cluster'),
    log: silentLogger,
    ...(options.behaviour ? { behaviour: options.behaviour } : {}),
  })
  const files = new Map<string, Uint8Array>()
  let blobs = createMemoryBlobs()
  /** Keys after the loss of a disk are others than before. */
  let lostDisks = 0
  /** What is between the agent and its cluster: counts writes, and can fail them. */
  const door = {
    up: true,
    writes: [] as string[],
    /** Every read and dry run, with its query. */
    reads: [] as string[],
    failAfterWrites: Number.POSITIVE_INFINITY,
    /** The last write before they fail is done, and its answer is lost. */
    losesLast: false,
    /** The next write whose request has this in it is done, and its answer is lost. */
    loseAnswerTo: undefined as string | undefined,
    /** The answer to the next write whose request has this in it comes 3 s late. */
    delayAnswerTo: undefined as string | undefined,
    /** How long each dry run takes. */
    tryMs: 0,
    /** Writes and dry runs of this path are refused by a cluster that repeats what was sent. */
    refuses: undefined as string | undefined,
  }
  const throughDoor: Transport = async (request, signal) => {
    if (!door.up) throw new Error('connect ECONNREFUSED')
    if (request.method !== 'GET' && door.refuses !== undefined && request.path.includes(door.refuses)) {
      throw new ApiError('Invalid', `no: ${fromUtf8(request.body ?? new Uint8Array())}`)
    }
    if (request.path.includes('dryRun=All') && door.tryMs > 0) await clock.sleep(door.tryMs, signal)
    if (request.method === 'GET' || request.path.includes('dryRun=All')) door.reads.push(request.path)
    else {
      if (door.writes.length >= door.failAfterWrites) throw new Error('killed')
      door.writes.push(`${request.method} ${request.path.split('?')[0]}`)
      if (door.losesLast && door.writes.length === door.failAfterWrites) {
        await cluster.transport(request, signal)
        throw new Error('read ECONNRESET')
      }
      const said = `${request.method} ${request.path} ${fromUtf8(request.body ?? new Uint8Array())}`
      if (door.loseAnswerTo !== undefined && said.includes(door.loseAnswerTo)) {
        door.loseAnswerTo = undefined
        await cluster.transport(request, signal)
        throw new Error('read ECONNRESET')
      }
      if (door.delayAnswerTo !== undefined && said.includes(door.delayAnswerTo)) {
        door.delayAnswerTo = undefined
        const answer = await cluster.transport(request, signal)
        await clock.sleep(3000, signal)
        return answer
      }
    }
    return cluster.transport(request, signal)
  }
  const life = new AbortController()
  const workloads = cluster.run(life.signal)
  let agent: Agent | undefined
  let stopping: AbortController | undefined
  let running: Promise<void> | undefined
  let hasEnded = false

  function storage(): AgentStorage {
    const disk = createMemoryStorage(files)
    if (options.identitySecret === undefined) return disk
    const client = createClient({ transport: throughDoor, clock })
    return createSecretStorage(client, options.identitySecret, disk)
  }

  async function start(): Promise<void> {
    agent = await createAgent(
      compact({
        cluster: throughDoor,
        hub: hub.connect,
        storage: storage(),
        blobs,
        clock,
        ids: ids.fork(`run-${door.writes.length}-${clock.monotonicMs()}`),
        newKeyPair: seededKeys(ids.fork(lostDisks === 0 ? 'keys' : `keys-${lostDisks}`)),
        render: renderInPlace({ clock, ids: ids.fork('render') }),
        log,
        joinCode: options.joinCode,
        ...(options.ceiling ? { localLimits: options.ceiling } : {}),
        clusterName: options.clusterName,
      }),
    )
    stopping = new AbortController()
    hasEnded = false
    running = agent.run(stopping.signal).finally(() => (hasEnded = true))
  }

  async function stop(): Promise<void> {
    stopping?.abort()
    await clock.settle()
    await running
  }

  async function get(
    kind: keyof typeof TYPES,
    objectName: string,
    namespace = 'default',
  ): Promise<UnknownObject | undefined> {
    const key = kind === 'Namespace' ? { name: objectName } : { namespace, name: objectName }
    return cluster.client.get<UnknownObject>(TYPES[kind], key).catch((caught: unknown) => {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    })
  }

  /** Lets time pass until the hub's ClusterReport has this bundle in this state. */
  async function until(
    bundle: string,
    state: string,
    withinMs = 120_000,
  ): Promise<ClusterReport['spec']['bundles'][number]> {
    let row: ClusterReport['spec']['bundles'][number] | undefined
    const look = async () => {
      const report = await hub.client.get(ClusterReport, { name }).catch(() => undefined)
      row = report?.spec.bundles.find((candidate) => candidate.bundle === bundle)
      return row?.state === state
    }
    try {
      await clock.runUntil(look, { withinMs, what: `${bundle} ${state} on ${name}` })
    } catch (caught) {
      throw new Error(`last seen: ${JSON.stringify(row)}, link ${agent?.linkState()}`, { cause: caught })
    }
    return row!
  }

  return {
    /** Whether its agent came to an end, by itself or stopped. */
    hasEnded: () => hasEnded,
    name,
    cluster,
    files,
    get blobs() {
      return blobs
    },
    /** The disk of the agent is empty at its next start. */
    loseDisk() {
      files.clear()
      lostDisks += 1
      blobs = createMemoryBlobs()
    },
    door,
    start,
    stop,
    get,
    until,
    agent: () => agent!,
    configMap: (objectName: string, namespace?: string) => get('ConfigMap', objectName, namespace),
    remove: (kind: keyof typeof TYPES, objectName: string) =>
      cluster.client.delete(TYPES[kind], { namespace: 'default', name: objectName }),
    update: (kind: keyof typeof TYPES, object: KubeObject) => cluster.client.update<KubeObject>(TYPES[kind], object),
    create: (kind: keyof typeof TYPES, object: KubeObject) => cluster.client.create<KubeObject>(TYPES[kind], object),
    async close() {
      await stop()
      life.abort()
      await clock.settle()
      await workloads
      await cluster.close()
    },
  }
}

/** An agent with its own cluster. */
export type AgentUnderTest = ReturnType<typeof createAgentUnderTest>
