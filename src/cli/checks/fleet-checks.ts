// Tested by src/cli/checks/fleet-checks.test.ts.
/** Checks of the disk of hubs, of their backups, of Rollouts without progress, and of the versions of agents. */
import { nameSome, plural } from '../../core/text/name-some.ts'
import { parseDuration } from '../../core/time/duration.ts'
import { humanAge, parseTime } from '../../core/time/time.ts'
import { bytesText } from '../print/format-bytes.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { HubStorage } from '../../plan/fleet/hub-health.ts'
import type { Check, CheckResult } from './check.ts'

const MB = 1024 * 1024
const LEAST_FREE_BYTES = 256 * MB
const LITTLE_FREE_BYTES = 2048 * MB
const BACKUP_WARNING_MS = 7 * 86_400_000
const STUCK_MS = 3_600_000

/** The disk of a hub, and on an embedded hub its newest backup. */
export function storageChecks(
  hub: string,
  { freeBytes, databaseBytes, lastBackup, createdAt }: HubStorage,
  nowMs: number,
): Check[] {
  const noun = `hub ${JSON.stringify(hub)}`
  const room = `${bytesText(freeBytes)} free`
  const disk = (result: CheckResult, text: string): Check => ({ id: 'hub-storage', result, text: `${noun}: ${text}` })
  const result = freeBytes < LEAST_FREE_BYTES ? 'failed' : freeBytes < LITTLE_FREE_BYTES ? 'warning' : 'ok'
  if (databaseBytes === undefined) return [disk(result, `${room} in the data directory`)]
  const size = `the database has ${bytesText(databaseBytes)}, ${room}`
  // A backup on this disk, and a database that is written anew, need as much again.
  const isTight = result === 'ok' && freeBytes < databaseBytes
  return [
    isTight ? disk('warning', `${size}, which is less than the database has`) : disk(result, size),
    backupCheck(noun, { lastBackup, createdAt }, nowMs),
  ]
}

function backupCheck(
  noun: string,
  { lastBackup, createdAt }: Pick<HubStorage, 'lastBackup' | 'createdAt'>,
  nowMs: number,
): Check {
  const ageOf = (time: string): number => Math.max(0, nowMs - (parseTime(time) ?? 0))
  const check = (ageMs: number, text: string): Check => ({
    id: 'last-backup',
    result: ageMs > BACKUP_WARNING_MS ? 'warning' : 'ok',
    text: `${noun}: ${text}`,
  })
  if (lastBackup !== undefined) {
    const age = ageOf(lastBackup)
    return check(age, `the newest backup is ${humanAge(age)} old`)
  }
  if (createdAt === undefined) return check(Infinity, 'no backup was noted')
  const age = ageOf(createdAt)
  return check(age, `no backup was noted; the database was created ${humanAge(age)} ago`)
}

/** Rollouts that progress by name and did not for an hour; undefined facts are those of a caller that may not list. */
export function stuckRolloutsCheck(rollouts: readonly Rollout[] | undefined, nowMs: number): Check {
  const id = 'rollouts-stuck'
  if (rollouts === undefined) return { id, result: 'warning', text: 'not checked: you may not list rollouts' }
  const stuck = rollouts.flatMap((rollout) => {
    const why = stuckReason(rollout, nowMs)
    const { namespace, name } = rollout.metadata
    return why === undefined ? [] : [`${namespace ?? ''}/${name} (${why})`]
  })
  if (stuck.length === 0)
    return { id, result: 'ok', text: 'no Rollout waits for a cluster or a gate for more than 60m' }
  const text = `${plural(stuck.length, 'Rollout waits', 'Rollouts wait')} for more than 60m: ${nameSome(stuck)}`
  return { id, result: 'warning', text }
}

/** What a Rollout waits for without a person having stopped it; undefined if it does not wait for long. */
function stuckReason({ spec, status }: Rollout, nowMs: number): string | undefined {
  if (status?.phase !== 'Progressing') return undefined
  // With a deadline, clusters fail by themselves; then the Rollout goes on or stops.
  const deadlineMs = spec.progressDeadline === undefined ? 0 : (parseDuration(spec.progressDeadline) ?? 0)
  const isOld = (time: string | undefined, afterMs: number): boolean =>
    time !== undefined && nowMs - (parseTime(time) ?? nowMs) > afterMs
  const waiting = (status.admissions ?? []).filter(
    ({ failedAt, admittedAt }) => failedAt === undefined && isOld(admittedAt, STUCK_MS + deadlineMs),
  )
  if (waiting.length > 0) return `neither Ready nor failed: ${nameSome(waiting.map(({ cluster }) => cluster))}`
  const ring = status.rings?.find(({ name }) => name === status.ring)
  const gate = ring?.gates?.find(({ state, since }) => state === 'Unknown' && isOld(since, STUCK_MS))
  return gate === undefined ? undefined : `gate ${gate.name} of ring ${ring!.name}: ${gate.message}`
}

/** Agents whose major or minor version is another than that of the hub. */
export function agentVersionsCheck(
  clusters: readonly Cluster[] | undefined,
  hubVersion: string | undefined,
): Check | undefined {
  const id = 'agent-versions'
  if (clusters === undefined) return { id, result: 'warning', text: 'not checked: you may not list clusters' }
  const own = minorOf(hubVersion)
  if (own === undefined) return undefined
  const agents = clusters.flatMap(({ metadata: { name }, spec, status }) =>
    spec.accepted && status?.agentVersion !== undefined ? [{ name, version: status.agentVersion }] : [],
  )
  const others = agents.filter(({ version }) => minorOf(version) !== own)
  if (others.length === 0) {
    return { id, result: 'ok', text: `${plural(agents.length, 'agent')} of version ${own}, as the hub` }
  }
  const byVersion = Map.groupBy(others, ({ version }) => version)
  const list = [...byVersion].map(
    ([version, of]) => `${plural(of.length, 'agent')} of version ${version} (${nameSome(of.map(({ name }) => name))})`,
  )
  return { id, result: 'warning', text: `the hub has version ${hubVersion}: ${list.join(', ')}` }
}

/** `0.1` of `0.1.7`; undefined for a text that is no version. */
function minorOf(version: string | undefined): string | undefined {
  return /^(\d+\.\d+)\./.exec(version ?? '')?.[1]
}
