/**
 * An agent: three loops that meet through notices.
 *
 *   link ──head──▶ operator ──rows──▶ reporter ──▶ hub
 *     └──────────── up, beat ────────────┘
 *
 * The link may be gone for years; the operator keeps the cluster as the last accepted document says (I-22).
 */
import type { Blobs } from '../blobs/blobs.ts'
import { clientOver } from '../client/create-client.ts'
import { createDiscovery } from '../client/discovery.ts'
import { createRest } from '../client/rest.ts'
import type { Clock } from '../core/time/clock.ts'
import type { Transport } from '../core/http.ts'
import type { Ids } from '../core/ids.ts'
import type { NewKeyPair } from '../core/crypto/key-pair.ts'
import type { Logger } from '../core/log.ts'
import { parseTime } from '../core/time/time.ts'
import { VERSION } from '../core/version.ts'
import type { LocalLimits } from '../plan/apply/local-limits.ts'
import type { LinkState } from '../wire/link/agent-link.ts'
import type { ClusterDocument } from '../wire/document/cluster-document.ts'
import type { Report, ReportedLog } from '../wire/link/frames.ts'
import { createClusterFacts } from './report/cluster-facts.ts'
import { createAppliers } from './cluster/executor-appliers.ts'
import { createDeltaBases, createSealedValues } from './documents/delta-bases.ts'
import type { ClusterRenderPort } from './render/cluster-render.ts'
import { createClusterState } from './cluster/cluster-state.ts'
import { createContent } from './documents/content.ts'
import { createDocuments } from './documents/documents.ts'
import type { ConnectHub } from './link/hub-api.ts'
import { createHubTime } from './link/hub-time.ts'
import { loadIdentity, loadTrustFile } from './link/identity.ts'
import { createIncarnation } from './cluster/incarnation.ts'
import { createLink } from './link/link.ts'
import { createLogTail } from './report/log-tail.ts'
import type { Link } from './link/link.ts'
import { createBundleLoop } from './bundles/bundle-loop.ts'
import { createReporter } from './report/reporter.ts'
import type { AgentStorage } from './storage/storage.ts'

/** What an agent is made of. */
export interface AgentOptions {
  /** The managed cluster's API. */
  readonly cluster: Transport
  readonly hub: ConnectHub
  readonly storage: AgentStorage
  /** Content on disk, so that the agent works without the hub. */
  readonly blobs: Blobs
  readonly clock: Clock
  readonly ids: Ids
  readonly newKeyPair: NewKeyPair
  readonly log: Logger
  /** Needed at the first start only. */
  readonly joinCode?: string
  /** The name to join under, for codes made for several clusters. */
  readonly clusterName?: string
  /** What this cluster's own people allow; everything when absent. */
  readonly ceiling?: LocalLimits
  /** Renders charts that look at the cluster: in a thread with limits, or in place. */
  readonly render: ClusterRenderPort
}

/** An agent; `run` resolves when the signal is aborted. */
export interface Agent {
  run(signal: AbortSignal): Promise<void>
  /** Where the link is, for tests and status pages. */
  linkState(): LinkState['at']
  /** What the next report would say. */
  report(): Report
}

const USER_AGENT = `flotilla-agent/${VERSION}`

/** Makes an agent from its ports; a bad join code is refused here. */
export async function createAgent(options: AgentOptions): Promise<Agent> {
  const { storage, clock, ids, newKeyPair } = options
  const tail = createLogTail(options.log, clock)
  const { log } = tail
  const identity = await loadIdentity(storage, {
    newKeyPair,
    ...(options.joinCode === undefined ? {} : { joinCode: options.joinCode }),
    ...(options.clusterName === undefined ? {} : { clusterName: options.clusterName }),
  })
  const rest = createRest({ transport: options.cluster, clock, userAgent: USER_AGENT })
  const client = clientOver(rest)
  const discovery = createDiscovery(rest)
  const state = createClusterState(client)
  const ceiling = options.ceiling ?? {}
  const appliers = createAppliers({
    transport: options.cluster,
    userAgent: USER_AGENT,
    clock,
    ids,
    log,
    discovery,
    onChange: (key, isNews) => operator.touch(key, isNews),
    onRead: (bundle) => operator.touchReads(bundle),
    ceiling,
    neighbours: { holdersOf: (key) => operator.holdersOf(key) },
  })
  let linkAt: LinkState['at'] = 'Unenrolled'
  const about = createClusterFacts({ client, discovery, clock, log, onChange: () => reporter.wake() })

  const hubTime = createHubTime(clock)

  const link: Link = await createLink({
    connect: options.hub,
    storage,
    clock,
    ids,
    log,
    newKeyPair,
    identity,
    agentVersion: VERSION,
    holds: () => documents.current()?.digest,
    onHead: (head) => {
      documents.want(head)
      operator.wake()
    },
    onLastDocument: (envelope) => {
      documents.offer(envelope)
      operator.wake()
    },
    onBeat: (beat) => {
      const at = parseTime(beat.at)
      if (at !== undefined) hubTime.hear(at)
      reporter.checkInEvery(beat.checkInSeconds)
    },
    sealingKeysInUse: async () => {
      const current = documents.current()
      // Without a document it is unknown what is to come.
      if (!current) return () => true
      return content.keysInUse(current.document.content.entries.flatMap(({ sealed }) => sealed ?? []))
    },
    retiredSealingKey: () => {
      const current = documents.current()
      const key = current?.document.rules.retireSealingKey
      return key === undefined ? undefined : { key, document: current!.digest }
    },
    onState: (next) => {
      linkAt = next.at
      if (next.at !== 'Following') return
      operator.wake()
      reporter.wake()
    },
  })
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
    entryOf: (set) => {
      const current = documents.current()
      const entry = current?.document.content.entries.find((candidate) => candidate.set === set)
      return current && entry && { bundle: entry.bundle, document: current.digest, sealed: entry.sealed }
    },
    sealing: link.sealing,
  })
  const operator = createBundleLoop({
    documents,
    content,
    appliers,
    state,
    discovery,
    render: options.render,
    clock,
    ids,
    log,
    // The cluster's own ceiling and what the hub says: the lower one counts.
    maxPrune: () => least(ceiling.maxPrune, documents.current()?.document.rules.limits?.maxPrune),
    hubTime,
    onChange: () => reporter.wake(),
    onTerminal: (terminal) => void end(terminal),
  })
  const incarnation = createIncarnation({
    storage,
    state,
    clock,
    log,
    clusterId: link.clusterId,
    onRestored: () => {
      documents.reload()
      operator.startOver()
      reporter.wake()
    },
  })
  /** What was sent of the log stays in the report, so that nothing is written again without a new question. */
  let shownLog: ReportedLog | undefined
  const reporter = createReporter({
    hub: link.hub,
    report,
    clock,
    ids,
    log,
    askLog: (asked) => void (shownLog = asked === undefined ? undefined : { asked, lines: tail.lines() }),
  })

  const ended = new AbortController()
  let isEnding = false

  /** The cluster left the fleet: say that this was read, as far as somebody hears it, and stop. What runs stays. */
  async function end({ at, reason }: NonNullable<ClusterDocument['terminal']>): Promise<void> {
    if (isEnding) return
    isEnding = true
    await reporter.last(ended.signal)
    log.info({ at, reason }, 'this cluster left the fleet: the agent ends, and what runs here stays')
    ended.abort()
  }

  function report(): Report {
    const held = documents.held()
    const refusal = documents.refusal()
    return {
      epoch: held?.epoch ?? 0,
      revision: held?.revision ?? 0,
      ...(held ? { document: held.digest } : {}),
      agentVersion: VERSION,
      ...about.current(),
      bundles: [...operator.rows()],
      ...(operator.removals().length > 0 ? { removals: [...operator.removals()] } : {}),
      ...(incarnation.current() > 1 ? { incarnation: incarnation.current() } : {}),
      ...(refusal === undefined ? {} : { refusal }),
      ...(shownLog === undefined ? {} : { log: shownLog }),
    }
  }

  return {
    linkState: () => linkAt,
    report,
    async run(signal) {
      const life = AbortSignal.any([signal, ended.signal])
      await Promise.all([
        link.run(life),
        operator.run(life),
        reporter.run(life),
        about.run(life),
        incarnation.run(life),
      ])
    },
  }
}

function least(...limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
