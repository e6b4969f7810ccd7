/**
 * An agent: five loops that give each other notices.
 *
 *   link ──head──▶ bundle loop ──rows──▶ reporter ──▶ hub
 *     │                  └──settled──▶ policies ──checks──▶┘
 *     └─────────────── up, beat ────────────┘
 *   results of policy engines in the cluster ──▶ reporter
 *
 * The link may be down for years; the bundle loop keeps the cluster as the last accepted document says (I-22).
 */
import type { Blobs } from '../blobs/blobs.ts'
import { clientOver } from '../client/create-client.ts'
import { createDiscovery } from '../client/discovery.ts'
import { createRest } from '../client/rest.ts'
import { compact } from '../core/compact.ts'
import type { NewKeyPair } from '../core/crypto/key-pair.ts'
import type { Transport } from '../core/http.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import type { Clock } from '../core/time/clock.ts'
import { formatTime } from '../core/time/time.ts'
import { VERSION } from '../core/version.ts'
import type { LocalLimits } from '../plan/apply/local-limits.ts'
import type { ClusterDocument } from '../wire/document/cluster-document.ts'
import type { LinkState } from '../wire/link/agent-link.ts'
import type { Report } from '../wire/link/frames.ts'
import { createAgentLink } from './agent-link.ts'
import { createBundleLoop } from './bundles/bundle-loop.ts'
import { createPeerCluster } from './bundles/handover/peer-cluster.ts'
import { createClusterState } from './cluster/cluster-state.ts'
import { createAppliers } from './cluster/executor-appliers.ts'
import { createIncarnation } from './cluster/incarnation.ts'
import { createContent } from './documents/content.ts'
import { createDeltaBases, createSealedValues } from './documents/delta-bases.ts'
import { createDocuments } from './documents/documents.ts'
import type { ConnectHub } from './link/hub-api.ts'
import { createHubTime } from './link/hub-time.ts'
import { loadIdentity, loadTrustFile } from './link/identity.ts'
import { createPolicyLoop } from './policies/policy-loop.ts'
import type { ClusterRenderPort } from './render/cluster-render.ts'
import { buildReport } from './report/build-report.ts'
import { createCapacity } from './report/capacity.ts'
import { createClusterFacts } from './report/cluster-facts.ts'
import { createLogTail } from './report/log-tail.ts'
import { createUserRequests } from './report/user-requests.ts'
import { createReporter } from './report/reporter.ts'
import { createEngineResults } from './results/engine-results.ts'
import type { AgentStorage } from './storage/storage.ts'

/** Ports and options of an agent. */
export interface AgentOptions {
  /** The API of the managed cluster. */
  readonly cluster: Transport
  readonly hub: ConnectHub
  readonly storage: AgentStorage
  /** Content on disk, so that the agent works without the hub. */
  readonly blobs: Blobs
  readonly clock: Clock
  readonly ids: Ids
  readonly newKeyPair: NewKeyPair
  readonly log: Logger
  /** Required at the first start only. */
  readonly joinCode?: string
  /** Name of the cluster, for join codes that register several clusters. */
  readonly clusterName?: string
  /** Limits that the owners of this cluster set. If omitted, nothing is limited. */
  readonly localLimits?: LocalLimits
  /** Renders recipes: in a thread with limits, or in place. */
  readonly render: ClusterRenderPort
}

/** An agent; `run` resolves when the signal is aborted or the cluster has left the fleet. */
export interface Agent {
  run(signal: AbortSignal): Promise<void>
  /** The state of the link, for tests and status pages. */
  linkState(): LinkState['at']
  /** The next report. */
  report(): Report
}

const USER_AGENT = `flotilla-agent/${VERSION}`

/** Creates an agent from its ports; throws for a join code of another hub. */
export async function createAgent(options: AgentOptions): Promise<Agent> {
  const { storage, clock, ids, newKeyPair, joinCode, clusterName, localLimits = {} } = options
  const tail = createLogTail(options.log, clock)
  const { log } = tail
  const identity = await loadIdentity(storage, { newKeyPair, ...compact({ joinCode, clusterName }) })
  const rest = createRest({ transport: options.cluster, clock, userAgent: USER_AGENT })
  const client = clientOver(rest)
  const discovery = createDiscovery(rest)
  const state = createClusterState(client)
  const hubTime = createHubTime(clock)
  const common = { storage, clock, ids, log }
  const rules = () => documents.current()?.document.rules
  const appliers = createAppliers({
    ...common,
    transport: options.cluster,
    userAgent: USER_AGENT,
    discovery,
    localLimits,
    rules,
    neighbours: { holdersOf: (key) => bundleLoop.holdersOf(key) },
    onChange: (key, isNews) => bundleLoop.touch(key, isNews),
    onRead: (bundle) => bundleLoop.touchReads(bundle),
    onPolicyRead: (changed) => policies.touch(changed),
  })
  const facts = createClusterFacts({ client, discovery, clock, log, onChange: () => reporter.wake() })
  const capacity = createCapacity({ ...common, client, rules, onChange: () => reporter.wake() })
  const results = createEngineResults({ ...common, client, discovery, localLimits, onChange: () => reporter.wake() })
  const link = await createAgentLink(
    { ...common, connect: options.hub, newKeyPair, identity, agentVersion: VERSION },
    {
      hubTime,
      documents: () => documents,
      content: () => content,
      bundleLoop: () => bundleLoop,
      reporter: () => reporter,
    },
  )
  const documents = createDocuments({
    storage,
    state,
    log,
    hub: link.hub,
    trust: link.trust,
    root: async () => (await loadTrustFile(storage, identity.root))?.root,
    clusterId: link.clusterId,
  })
  const content = createContent({
    blobs: options.blobs,
    hub: link.hub,
    log,
    bases: createDeltaBases(storage),
    sealedValues: createSealedValues(storage),
    entryOf: documents.entryOf,
    sealing: link.sealing,
  })
  const site = { ...common, appliers, state, hubTime }
  const bundleLoop = createBundleLoop({
    ...site,
    documents,
    content,
    discovery,
    render: options.render,
    peers: createPeerCluster({ client, discovery, localLimits }),
    maxPrune: () => lowest(localLimits.maxPrune, rules()?.limits?.maxPrune),
    removeChecks: (removed, inner) => policies.remove(removed, inner),
    onChange: () => {
      for (const part of [reporter, policies, capacity]) part.wake()
    },
    onTerminal: (terminal) => void end(terminal),
  })
  const policies = createPolicyLoop({ ...site, ...bundleLoop.checkSource, onChange: () => reporter.wake() })
  const incarnation = createIncarnation({
    ...common,
    state,
    clusterId: link.clusterId,
    onRestored: () => {
      documents.reload()
      bundleLoop.startOver()
      policies.forget()
      results.forget()
      reporter.wake()
    },
  })
  const requests = createUserRequests({ tail, clusterId: link.clusterId, driftOf: bundleLoop.driftOf, newKeyPair })
  const reported = { documents, bundleLoop, policies, results, capacity, facts, incarnation }
  const report = () => buildReport({ ...reported, answers: requests.answers(), nowMs: clock.now() })
  const reporter = createReporter({
    ...common,
    hub: link.hub,
    report,
    sign: (about) => {
      const now = hubTime.now()
      return link.signReport({ ...about, ...compact({ at: now === undefined ? undefined : formatTime(now) }) })
    },
    requests,
  })
  const ended = new AbortController()
  let isEnding = false

  /** The cluster left the fleet: the agent confirms this if the hub still accepts reports, and stops. Objects stay. */
  async function end({ at, reason }: NonNullable<ClusterDocument['terminal']>): Promise<void> {
    if (isEnding) return
    isEnding = true
    await reporter.last(ended.signal)
    log.info({ at, reason }, 'the cluster left the fleet; the agent stops and leaves all objects in place')
    ended.abort()
  }

  return {
    linkState: link.state,
    report,
    async run(signal) {
      const life = AbortSignal.any([signal, ended.signal])
      await Promise.all(
        [link, bundleLoop, policies, results, capacity, reporter, facts, incarnation].map((part) => part.run(life)),
      )
    },
  }
}

/** The local limits and the rules of the hub both limit: the lower number counts. */
function lowest(...limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
