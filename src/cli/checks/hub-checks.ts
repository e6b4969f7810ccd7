// Tested by src/cli/checks/checks.test.ts.
/** Checks of a hub: reachability, clock, version, certificate, permissions, waiting clusters and old join tokens. */
import { nameSome, plural } from '../../core/text/name-some.ts'
import { humanAge, parseTime } from '../../core/time/time.ts'
import { JOURNAL_ANNOTATION, JOURNAL_NAMESPACE } from '../../kinds/fields/journal-head.ts'
import type { JournalHead } from '../../kinds/fields/journal-head.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { JoinToken } from '../../kinds/native/join-token.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { MIGRATED_LABEL } from '../../kinds/fields/project-names.ts'
import {
  authorityProblem,
  HUB_HEALTH,
  notReadyReason,
  partNoun,
  hubsWithoutTrust,
  silenceProblem,
  peerProblem,
} from '../../plan/fleet/hub-health.ts'
import { maintenanceAge, unconfirmedHubs } from '../../plan/fleet/hub-maintenance.ts'
import type { Maintenance } from '../../plan/fleet/hub-maintenance.ts'
import type { GatewayFacts } from '../../plan/fleet/agent-diagnostics.ts'
import type { HubHealth } from '../../plan/fleet/hub-health.ts'
import type { AttentionItem } from '../../plan/fleet/attention.ts'
import { attentionChecks } from './attention-checks.ts'
import { agentVersionsCheck, storageChecks, stuckRolloutsCheck } from './fleet-checks.ts'
import type { Check, CheckCategory } from './check.ts'

/** The answers of the hub. */
export interface HubFacts {
  readonly server: string
  /** Error of the request. Undefined if the hub answered. */
  readonly problem: string | undefined
  readonly ready: string | undefined
  readonly version: string | undefined
  readonly clientVersion: string
  /** The clock of the hub minus the clock of this machine. */
  readonly skewMs: number | undefined
  /** End of the client certificate. */
  readonly certificateEndsMs: number | undefined
  readonly mayList: boolean
  readonly pendingClusters: number
  /** The gateways as agents know them, asked from this machine; `Unreadable` without the right to read them. */
  readonly gateways: readonly GatewayFacts[] | 'Unreadable'
  /** Undefined if the caller may not list them. */
  readonly clusters: readonly Cluster[] | undefined
  /** Undefined if the caller may not list them. */
  readonly rollouts: readonly Rollout[] | undefined
  /** Join tokens from before the hub checked the rights of their authors. Undefined if the caller may not read them. */
  readonly uncheckedTokens: readonly string[] | undefined
  /** Projects that an upgrade made and that still have its label. Undefined if the caller may not read them. */
  readonly migratedProjects: readonly string[] | undefined
  /** What an earlier version left open. Undefined if the caller may not read it. */
  readonly former?: FormerDefaults | undefined
  /** Health of each hub that publishes it; `Unreadable` if the caller may not read it. */
  readonly hubs: readonly PublishedHealth[] | 'Unreadable'
  /** Undefined if there is none, or if the caller may not read it. */
  readonly maintenance?: Maintenance | undefined
  /** Heads of the journal's streams; `Unreadable` if the caller may not read them. */
  readonly journals: readonly PublishedJournal[] | 'Unreadable'
  /** What needs a person. */
  readonly attention: readonly AttentionItem[]
  /** Kinds that the caller may not list, for example `sources`. */
  readonly refused: readonly string[]
}

/** What a hub that began with version 0.1 may still allow. */
export interface FormerDefaults {
  /** Time of the first start of a later version. Infinity if it is not known. */
  readonly laterSince: number
  /** Whether the role of editors creates Rollouts. */
  readonly editorsCreateRollouts: boolean
}

/** The health of a hub; undefined if this program does not know its form. */
export interface PublishedHealth {
  readonly name: string
  readonly health: HubHealth | undefined
}

/** The head of a stream, by the name of its Lease; undefined if this program cannot read it. */
export interface PublishedJournal {
  readonly lease: string
  readonly head: JournalHead | undefined
}

const SKEW_WARNING_MS = 30_000
/** Restarts that are older than this are shown and are no warning. */
const RESTART_WARNING_MS = 86_400_000
const EXPIRY_WARNING_MS = 7 * 86_400_000

/** The checks of a hub. */
export function hubChecks(facts: HubFacts, nowMs: number): CheckCategory[] {
  if (facts.problem !== undefined) {
    return [
      { name: 'hub', checks: [{ id: 'hub-reachable', result: 'failed', text: `${facts.server}: ${facts.problem}` }] },
    ]
  }
  const checks: Check[] = [
    { id: 'hub-reachable', result: 'ok', text: `${facts.server} answers` },
    facts.ready === 'ok'
      ? { id: 'hub-ready', result: 'ok', text: 'the hub is ready' }
      : { id: 'hub-ready', result: 'failed', text: `the hub is not ready: ${facts.ready ?? 'no answer'}` },
    ...maintenanceChecks(facts, nowMs),
    ...partChecks(facts.hubs, nowMs),
    ...authorityChecks(facts.hubs, nowMs),
    ...peerChecks(facts.hubs),
    ...gatewayChecks(facts.gateways),
    ...diskChecks(facts.hubs, nowMs),
    ...journalChecks(facts.journals, nowMs),
    skewCheck(facts.skewMs),
    versionCheck(facts),
    ...certificateChecks(facts.certificateEndsMs, nowMs),
    facts.mayList
      ? { id: 'may-list', result: 'ok', text: 'you may list clusters.flotilla.dev' }
      : { id: 'may-list', result: 'failed', text: 'you may not list clusters.flotilla.dev' },
    pendingCheck(facts),
    ...tokenChecks(facts.uncheckedTokens),
    ...projectChecks(facts.migratedProjects),
    ...versionsOfAgents(facts),
    ...attentionChecks(facts),
    ...formerChecks(facts, nowMs),
    stuckRolloutsCheck(facts.rollouts, nowMs),
  ]
  return [{ name: 'hub', checks }]
}

/** Names of the tokens that can still let clusters in and are older than the policy that checks their authors. */
export function uncheckedTokens(
  tokens: readonly JoinToken[],
  { policySince, now }: { readonly policySince: number; readonly now: number },
): string[] {
  const unchecked = tokens.filter(({ metadata, spec, status }) => {
    const gives = spec.accept !== 'Manual' || Object.keys(spec.labels).length > 0
    const isOpen = (parseTime(spec.expiresAt) ?? Infinity) > now && (status?.used ?? 0) < spec.uses
    return gives && isOpen && (parseTime(metadata.creationTimestamp ?? '') ?? 0) < policySince
  })
  return unchecked.map(({ metadata }) => metadata.name)
}

/** Agents may be in networks that this machine is not in, and the other way around: not reaching a gateway warns. */
function gatewayChecks(gateways: HubFacts['gateways']): Check[] {
  const id = 'hub-gateway'
  if (gateways === 'Unreadable') {
    const text = `the gateways are not checked: you may not read ConfigMap flotilla-hub in namespace ${HUB_HEALTH.namespace}`
    return [{ id, result: 'warning', text }]
  }
  return gateways.map(({ endpoint, proxy, trouble, otherRoot }): Check => {
    const way = proxy === undefined ? '' : ` through the proxy ${proxy}`
    if (trouble !== undefined)
      return {
        id,
        result: 'warning',
        text: `gateway ${endpoint} cannot be reached from this machine${way}: ${trouble}`,
      }
    if (otherRoot !== undefined)
      return { id, result: 'failed', text: `gateway ${endpoint} does not belong to this hub: ${otherRoot}` }
    return { id, result: 'ok', text: `gateway ${endpoint} answers${way} with the root key of this hub` }
  })
}

/** A hub of an earlier version says nothing about its disk and has no line. */
function diskChecks(hubs: HubFacts['hubs'], nowMs: number): Check[] {
  const { namespace, name } = HUB_HEALTH
  const why = `you may not read ConfigMap ${name} in namespace ${namespace}`
  if (hubs === 'Unreadable')
    return [{ id: 'hub-storage', result: 'warning', text: `disk and backups of the hub are not checked: ${why}` }]
  return hubs.flatMap(({ name: hub, health }) => (health?.storage ? storageChecks(hub, health.storage, nowMs) : []))
}

/** By the version that the API says, and on a kube-apiserver by that of the first hub. */
function versionsOfAgents({ version, hubs, clusters }: HubFacts): Check[] {
  const published = hubs === 'Unreadable' ? undefined : hubs.find(({ health }) => health?.version !== undefined)
  const check = agentVersionsCheck(clusters, ownVersion(version) ?? published?.health?.version)
  return check === undefined ? [] : [check]
}

/** A hub without migrated Projects has no line. */
function projectChecks(names: readonly string[] | undefined): Check[] {
  if (names === undefined || names.length === 0) return []
  const text = `an upgrade made ${plural(names.length, 'Project')} with everything allowed: ${nameSome(names)}; limit them, then remove the label ${MIGRATED_LABEL}`
  return [{ id: 'projects', result: 'warning', text }]
}

function tokenChecks(names: readonly string[] | undefined): Check[] {
  if (names === undefined) return []
  if (names.length === 0) {
    return [{ id: 'join-tokens', result: 'ok', text: 'every join token that accepts clusters was checked' }]
  }
  const tokens = plural(names.length, 'join token accepts or labels', 'join tokens accept or label')
  const text = `${tokens} clusters, and the hub never checked the rights of the author: ${nameSome(names, 5)}`
  return [{ id: 'join-tokens', result: 'warning', text }]
}

/** Version 0.1 issued client certificates for three years. */
const FORMER_ADMIN_MS = 3 * 365 * 86_400_000
/** Time between the CA of a new hub and its policies. */
const FIRST_START_MS = 600_000

/** What an earlier version left open, and what ends it. */
function formerChecks({ former, hubs }: HubFacts, nowMs: number): Check[] {
  if (!former) return []
  const id = 'former-defaults'
  const problems: string[] = []
  const created = hubs === 'Unreadable' ? [] : hubs.flatMap(({ health }) => health?.authorities ?? [])
  const isFormer = created.some(({ createdAt }) => {
    const at = createdAt === undefined ? undefined : parseTime(createdAt)
    return at !== undefined && at < former.laterSince - FIRST_START_MS
  })
  const until = former.laterSince + FORMER_ADMIN_MS
  if (isFormer && until > nowMs) {
    problems.push(
      `client certificates that version 0.1 issued do everything for up to ${humanAge(until - nowMs)} more; end them with "flotilla trust rotate api"`,
    )
  }
  if (former.editorsCreateRollouts) {
    problems.push(
      'ClusterRole flotilla:aggregate-to-edit lets editors create Rollouts, also without the approvals of a RolloutPlan; remove the verb create on rollouts',
    )
  }
  if (problems.length === 0) return [{ id, result: 'ok', text: 'no default of version 0.1 is open' }]
  return problems.map((text) => ({ id, result: 'warning', text }))
}

/** A hub without maintenance has no line. */
function maintenanceChecks({ maintenance, hubs }: HubFacts, nowMs: number): Check[] {
  if (!maintenance) return []
  const text = `maintenance${maintenanceAge(maintenance, nowMs)}: ${maintenance.reason}; nothing is decided until "flotilla hub maintenance off"`
  const late = hubs === 'Unreadable' ? [] : unconfirmedHubs(hubs, maintenance, nowMs)
  return [
    { id: 'hub-maintenance', result: 'warning', text },
    ...late.map((name): Check => {
      const why = `hub ${JSON.stringify(name)} has not confirmed the maintenance and may still decide`
      return { id: 'hub-maintenance', result: 'failed', text: why }
    }),
  ]
}

/** A line for each hub. A hub that publishes nothing, like the demo or an older hub, has no line. */
function partChecks(hubs: HubFacts['hubs'], nowMs: number): Check[] {
  if (hubs === 'Unreadable') {
    const { namespace, name } = HUB_HEALTH
    const text = `restarts of the hub are not checked: you may not read ConfigMap ${name} in namespace ${namespace}`
    return [{ id: 'hub-parts', result: 'warning', text }]
  }
  return hubs.map(({ name, health }) => ({ id: 'hub-parts', ...partResult(name, health, nowMs) }))
}

/** A line for each dialect whose system runs its own controllers on the kube-apiserver, or may run them. */
function peerChecks(hubs: HubFacts['hubs']): Check[] {
  // The line of hub-parts says what cannot be read.
  if (hubs === 'Unreadable') return []
  return hubs.flatMap(({ name, health }) =>
    (health?.peers ?? []).map((peer): Check => {
      const text = `hub ${JSON.stringify(name)}: ${peerProblem(peer)}`
      return { id: 'dialect-peers', result: 'warning', text }
    }),
  )
}

/** A line for each CA of each hub. A hub of an earlier version publishes none and has no line. */
function authorityChecks(hubs: HubFacts['hubs'], nowMs: number): Check[] {
  const id = 'hub-authorities'
  if (hubs === 'Unreadable') {
    const { namespace, name } = HUB_HEALTH
    const text = `the CAs of the hub are not checked: you may not read ConfigMap ${name} in namespace ${namespace}`
    return [{ id, result: 'warning', text }]
  }
  const newest = Math.max(0, ...hubs.map(({ health }) => health?.trust ?? 0))
  const behind = hubsWithoutTrust(hubs, newest, nowMs).map((hub): Check => {
    const text = `hub ${JSON.stringify(hub)} does not have trust ${newest} yet; new keys sign nothing until it has the same keys as the others`
    return { id, result: 'warning', text }
  })
  const valid = hubs.flatMap(({ name: hub, health }) =>
    (health?.authorities ?? []).map((authority): Check => {
      const noun = `hub ${JSON.stringify(hub)}`
      const problem = authorityProblem(authority, nowMs)
      const left = (parseTime(authority.notAfter) ?? NaN) - nowMs
      if (problem === undefined)
        return { id, result: 'ok', text: `${noun}: the ${authority.name} CA is valid for ${humanAge(left)}` }
      return { id, result: left <= 0 ? 'failed' : 'warning', text: `${noun}: ${problem}` }
    }),
  )
  return [...behind, ...valid]
}

function partResult(hub: string, health: HubHealth | undefined, nowMs: number): Pick<Check, 'result' | 'text'> {
  const noun = `hub ${JSON.stringify(hub)}`
  if (!health) return { result: 'warning', text: `${noun}: this program cannot read the published health` }
  const silence = silenceProblem(health, nowMs)
  if (silence !== undefined) return { result: 'failed', text: `${noun}: ${silence}` }
  const problem = notReadyReason(health.parts)
  if (problem !== undefined) return { result: 'failed', text: `${noun}: ${problem}` }
  const restarted = health.parts
    .flatMap(({ name, restarts, last }) =>
      last ? [{ name, restarts, ...last, agoMs: nowMs - (parseTime(last.at) ?? nowMs) }] : [],
    )
    .toSorted((a, b) => a.agoMs - b.agoMs)
  const [newest] = restarted
  const since = `since the hub started ${humanAge(nowMs - (parseTime(health.startedAt) ?? nowMs))} ago`
  if (!newest) return { result: 'ok', text: `${noun}: no part was restarted ${since}` }
  const counts = restarted.map(({ name, restarts }) => `${partNoun(name)} ${restarts}`).join(', ')
  return {
    result: newest.agoMs < RESTART_WARNING_MS ? 'warning' : 'ok',
    text: `${noun}: restarts ${since}: ${counts}; the newest ${humanAge(newest.agoMs)} ago: ${newest.message}`,
  }
}

/** A line for each stream of the journal. A hub of version 0.1 has none. */
function journalChecks(journals: HubFacts['journals'], nowMs: number): Check[] {
  const id = 'journal'
  if (journals === 'Unreadable') {
    const text = `the journal is not checked: you may not list Leases in namespace ${JOURNAL_NAMESPACE}`
    return [{ id, result: 'warning', text }]
  }
  return journals.map(({ lease, head }) => {
    if (!head)
      return { id, result: 'failed', text: `Lease ${lease}: its annotation ${JOURNAL_ANNOTATION} cannot be read` }
    const { stream, records, lost, problem } = head
    const noun = `journal ${JSON.stringify(stream)}`
    if (problem) {
      const since = `records wait since ${humanAge(nowMs - problem.since)} ago`
      return { id, result: 'failed', text: `${noun}: ${since}: ${problem.message}` }
    }
    if (lost === 0) return { id, result: 'ok', text: `${noun}: no record was lost to a full buffer` }
    const all = `${records + lost} records`
    return {
      id,
      result: 'warning',
      text: `${noun}: ${lost} of ${all} ${lost === 1 ? 'was' : 'were'} lost to a full buffer`,
    }
  })
}

function pendingCheck({ mayList, pendingClusters }: HubFacts): Check {
  const id = 'pending-clusters'
  if (!mayList) return { id, result: 'warning', text: 'not checked: clusters that wait for acceptance' }
  return pendingClusters === 0
    ? { id, result: 'ok', text: 'no cluster waits for acceptance' }
    : { id, result: 'warning', text: `${plural(pendingClusters, 'cluster waits', 'clusters wait')} for acceptance` }
}

function skewCheck(skewMs: number | undefined): Check {
  if (skewMs === undefined) return { id: 'clock-skew', result: 'warning', text: 'the hub sends no date' }
  const off = Math.abs(skewMs)
  const text =
    off < 1000
      ? 'the clock of the hub agrees with the clock of this machine'
      : `the clock of the hub is ${humanAge(off)} ${skewMs < 0 ? 'behind' : 'ahead of'} the clock of this machine`
  return { id: 'clock-skew', result: Math.abs(skewMs) > SKEW_WARNING_MS ? 'warning' : 'ok', text }
}

function versionCheck({ version, clientVersion }: HubFacts): Check {
  const own = ownVersion(version)
  if (own === undefined)
    return {
      id: 'version',
      result: 'ok',
      text: `the home of the hub is Kubernetes ${version ?? 'of an unknown version'}`,
    }
  return own === clientVersion
    ? { id: 'version', result: 'ok', text: `version ${own}, the same as this program` }
    : {
        id: 'version',
        result: 'warning',
        text: `the hub has version ${own}, this program has version ${clientVersion}`,
      }
}

/** The version of an embedded hub; undefined for a kube-apiserver. */
function ownVersion(version: string | undefined): string | undefined {
  return /flotilla-(\S+)$/.exec(version ?? '')?.[1]
}

function certificateChecks(endsMs: number | undefined, nowMs: number): Check[] {
  if (endsMs === undefined) return []
  const left = endsMs - nowMs
  if (left <= 0)
    return [{ id: 'own-certificate', result: 'failed', text: `your certificate expired ${humanAge(-left)} ago` }]
  const result = left < EXPIRY_WARNING_MS ? 'warning' : 'ok'
  return [{ id: 'own-certificate', result, text: `your certificate is valid for ${humanAge(left)}` }]
}
