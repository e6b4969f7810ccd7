/** `flotilla rollout status`, `start`, `pause`, `resume`, `abort` and `history`. */
import { compact } from '../../../core/compact.ts'
import { settleAll } from '../../../core/async/settle-all.ts'
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
import { findObject } from '../../../client/find-object.ts'
import { findCondition } from '../../../core/conditions.ts'
import { formatDuration, parseDuration } from '../../../core/time/duration.ts'
import { isApiError } from '../../../core/errors.ts'
import { plural } from '../../../core/text/name-some.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { KubeObject, ResourceType, Scope } from '../../../kinds/meta.ts'
import type { PlacementDecision } from '../../../kinds/native/placement-decision.ts'
import type { Release } from '../../../kinds/native/release.ts'
import type { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import { bundleHold } from '../../../plan/windows/bundle-hold.ts'
import { previewRollout } from '../../../plan/rollout/preview.ts'
import type { PreviewCluster, RolloutPreview } from '../../../plan/rollout/preview.ts'
import type { RingSpec } from '../../../plan/rollout/rings.ts'
import { compileWindow, isForBundle, rememberSpans } from '../../../plan/windows/window-rules.ts'
import type { WindowObject } from '../../../plan/windows/window-rules.ts'
import { bytesText } from '../../print/format-bytes.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { alignColumns, needsApproval, REASON, statusText } from '../../print/print-rollout.ts'
import { relativeTime, withLocalTimes } from '../../print/print-time.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import { commitCells } from '../../print/commit-cells.ts'
import type { Terminal } from '../../print/terminal.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { listWindows } from '../../print/print-windows.ts'
import { refuseFinishedRollout } from './refuse-finished.ts'

export interface RolloutInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: {
    readonly namespace?: string
    readonly output?: string
    readonly reason?: string
    readonly dryRun?: boolean
  }
}

// Resource types without schemas: loading typebox would double the time to the first byte.

export const address = <T extends KubeObject>(kind: string, scope: Scope = 'Namespaced'): ResourceType<T> => ({
  group: 'flotilla.dev',
  version: 'v1alpha1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  scope,
})

export const ROLLOUT = address<Rollout>('Rollout')
const RELEASE = address<Release>('Release')
const BUNDLE = address<Bundle>('Bundle')
const PLAN = address<RolloutPlan>('RolloutPlan')
const DECISION = address<PlacementDecision>('PlacementDecision')
const CLUSTER = address<Cluster>('Cluster', 'Cluster')

// Assumed duration of a cluster; the preview names the assumption.
const PER_CLUSTER_MS = 60_000
const SHOWN_HOLDS = 10
// Claims and labels that a canary ring should share with the later rings.
const TRAITS = [
  'region',
  'topology.kubernetes.io/region',
  'flotilla.dev/platform',
  'flotilla.dev/kubernetes-version',
  'flotilla.dev/architecture',
  'network',
] as const

/** Prints a rollout by ring. The exit code tells whether it is completed. */
export async function rolloutStatus(name: string, input: RolloutInput): Promise<ExitCode> {
  const rollout = await findRollout(name, input)
  if (input.flags.output === 'json') input.terminal.data(`${JSON.stringify(rollout, undefined, 2)}\n`)
  else input.terminal.data(input.terminal.command(statusText(rollout, systemClock.now())))
  return exitCodeOf(rollout)
}

/** The exit code of a rollout: completed, stopped, waiting for an approval, or in progress. */
export function exitCodeOf(rollout: Rollout): ExitCode {
  const phase = rollout.status?.phase
  if (phase === 'Completed') return EXIT.ok
  if (phase === 'Failed' || phase === 'Aborted') return EXIT.failed
  return needsApproval(rollout) ? EXIT.conflict : EXIT.timeout
}

/** Pauses a rollout. Clusters that were already admitted continue. */
export async function rolloutPause(name: string, input: RolloutInput): Promise<void> {
  const rollout = await findRollout(name, input)
  await refuseFinishedRollout(rollout, input)
  if (rollout.spec.paused) return input.terminal.step('ok', `rollout "${rollout.metadata.name}" is already paused`)
  await write(rollout, { paused: true }, input)
  const effect =
    rollout.status?.phase === 'Completed'
      ? 'all clusters have the release; clusters that join later wait'
      : 'clusters that were already admitted continue'
  input.terminal.step('ok', `rollout "${rollout.metadata.name}" paused; ${effect}`)
  input.terminal.step('next', `flotilla rollout resume ${rollout.metadata.name}`)
}

/** Resumes a paused rollout, or starts a rollout that waits for a manual start. */
export async function rolloutResume(name: string, input: RolloutInput): Promise<void> {
  const rollout = await findRollout(name, input)
  await refuseFinishedRollout(rollout, input)
  if (!rollout.spec.paused) {
    const state = rollout.status?.phase === 'Completed' ? 'Completed and not paused' : 'already running'
    return input.terminal.step('ok', `rollout "${rollout.metadata.name}" is ${state}`)
  }
  const { username } = await whoAmI(input.connection.rest)
  // For noSelfApproval, the hub reads startedBy. The API lets a user add only their own name.
  const startedBy = [...new Set([...(rollout.spec.startedBy ?? []), username])]
  await write(rollout, { paused: false, startedBy }, input)
  input.terminal.step('ok', `rollout "${rollout.metadata.name}" resumed`)
  input.terminal.step('next', `flotilla rollout status ${rollout.metadata.name}`)
}

/** Aborts a rollout. It cannot be resumed. */
export async function rolloutAbort(name: string, input: RolloutInput): Promise<void> {
  const rollout = await findRollout(name, input)
  if (rollout.spec.aborted) return input.terminal.step('ok', `rollout "${rollout.metadata.name}" is already aborted`)
  await refuseFinishedRollout(rollout, input)
  await write(rollout, { aborted: true }, input)
  const { ready = 0, total = 0 } = rollout.status?.counts ?? {}
  input.terminal.step(
    'ok',
    `rollout "${rollout.metadata.name}" aborted; ${ready} of ${total} clusters have the release and keep it`,
  )
  input.terminal.step('next', `flotilla rollout status ${rollout.metadata.name}`)
}

/** Lists the releases of a Bundle, newest first. */
export async function rolloutHistory(bundle: string, input: RolloutInput): Promise<void> {
  const client = clientOver(input.connection.rest)
  const namespace = namespaceOf(input)
  const [{ items: releases }, { items: rollouts }] = await settleAll([
    client.list(RELEASE, { namespace }),
    client.list(ROLLOUT, { namespace }),
  ])
  const byRelease = new Map(rollouts.map((rollout) => [rollout.spec.release, rollout]))
  const rows = releases
    .flatMap((release) => {
      const revision = release.spec.bundles.find(({ name }) => name === bundle)
      return revision ? [{ release, revision, rollout: byRelease.get(release.metadata.name) }] : []
    })
    .sort((a, b) => b.revision.generation - a.revision.generation)
  if (input.flags.output === 'json') return input.terminal.data(`${JSON.stringify(rows, undefined, 2)}\n`)
  if (rows.length === 0) {
    throw new CliError(EXIT.notFound, {
      what: `bundle "${bundle}" has no releases in namespace "${namespace}"`,
      todo: `list Bundles with "flotilla get bundles -n ${namespace}"`,
    })
  }
  const now = systemClock.now()
  const table = [
    ['GENERATION', 'RELEASE', 'PHASE', 'READY', 'CREATED', 'REVISION', 'AUTHOR', 'SUBJECT', 'REASON'],
    ...rows.map(({ release, revision, rollout }) => [
      String(revision.generation),
      release.metadata.name,
      rollout?.status?.phase ?? '-',
      rollout?.status?.counts ? `${rollout.status.counts.ready}/${rollout.status.counts.total}` : '-',
      relativeTime(release.metadata.creationTimestamp ?? '-', now),
      // A rollback can return each cluster to another revision.
      ...(release.spec.rollBack && revision.variants ? ['several', '-', '-'] : commitCells(revision)),
      reasonText(release, rollout, now),
    ]),
  ]
  input.terminal.data(`${alignColumns(table)}\n`)
}

/** The rollbacks and retries of a release, with user and reason. */
function reasonText({ spec, status }: Release, rollout: Rollout | undefined, now: number): string {
  const said = (reason: string | undefined) => (reason === undefined ? '' : `: ${reason}`)
  const back = spec.rollBack
  return [
    ...(back ? [`rollback of ${back.of} by ${back.by}${said(back.reason)}`] : []),
    ...(status?.bad ?? [])
      .slice(0, 1)
      .map(({ by, at, reason }) => `rolled back ${relativeTime(at, now)} by ${by}${said(reason)}`),
    ...(rollout?.spec.acts ?? [])
      .filter(({ verb }) => verb === 'Retry')
      .map(({ by, at, reason }) => `retried ${relativeTime(at, now)} by ${by}${said(reason)}`),
    ...(rollout?.metadata.annotations?.[REASON] === undefined ? [] : [rollout.metadata.annotations[REASON]]),
  ].join('; ')
}

/** Starts the newest rollout of a Bundle, or with --dry-run previews it. */
export async function rolloutStart(bundleName: string, input: RolloutInput): Promise<void> {
  const client = clientOver(input.connection.rest)
  const namespace = namespaceOf(input)
  const key = { name: bundleName, namespace }
  const bundle = await findByName(client, BUNDLE, key).catch(async (caught: unknown) => {
    const rollout = caught instanceof CliError ? await client.get(ROLLOUT, key).catch(() => undefined) : undefined
    if (!rollout) throw caught
    await refuseFinishedRollout(rollout, input)
    throw new CliError(EXIT.notFound, {
      what: `"${bundleName}" is a rollout, but "rollout start" requires a Bundle`,
      todo: `resume the rollout with "flotilla rollout resume ${bundleName}"`,
    })
  })
  if (!input.flags.dryRun) {
    const release = bundle.status?.release
    if (release === undefined) throw noReleaseYet(bundleName, namespace)
    return await rolloutResume(release, input)
  }
  const { preview, unread } = await previewOf(client, bundle, namespace)
  if (input.flags.output === 'json') return input.terminal.data(`${JSON.stringify(preview, undefined, 2)}\n`)
  input.terminal.data(previewText(bundleName, preview))
  for (const { cluster, message } of preview.rings.flatMap(({ holds }) => holds).slice(0, SHOWN_HOLDS)) {
    input.terminal.step('warn', `cluster "${cluster}" waits: ${withLocalTimes(message)}`)
  }
  for (const warning of preview.warnings) input.terminal.step('warn', warning)
  if (unread.length > 0) {
    input.terminal.step('warn', `not considered: ${unread.join(' and ')}, which you may not list`)
  }
  if (preview.unringed.length > 0) {
    input.terminal.step(
      'warn',
      `${plural(preview.unringed.length, 'cluster is', 'clusters are')} in no ring and would never be admitted`,
    )
  }
}

interface PreviewedRollout {
  readonly preview: RolloutPreview
  /** Kinds of windows that the caller may not list. */
  readonly unread: readonly string[]
}

async function previewOf(client: Client, bundle: Bundle, namespace: string): Promise<PreviewedRollout> {
  const { placement, rollout } = bundle.spec
  const [{ items: clusters }, { items: pages }, plan, { windows, refused: unread }, perClusterBytes] = await settleAll([
    client.list(CLUSTER),
    client.list(DECISION, { namespace }),
    rollout?.plan === undefined ? undefined : client.get(PLAN, { name: rollout.plan, namespace }),
    listWindows(client),
    bytesOf(client, bundle, namespace),
  ])
  const holdIn = holdsOf(bundle, windows)
  const groups = new Map<string, string[]>()
  for (const { spec } of pages) {
    if (spec.placement !== placement) continue
    for (const { cluster, state, group } of spec.decisions)
      if (state === 'Selected') groups.set(cluster, group ? [group] : [])
  }
  const members = clusters
    .filter(({ metadata }) => groups.has(metadata.name))
    .map((cluster): PreviewCluster => {
      const { name, labels = {} } = cluster.metadata
      const claims = Object.fromEntries((cluster.status?.claims ?? []).map((claim) => [claim.name, claim.value]))
      const facts: Record<string, string> = { ...claims, ...labels }
      return {
        name,
        labels,
        groups: groups.get(name) ?? [],
        isOnline: findCondition(cluster.status?.conditions, 'Available')?.status === 'True',
        ...holdIn(cluster),
        traits: Object.fromEntries(TRAITS.flatMap((key) => (facts[key] === undefined ? [] : [[key, facts[key]]]))),
      }
    })
  const rings = plan?.spec.rings ?? [{ name: 'all', concurrency: rollout?.concurrency ?? 10 }]
  const preview = previewRollout(rings.map(asRing), members, { perClusterMs: PER_CLUSTER_MS, perClusterBytes })
  return { preview, unread }
}

/** The size of the newest release of a Bundle. */
async function bytesOf(client: Client, { metadata, status }: Bundle, namespace: string): Promise<number | undefined> {
  if (status?.release === undefined) return undefined
  const release = await client.get(RELEASE, { name: status.release, namespace })
  return release.spec.bundles.find(({ name }) => name === metadata.name)?.bytes
}

/** The holds of a Bundle on a cluster now, as the hub decides them for a newer generation. */
function holdsOf(bundle: Bundle, windows: readonly WindowObject[]) {
  const { name, namespace = '', generation = 0 } = bundle.metadata
  const entry = { bundle: `${namespace}/${name}`, generation: generation + 1 }
  const mine = windows.map(compileWindow).filter((window) => isForBundle(window, entry.bundle))
  const at = { now: systemClock.now(), look: rememberSpans() }
  return (cluster: Cluster): Pick<PreviewCluster, 'hold'> => {
    const hold = bundleHold(cluster, mine, entry, at)
    return hold ? { hold } : {}
  }
}

function asRing({ soak, ...ring }: RolloutPlan['spec']['rings'][number]): RingSpec {
  const soakMs = soak === undefined ? undefined : parseDuration(soak)
  return compact({ ...ring, soakMs })
}

function previewText(bundle: string, { rings, expectedMs, expectedBytes, unringed }: RolloutPreview): string {
  const rows = [
    ['RING', 'MEMBERS', 'OFFLINE', 'FROZEN', 'STEPS', 'SOAK', 'ASKS'],
    ...rings.map(({ name, members, offline, frozen, steps, soakMs, asks }) => [
      name,
      String(members.length),
      String(offline.length),
      String(frozen.length),
      String(steps),
      soakMs === 0 ? '-' : formatDuration(soakMs),
      asks.join(', ') || '-',
    ]),
    ...(unringed.length > 0 ? [['(none)', String(unringed.length), '', '', '', '', '']] : []),
  ]
  const total = rings.reduce((sum, { members }) => sum + members.length, 0) + unringed.length
  const fetched = expectedBytes === undefined ? '' : `, at most ${bytesText(expectedBytes)} to fetch`
  const first = `bundle "${bundle}": ${plural(total, 'cluster')}, at least ${formatDuration(expectedMs)} with 1 minute for each step${fetched}`
  return `${first}\n${alignColumns(rows)}\n`
}

/** The rollout of this name, or the newest rollout of the Bundle of this name. */
export async function findRollout(name: string, input: RolloutInput): Promise<Rollout> {
  const client = clientOver(input.connection.rest)
  const namespace = namespaceOf(input)
  const rollout = await findObject(client, ROLLOUT, { name, namespace })
  if (rollout) return rollout
  const bundle = await findObject(client, BUNDLE, { name, namespace })
  if (bundle && bundle.status?.release === undefined) throw noReleaseYet(name, namespace)
  return await findByName(client, ROLLOUT, { name: bundle?.status?.release ?? name, namespace })
}

/** The error for a Bundle without a release. */
export function noReleaseYet(bundle: string, namespace: string): CliError {
  return new CliError(EXIT.conflict, {
    what: `bundle "${bundle}" has no release yet`,
    todo: `read its conditions with "flotilla get bundle ${bundle} -n ${namespace} -o yaml"`,
  })
}

/** Gets an object. The error for a missing object suggests the nearest name. */
export async function findByName<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  key: { readonly name: string; readonly namespace: string },
): Promise<T> {
  try {
    return await client.get(type, key)
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    const { items } = await client.list(type, { namespace: key.namespace })
    const suggestion = didYouMean(
      key.name,
      items.map(({ metadata }) => metadata.name),
    )
    throw new CliError(EXIT.notFound, {
      what: `${type.kind.toLowerCase()} "${key.name}" not found in namespace "${key.namespace}"`,
      todo: suggestion ?? `list ${type.plural} with "flotilla get ${type.plural} -n ${key.namespace}"`,
    })
  }
}

/** How often a conflicting change is repeated. */
const CONFLICTS = 20

async function write(rollout: Rollout, spec: Partial<Rollout['spec']>, input: RolloutInput): Promise<void> {
  const { reason } = input.flags
  await changeRollout(rollout, input, (now) => {
    // The reason of the previous change stays in the audit log; here it would be read as the reason of this change.
    const { [REASON]: _past, ...others } = now.metadata.annotations ?? {}
    const annotations = { ...others, ...compact({ [REASON]: reason }) }
    return { ...now, metadata: { ...now.metadata, annotations }, spec: { ...now.spec, ...spec } }
  })
}

/** Changes a rollout. The hub writes rollouts often, so the change is repeated after a conflict. */
export async function changeRollout(
  rollout: Rollout,
  { connection }: Pick<RolloutInput, 'connection'>,
  change: (now: Rollout) => Rollout,
): Promise<Rollout> {
  const client = clientOver(connection.rest)
  const { name, namespace = '' } = rollout.metadata
  let now = rollout
  for (let left = CONFLICTS; ; left -= 1) {
    try {
      return await client.update(ROLLOUT, change(now), { fieldManager: 'flotilla-cli' })
    } catch (caught) {
      if (!isApiError(caught, 'Conflict') || left === 0) throw caught
      now = await client.get(ROLLOUT, { name, namespace })
    }
  }
}

/** The namespace of the command. */
export function namespaceOf({ flags, connection }: RolloutInput): string {
  return flags.namespace ?? connection.namespace ?? 'default'
}
