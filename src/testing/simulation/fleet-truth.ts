/**
 * The truth of a simulated fleet, independent of all reports: live objects and inventories in the clusters' own stores,
 * compared with what the hub recorded (I-04, I-06, I-08, I-14, I-15, I-23).
 *
 * Content is told apart by the tag of its image, `shop:<version>`.
 */
import { storePrefix } from '../../apiserver/storage/stored-object.ts'
import { fromUtf8 } from '../../core/bytes.ts'
import { isDigest } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { isObject } from '../../core/json.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Release } from '../../kinds/native/release.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { healthOf } from '../../plan/health/object-health.ts'
import type { Fleet, FleetMember } from '../../sim/fleet/fleet.ts'
import type { World } from '../../sim/kernel/world.ts'
import type { Store } from '../../store/store.ts'
import { isOffline, listStored } from './fleet-invariants.ts'
import { createListener, observableSilence } from './liveness-runs.ts'
import type { Listener } from './liveness-runs.ts'

/** What a scenario promises about itself. */
export interface TruthOptions {
  /**
   * A cluster's ring, and how many of it may be unwell because of rollouts at once: concurrency and tolerated failures.
   */
  budgetOf(cluster: string): { readonly ring: string; readonly most: number }
  /** The ring that goes first. */
  readonly firstRing: string
  /** Clusters whose agents do not tell the truth: what they say is their own. */
  readonly liars?: ReadonlySet<string>
  /** After so long without a word a cluster is offline. */
  readonly offlineAfterMs: number
  /** Whether the current content cut the cluster off, so that its health is unknown. */
  readonly isCutOff?: (cluster: string) => boolean
  /** How late a hub of the scenario may hear of what is in the database; at once unless told. */
  readonly hubLagMs?: number
}

/** Follows a fleet and collects every broken promise. */
export interface FleetTruth {
  readonly violations: readonly string[]
  /** How often each invariant was put to the test: one that never was proves nothing. */
  readonly looks: ReadonlyMap<string, number>
  /** The version each cluster has now. */
  versionOf(cluster: string): string | undefined
}

// A request may be on its way for as long as a cut keeps it waiting; what it carries was decided before. So may the
// word of the hub by which an agent that just came up knows the time.
const ON_ITS_WAY_MS = 61_000

// A gateway sums up every ten seconds whom it heard; what follows takes a look or two.
const SUMMED_UP_MS = 12_000

interface Site {
  readonly member: FleetMember
  version: string | undefined
  /** Versions this cluster was well at. */
  readonly well: Set<string>
  readonly had: Set<string>
  /** The content that was begun last, by the inventory. */
  set: string | undefined
}

/** Starts following; it sees every change, also between two looks of a scenario. */
export function watchTruth(world: World, fleet: Fleet, options: TruthOptions, signal: AbortSignal): FleetTruth {
  const violations: string[] = []
  const looks = new Map<string, number>()
  const sites = new Map(fleet.members.map((member) => [member.name, siteOf(member)]))
  const versions = new Map<string, Promise<string>>()
  /** `cluster generation` → the latest start-by the hub ever signed for it. */
  const startBys = new Map<string, StartBy>()
  const isLiar = (name: string) => options.liars?.has(name) ?? false
  const heardAt = new Map<string, number>()
  const silenceEndedAt = new Map<string, number>()
  const hub = createListener()
  let other: Listener | undefined

  const violated = (what: string): void => void violations.push(`${formatTime(world.clock.now())} ${what}`)
  const looked = (invariant: string): void => void looks.set(invariant, (looks.get(invariant) ?? 0) + 1)
  const follow = (store: Store, kind: Kind, look: (change: Change) => void | Promise<void>): void => {
    const read = async (): Promise<void> => {
      for await (const { previous, value } of store.watch(storePrefix(kind), 0, signal))
        await look({ was: previous && JSON.parse(previous), is: value && JSON.parse(value) })
    }
    read().catch((error: unknown) => {
      if (!signal.aborted) violated(`the watch on ${kind.plural} failed: ${String(error)}`)
    })
  }
  const versionOfSet = (set: Digest): Promise<string> => {
    const known = versions.get(set) ?? readVersion(fleet, set)
    versions.set(set, known)
    return known
  }

  const checkBudget = (): void => {
    looked('I-04')
    const unwell = [...sites.values()].filter(
      ({ member: { name }, version, well }) =>
        version !== undefined && (!well.has(version) || options.isCutOff?.(name)) && !isLiar(name),
    )
    for (const [ring, those] of Map.groupBy(unwell, ({ member }) => options.budgetOf(member.name).ring)) {
      const { most } = options.budgetOf(those[0]!.member.name)
      const names = those.map(({ member, version }) => `${member.name} at ${version}`).join(', ')
      if (those.length > most)
        violated(`I-04: ${those.length} of ring ${ring} are unwell with a budget of ${most}: ${names}`)
    }
  }

  /** No cluster of a later ring has a version before the pass of the first ring is recorded. */
  const checkOrder = async (name: string, version: string): Promise<void> => {
    if (options.budgetOf(name).ring === options.firstRing) return
    looked('I-04 rings')
    const [releases, rollouts] = [await listStored(fleet.hubStore, Release), await listStored(fleet.hubStore, Rollout)]
    for (const { spec, status } of rollouts) {
      const release = releases.find(({ metadata }) => metadata.name === spec.release)
      const sets = release?.spec.bundles.flatMap(({ set }) => set ?? []) ?? []
      if (!(await Promise.all(sets.map(versionOfSet))).includes(version)) continue
      const isThrough = status?.rings?.some((ring) => ring.name === options.firstRing && ring.passedAt)
      if (isThrough || !spec.rings.some((ring) => ring.name === options.firstRing)) return
    }
    violated(`I-04: ${name} has ${version} before ring ${options.firstRing} is through`)
  }

  const onDeployment = (site: Site) => async (change: Change) => {
    const { name } = site.member
    if (!isShop(change.is ?? change.was)) return
    if (change.is === undefined) {
      looked('I-08')
      site.version = undefined
      const assignments = await listStored(fleet.hubStore, Assignment)
      const mine = assignments.find(({ metadata }) => metadata.name === name)
      if (mine?.spec.entries.some(({ bundle }) => bundle === 'default/shop'))
        violated(`I-08: the Deployment of ${name} was deleted, and its document wants it`)
      return
    }
    const version = versionIn(JSON.stringify((change.is as { spec?: unknown }).spec))
    const isNew = !site.had.has(version)
    site.version = version
    site.had.add(version)
    if (healthOf(change.is as never).state === 'Ready') site.well.add(version)
    checkBudget()
    if (isNew) await checkOrder(name, version)
  }

  const onInventory = (site: Site) => (change: Change) => {
    const { data } = (change.is ?? {}) as { data?: { state?: string } }
    const state: unknown = data?.state === undefined ? undefined : JSON.parse(data.state)
    if (!isObject(state) || typeof state['generation'] !== 'number' || state['bundle'] !== 'default/shop') return
    const { generation, set } = state
    if (site.set === set) return // the same content under another number begins nothing
    site.set = String(set)
    const startBy = startBys.get(`${site.member.name} ${generation}`)
    if (startBy === undefined) return
    looked('I-23')
    const late = lateness(startBy, world.clock)
    if (late > ON_ITS_WAY_MS)
      violated(`I-23: ${site.member.name} began generation ${generation} ${late / 1000} s after its start-by`)
  }

  const onAssignment = ({ is }: Change) => {
    const { metadata, spec } = (is ?? {}) as Assignment
    for (const { bundle, generation, startBy } of spec?.entries ?? []) {
      if (bundle !== 'default/shop' || startBy === undefined) continue
      const key = `${metadata.name} ${generation}`
      const atMs = parseTime(startBy)!
      if (atMs > (startBys.get(key)?.atMs ?? 0))
        startBys.set(key, { atMs, inMs: atMs - world.clock.now(), signedAtMs: world.clock.monotonicMs() })
    }
  }

  const onReport = async ({ is }: Change) => {
    const { metadata, spec } = (is ?? {}) as ClusterReport
    const site = metadata && sites.get(metadata.name)
    if (!site || isLiar(metadata.name)) return
    for (const { bundle, state, set, generation } of spec.bundles) {
      if (bundle !== 'default/shop' || state !== 'Ready') continue
      looked('I-14')
      const version = await versionOfSet(set)
      if (!site.well.has(version))
        violated(`I-14: ${metadata.name} is Ready at generation ${generation}, and never was well at ${version}`)
    }
  }

  const noticeSilence = (name: string): void => {
    const heard = world.network.arrivedAt({ from: `agent-of-${name}`, to: 'gateway' }) ?? 0
    if (heard - (heardAt.get(name) ?? heard) >= options.offlineAfterMs) silenceEndedAt.set(name, heard)
    heardAt.set(name, heard)
  }

  const onCluster = ({ was, is }: Change) => {
    if (!isOffline((is ?? {}) as Cluster) || isOffline((was ?? {}) as Cluster)) return
    looked('I-15')
    const { name } = (is as Cluster).metadata
    noticeSilence(name)
    const heard = world.network.arrivedAt({ from: `agent-of-${name}`, to: 'gateway' }) ?? 0
    const now = world.clock.monotonicMs()
    const silentMs = observableSilence({
      nowMs: now,
      heardMs: heard,
      endedMs: silenceEndedAt.get(name) ?? Number.NEGATIVE_INFINITY,
      hub: hub.heardFrom(heard),
      ...(other ? { otherSinceMs: other.heardFrom(heard).sinceMs } : {}),
      // A hub judges by what gateways sum up, and one that hears of everything late judges what is over already; what a
      // watch that was opened anew hears once more is late twice.
      lateMs: 2 * (options.hubLagMs ?? 0) + SUMMED_UP_MS,
    })
    if (silentMs < options.offlineAfterMs)
      violated(`I-15: ${name} is offline after ${silentMs / 1000} s of silence that the hub could hear`)
  }

  const onDecision = async ({ was }: Change) => {
    if (was === undefined) return
    looked('I-06')
    const pages = await listStored(fleet.hubStore, PlacementDecision)
    const selected = pages.flatMap(({ spec }) => spec.decisions).filter(({ state }) => state === 'Selected')
    if (selected.length === 0) violated('I-06: the placement selects no cluster')
  }

  const noticeHub = async (): Promise<void> => {
    while (!signal.aborted) {
      hub.look(fleet.hub, world.clock.monotonicMs())
      const second = world.processes().find(({ name }) => name === 'second-hub')
      if (second?.running()) (other ??= createListener()).look(second, world.clock.monotonicMs())
      else other = undefined
      for (const { member } of sites.values()) noticeSilence(member.name)
      await world.clock.sleep(1_000, signal)
    }
  }
  noticeHub().catch(() => {}) // ends with the scenario
  for (const site of sites.values()) {
    follow(site.member.store, Deployment, onDeployment(site))
    follow(site.member.store, ConfigMap, onInventory(site))
  }
  follow(fleet.hubStore, Assignment, onAssignment)
  follow(fleet.hubStore, ClusterReport, onReport)
  follow(fleet.hubStore, Cluster, onCluster)
  follow(fleet.hubStore, PlacementDecision, onDecision)
  return { violations, looks, versionOf: (cluster) => sites.get(cluster)?.version }
}

interface StartBy {
  /** As signed. */
  readonly atMs: number
  /** How far off it was when it was signed, and when that was on the monotonic clock. */
  readonly inMs: number
  readonly signedAtMs: number
}

/**
 * The time since a start-by, by the hub's clock and by the time that passed since it was signed. Both must be over. A
 * hub whose clock is set three minutes ahead makes no agent late that begins in this second, because an agent knows the
 * time by the hub's last message and the time since. An agent of a hub whose clock was set back begins while the hub
 * says there is time.
 */
export function lateness(
  { atMs, inMs, signedAtMs }: StartBy,
  clock: Pick<World['clock'], 'now' | 'monotonicMs'>,
): number {
  return Math.min(clock.now() - atMs, clock.monotonicMs() - signedAtMs - inMs)
}

interface Change {
  readonly was: unknown
  readonly is: unknown
}

function siteOf(member: FleetMember): Site {
  return { member, version: undefined, well: new Set(), had: new Set(), set: undefined }
}

function isShop(object: unknown): boolean {
  return (object as { metadata?: { name?: string } } | undefined)?.metadata?.name === 'shop'
}

function versionIn(text: string): string {
  return /shop:([\w.-]+)/.exec(text)?.[1] ?? 'none'
}

/** The version that a set of objects brings, read from the hub's own blobs. */
async function readVersion(fleet: Fleet, set: Digest): Promise<string> {
  const read = async (digest: Digest): Promise<string> => {
    const bytes = await fleet.hubBlobs.get(digest)
    return bytes ? fromUtf8(bytes) : ''
  }
  const text = await read(set)
  const parts = [...text.matchAll(/sha256:[0-9a-f]{64}/g)].map(([digest]) => digest).filter(isDigest)
  const objects = await Promise.all(parts.map(read))
  return versionIn([text, ...objects].join('\n'))
}
