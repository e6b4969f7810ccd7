/** Health of the parts of a hub, as the hub publishes it in a ConfigMap and as `flotilla check` reads it. */
import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import { nameSome } from '../../core/text/name-some.ts'
import { humanAge, parseTime } from '../../core/time/time.ts'

/** The ConfigMap with the health of all hubs of an API: one key for each hub, by its name. */
export const HUB_HEALTH = { namespace: 'flotilla-system', name: 'flotilla-hub-health' } as const

/** The parts of a hub: its threads, and the loops of its main thread. */
export const HUB_PARTS = ['api', 'gateway', 'view', 'source', 'render', 'push', 'controllers', 'console'] as const
export type HubPart = (typeof HUB_PARTS)[number]

/**
 * Why a part was started again: an error that was not caught, an exit, its memory limit, no answer for too long, or a
 * start that failed.
 */
export const RESTART_CAUSES = ['error', 'exit', 'memory', 'silent', 'start'] as const
export type RestartCause = (typeof RESTART_CAUSES)[number]

const PART_STATES = ['Running', 'Unstable', 'Down'] as const

export interface PartHealth {
  readonly name: HubPart
  /** `Unstable`: the part runs, and ended at least three times without running for a minute. */
  readonly state: (typeof PART_STATES)[number]
  /** Number of restarts since the hub started. */
  readonly restarts: number
  /** The newest end. */
  readonly last?: { readonly cause: RestartCause; readonly message: string; readonly at: string }
}

/**
 * The CAs of a hub: `transport` issues the certificates of gateways and agents, `api` the certificates of API clients.
 */
const HUB_AUTHORITIES = ['transport', 'api'] as const

/** A CA that the hub issues certificates with. */
export interface HubAuthority {
  readonly name: (typeof HUB_AUTHORITIES)[number]
  /** End of its certificate, RFC 3339. */
  readonly notAfter: string
  /** Time at which the CA of the API was created, RFC 3339. Absent for other CAs, and on hubs of an earlier version. */
  readonly createdAt?: string
}

const PEER_STATES = ['Waiting', 'Unknown'] as const

/**
 * A dialect and the controllers of its system on the same kube-apiserver. `Waiting`: they run, and the controllers of
 * the dialect wait. `Unknown`: they could not be listed, and the controllers of the dialect run.
 */
export interface DialectPeer {
  readonly dialect: string
  readonly state: (typeof PEER_STATES)[number]
  /** The controllers that run. */
  readonly workloads: readonly string[]
  /** Why they could not be listed. */
  readonly message?: string
}

/** The disk of a hub; numbers are rounded to two digits. */
export interface HubStorage {
  /** Free space of the data directory. */
  readonly freeBytes: number
  /** Size of the database. Absent on a hub whose home is a kube-apiserver. */
  readonly databaseBytes?: number
  /** Time at which the database was created, RFC 3339. Absent if the file system does not say. */
  readonly createdAt?: string
  /** Time of the newest backup of the data directory, RFC 3339. Absent if none was noted. */
  readonly lastBackup?: string
}

export interface HubHealth {
  /** Version of the program. Absent on hubs of an earlier version, like `storage`. */
  readonly version?: string
  readonly storage?: HubStorage
  readonly startedAt: string
  readonly parts: readonly PartHealth[]
  /** When the hub said so last, RFC 3339. Absent on a hub that does not share its API. */
  readonly at?: string
  /** Version of the trust that the parts of the hub have. Absent on hubs of an earlier version. */
  readonly trust?: number
  /** Beginning of the maintenance that the hub has carried out. Absent on a hub that works. */
  readonly maintenance?: string
  /** Absent on hubs of an earlier version. */
  readonly authorities?: readonly HubAuthority[]
  /** Absent where no dialect waits, and on hubs that do not run the controllers. */
  readonly peers?: readonly DialectPeer[]
}

/** A CA is replaced by a person, in several steps, and agents that are offline must learn of it. */
const AUTHORITY_WARNING_MS = 90 * 86_400_000

const ROTATIONS = { transport: 'flotilla trust rotate ca', api: 'flotilla trust rotate api' } as const

/** Why a CA needs a person, and what to do; undefined while its certificate is valid for more than 90 days. */
export function authorityProblem({ name, notAfter }: HubAuthority, nowMs: number): string | undefined {
  const endsMs = parseTime(notAfter)
  const todo = `; replace it with "${ROTATIONS[name]}"`
  if (endsMs === undefined) return `the end of the ${name} CA is unknown`
  const left = endsMs - nowMs
  if (left <= 0) return `the ${name} CA expired ${humanAge(-left)} ago${todo}`
  return left <= AUTHORITY_WARNING_MS ? `the ${name} CA expires in ${humanAge(left)}${todo}` : undefined
}

/** Why the controllers of a dialect wait, or may meet those of the peer, and what to do. */
export function peerProblem({ dialect, state, workloads, message }: DialectPeer): string {
  return state === 'Waiting'
    ? `dialect ${dialect} waits while controllers of the other system run: ${nameSome(workloads)}; scale them to zero, or leave ${dialect} out of --dialects`
    : `dialect ${dialect} runs, but controllers of the other system cannot be looked for: ${message ?? 'no answer'}; give the hub the role of docs/access.md for this dialect`
}

/** Hubs that share an API say every minute that they run. */
const SILENT_MS = 5 * 60_000
/** A hub that said nothing for so long does not come back under its name. */
const GONE_MS = 86_400_000

const silentMs = ({ at }: HubHealth, nowMs: number): number => (at === undefined ? 0 : nowMs - (parseTime(at) ?? nowMs))

/** Why nothing that a hub published is true now; undefined while it publishes. */
export function silenceProblem(health: HubHealth, nowMs: number): string | undefined {
  const ms = silentMs(health, nowMs)
  if (ms < SILENT_MS) return undefined
  return `silent for ${humanAge(ms)}; it does not run, or it cannot reach the API`
}

/**
 * The hubs that run and do not have this version of the trust yet. A hub that is silent serves no agent for long: its
 * gateway needs the API. A hub of an earlier version does not say.
 */
export function hubsWithoutTrust(
  hubs: readonly { readonly name: string; readonly health: HubHealth | undefined }[],
  version: number,
  nowMs: number,
): string[] {
  return hubs.flatMap(({ name, health }) => {
    const isBehind = health?.trust !== undefined && health.trust < version
    return isBehind && silenceProblem(health, nowMs) === undefined ? [name] : []
  })
}

/** Whether other hubs may remove what this hub published. */
export function isGone(health: HubHealth, nowMs: number): boolean {
  return silentMs(health, nowMs) > GONE_MS
}

/** Why a hub is not ready, as one sentence part; undefined when all of its parts run. */
export function notReadyReason(parts: readonly PartHealth[]): string | undefined {
  const troubled = parts.filter(({ state }) => state !== 'Running')
  if (troubled.length === 0) return undefined
  return troubled.map(({ name, state, restarts }) => describe(name, state, restarts)).join('; ')
}

function describe(name: HubPart, state: PartHealth['state'], restarts: number): string {
  const noun = partNoun(name)
  return state === 'Down'
    ? `${noun} does not run; the hub starts it again (restarts: ${restarts})`
    : `${noun} ended repeatedly (restarts: ${restarts})`
}

/** The part as a noun: `the api thread`, `the controllers`. */
export function partNoun(name: HubPart): string {
  if (name === 'controllers') return 'the loop of the controllers'
  if (name === 'console') return 'the loop of the console'
  return `the ${name} thread`
}

export function formatHubHealth(health: HubHealth): string {
  return JSON.stringify(health, undefined, 2)
}

/** Undefined for a text of another form, for example of a later version. */
export function parseHubHealth(text: string): HubHealth | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || typeof value['startedAt'] !== 'string' || !Array.isArray(value['parts'])) return undefined
  const { startedAt, authorities, peers, version, storage, at, maintenance, trust } = value
  const parts = (value['parts'] as unknown[]).filter(isPartHealth)
  if (parts.length !== value['parts'].length) return undefined
  if (authorities !== undefined && !(Array.isArray(authorities) && authorities.every(isAuthority))) return undefined
  if (peers !== undefined && !(Array.isArray(peers) && peers.every(isPeer))) return undefined
  if (![at, maintenance, version].every((text) => text === undefined || typeof text === 'string')) return undefined
  if (storage !== undefined && !isStorage(storage)) return undefined
  if (trust !== undefined && !Number.isSafeInteger(trust)) return undefined
  return { startedAt, parts, ...compact({ authorities, peers, version, storage, at, maintenance, trust }) } as HubHealth
}

function isPeer(value: unknown): value is DialectPeer {
  if (!isObject(value)) return false
  const { dialect, state, workloads, message } = value
  return (
    typeof dialect === 'string' &&
    PEER_STATES.some((known) => known === state) &&
    Array.isArray(workloads) &&
    workloads.every((one) => typeof one === 'string') &&
    (message === undefined || typeof message === 'string')
  )
}

function isStorage(value: unknown): value is HubStorage {
  if (!isObject(value)) return false
  const { freeBytes, databaseBytes = 0, lastBackup = '', createdAt = '' } = value
  const areSizes = [freeBytes, databaseBytes].every((one) => Number.isSafeInteger(one) && (one as number) >= 0)
  return areSizes && typeof lastBackup === 'string' && typeof createdAt === 'string'
}

function isAuthority(value: unknown): value is HubAuthority {
  return (
    isObject(value) && HUB_AUTHORITIES.some((known) => known === value['name']) && typeof value['notAfter'] === 'string'
  )
}

function isPartHealth(value: unknown): value is PartHealth {
  if (!isObject(value)) return false
  const { name, state, restarts, last } = value
  const isLast =
    last === undefined ||
    (isObject(last) &&
      RESTART_CAUSES.some((known) => known === last['cause']) &&
      typeof last['message'] === 'string' &&
      typeof last['at'] === 'string')
  return (
    HUB_PARTS.some((known) => known === name) &&
    PART_STATES.some((known) => known === state) &&
    Number.isSafeInteger(restarts) &&
    isLast
  )
}
