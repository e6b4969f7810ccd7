/** `flotilla rollback`, `retry` and `release lift`. */
import { compact } from '../../../core/compact.ts'
import { settleAll } from '../../../core/async/settle-all.ts'
import { clientOver } from '../../../client/create-client.ts'
import { findObject } from '../../../client/find-object.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Assignment } from '../../../kinds/native/assignment.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { PlacementDecision } from '../../../kinds/native/placement-decision.ts'
import type { Release } from '../../../kinds/native/release.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import { planRequest } from '../../../plan/release/rollback-request.ts'
import type { RollbackRequest, RollbackWorld } from '../../../plan/release/rollback-request.ts'
import { rollbackWorld } from '../../../plan/release/rollback-world.ts'
import type { PlannedRollback } from '../../../plan/release/rollback.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { REPORTS } from '../../api/flotilla-resources.ts'
import { requireConfirmation } from '../../input/require-confirmation.ts'
import { alignColumns } from '../../print/print-rollout.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { address, changeRollout, findByName, namespaceOf, noReleaseYet, ROLLOUT, findRollout } from './rollout.ts'
import type { RolloutInput } from './rollout.ts'
import { refuseFinishedRollout } from './refuse-finished.ts'

const RELEASE = address<Release>('Release')
const BUNDLE = address<Bundle>('Bundle')
const DECISION = address<PlacementDecision>('PlacementDecision')
const CLUSTER = address<Cluster>('Cluster', 'Cluster')
const ASSIGNMENT = address<Assignment>('Assignment', 'Cluster')

export interface RollbackInput extends RolloutInput {
  readonly now: () => number
  readonly confirm: (question: string) => Promise<boolean>
  readonly flags: RolloutInput['flags'] & {
    readonly toRelease?: string
    readonly cluster?: readonly string[]
    readonly ring?: string
    readonly bundle?: string
    readonly yes?: boolean
  }
}

/** Rolls back a rollout, or the newest change of a Bundle. Prints the target of each cluster and asks first. */
export async function rollback(name: string, input: RollbackInput): Promise<void> {
  const { terminal, flags } = input
  const { rollout, release, bundles } = await changeOf(name, input)
  if (flags.ring !== undefined && rollout.spec.rings.every((ring) => ring.name !== flags.ring)) {
    throw new CliError(EXIT.notFound, {
      what: `rollout "${rollout.metadata.name}" has no ring "${flags.ring}"`,
      todo: `the rings are ${rollout.spec.rings.map((ring) => ring.name).join(', ')}`,
    })
  }
  const request: RollbackRequest = compact({
    ...compact({ clusters: flags.cluster ? [...flags.cluster] : undefined }),
    ring: flags.ring,
    to: flags.toRelease,
    ...compact({ bundles }),
  })
  const plans = planRequest(rollout, release, request, await worldOf(input))
  refuseEmptyPlan(rollout, plans)
  const touched = new Set(plans.flatMap(({ moves }) => moves.map(({ cluster }) => cluster))).size
  if (flags.output === 'json') terminal.data(`${JSON.stringify(plans, undefined, 2)}\n`)
  else terminal.data(blastRadius(rollout, plans, touched))
  if (flags.dryRun) return
  await requireConfirmation(`roll back ${rollout.metadata.name} on ${clustersText(touched)}`, input)

  const { clusters, ring, to, bundles: only } = request
  const n = await ask(
    rollout,
    input,
    compact({
      verb: 'RollBack',
      clusters: clusters && [...clusters],
      ring,
      to,
      bundles: only && [...only],
    }),
  )
  const undo = `${release.metadata.name}-undo-${n}`
  terminal.step(
    'ok',
    `rollout "${rollout.metadata.name}" is rolled back; its content is not rolled out again until it changes, or until "flotilla release lift ${release.metadata.name}"`,
  )
  terminal.step('next', `flotilla rollout status ${undo} -n ${namespaceOf(input)}`)
}

type Act = NonNullable<Rollout['spec']['acts']>[number]

/** Adds an act of the caller to the rollout and returns its number. */
async function ask(rollout: Rollout, input: RollbackInput, act: Omit<Act, 'n' | 'by' | 'at'>): Promise<number> {
  const { connection, flags } = input
  const { username: by } = await whoAmI(connection.rest)
  const reason = flags.reason === undefined ? {} : { reason: flags.reason }
  const changed = await changeRollout(rollout, input, (now) => {
    const acts = now.spec.acts ?? []
    const n = Math.max(0, ...acts.map((one) => one.n)) + 1
    const one: Act = { n, by, at: formatTime(input.now()), ...act, ...reason }
    return { ...now, spec: { ...now.spec, acts: [...acts, one].slice(-100) } }
  })
  return changed.spec.acts!.at(-1)!.n
}

export async function retry(named: string, input: RollbackInput): Promise<void> {
  const { terminal, flags } = input
  const rollout = await findRollout(named, input)
  const { name } = rollout.metadata
  await refuseFinishedRollout(rollout, input)
  const failed = new Set((rollout.status?.admissions ?? []).filter((one) => one.failedAt).map((one) => one.cluster))
  // A cluster that failed at unchanged content of an older Release is counted here but was never admitted.
  const count = Math.max(failed.size, rollout.status?.counts?.failed ?? 0)
  const doubtful = (flags.cluster ?? []).filter((cluster) => !failed.has(cluster))
  const strangers = count === 0 ? doubtful : await notFailed(rollout, doubtful, input)
  if (count === 0 || strangers.length > 0) {
    const cause = count === 0 ? 'no cluster failed' : `${strangers.join(', ')} did not fail`
    throw new CliError(EXIT.conflict, {
      what: `rollout "${name}": ${cause}; nothing to retry`,
      todo: `show the rollout with "flotilla rollout status ${name}"`,
    })
  }
  await ask(rollout, input, compact({ verb: 'Retry', clusters: flags.cluster ? [...flags.cluster] : undefined }))
  terminal.step(
    'ok',
    `retrying ${clustersText(flags.cluster?.length ?? count)} of rollout "${name}", within the budgets of its rings`,
  )
  terminal.step('next', `flotilla rollout status ${name} -n ${namespaceOf(input)}`)
}

/** The clusters whose reports have no failed Bundle of the rollout. */
async function notFailed(rollout: Rollout, clusters: readonly string[], input: RollbackInput): Promise<string[]> {
  if (clusters.length === 0) return []
  const client = clientOver(input.connection.rest)
  const namespace = namespaceOf(input)
  const release = await findByName(client, RELEASE, { name: rollout.spec.release, namespace })
  const bundles = new Set(release.spec.bundles.map(({ name }) => `${namespace}/${name}`))
  const reports = await settleAll(clusters.map((name) => findObject(client, REPORTS, { name })))
  const hasFailed = (report: ClusterReport | undefined) =>
    report?.spec.bundles.some(({ bundle, state }) => state === 'Failed' && bundles.has(bundle)) ?? false
  return clusters.filter((_, i) => !hasFailed(reports[i]))
}

/** Lifts the mark of a release, so that its content can be rolled out again. */
export async function releaseLift(
  name: string,
  input: RolloutInput & { readonly flags: { readonly bundle?: string } },
) {
  const { terminal, connection, flags } = input
  const client = clientOver(connection.rest)
  const release = await findByName(client, RELEASE, { name, namespace: namespaceOf(input) })
  const marks = release.status?.bad ?? []
  const rest = marks.filter(({ bundle }) => flags.bundle !== undefined && bundle !== flags.bundle)
  if (marks.length === rest.length) {
    return terminal.step(
      'ok',
      `release "${name}" is not marked bad${flags.bundle ? ` for bundle "${flags.bundle}"` : ''}`,
    )
  }
  const { bad: _, ...status } = release.status ?? {}
  const next = { ...release, status: { ...status, ...compact({ bad: rest.length > 0 ? rest : undefined }) } }
  await client.update(RELEASE, next, { fieldManager: 'flotilla-cli', subresource: 'status' })
  const names = marks.filter((mark) => !rest.includes(mark)).map(({ bundle }) => bundle)
  terminal.step(
    'ok',
    `release "${name}" is no longer marked bad for ${names.join(', ')}; its content can be rolled out again`,
  )
}

/** The rollout to roll back. For a Bundle: the rollout of its newest release, limited to the Bundle. */
async function changeOf(name: string, input: RollbackInput) {
  const client = clientOver(input.connection.rest)
  const namespace = namespaceOf(input)
  const { items } = await client.list(BUNDLE, { namespace })
  const bundle = items.find(({ metadata }) => metadata.name === name)
  if (bundle && bundle.status?.release === undefined) throw noReleaseYet(name, namespace)
  const rolloutName = bundle?.status?.release ?? name
  const rollout = await findByName(client, ROLLOUT, { name: rolloutName, namespace })
  const release = await findByName(client, RELEASE, { name: rollout.spec.release, namespace })
  return { rollout, release, bundles: bundle ? [name] : undefined }
}

async function worldOf(input: RollbackInput): Promise<RollbackWorld> {
  const client = clientOver(input.connection.rest)
  const namespace = namespaceOf(input)
  const [releases, pages, clusters, assignments] = await settleAll([
    client.list(RELEASE, { namespace }),
    client.list(DECISION, { namespace }),
    client.list(CLUSTER),
    client.list(ASSIGNMENT),
  ])
  return rollbackWorld(namespace, {
    releases: releases.items,
    pages: pages.items,
    clusters: clusters.items,
    assignments: assignments.items,
  })
}

function refuseEmptyPlan({ metadata }: Rollout, plans: readonly PlannedRollback[]): void {
  const problem = plans.find((plan) => plan.problem !== undefined)?.problem
  if (problem !== undefined) throw new CliError(EXIT.conflict, { what: `${problem}; nothing was changed` })
  if (plans.some(({ moves }) => moves.length > 0)) return
  const stuck = plans.flatMap((plan) => plan.stuck)
  throw new CliError(EXIT.conflict, {
    what: `cannot roll back rollout "${metadata.name}"`,
    why:
      plans.length === 0
        ? 'newer releases carry its Bundles'
        : stuck.length > 0
          ? `${stuck.slice(0, 3).join(', ')} ran no earlier release of the Bundle`
          : 'no selected cluster runs its release',
    todo:
      plans.length === 0
        ? 'give the name of the Bundle to roll back its newest rollout'
        : `choose an older release with --to-release from "flotilla rollout history ${plans[0]!.bundle} -n ${metadata.namespace}"`,
  })
}

function blastRadius({ metadata }: Rollout, plans: readonly PlannedRollback[], touched: number): string {
  const groups = Map.groupBy(
    plans.flatMap(({ moves }) => moves),
    ({ bundle, from, to }) => JSON.stringify([bundle, `g${from}`, to === undefined ? '?' : `g${to}`]),
  )
  const rows = [...groups].map(([key, moves]) => {
    const [bundle = '', from = '', to = ''] = JSON.parse(key) as string[]
    const away = moves.filter(({ isOnline }) => !isOnline).length
    return [bundle, from, to, String(moves.length), away > 0 ? `${away} after reconnecting` : '']
  })
  const stuck = [...new Set(plans.flatMap((plan) => plan.stuck))]
  const keeps =
    stuck.length === 0
      ? ''
      : `${stuck.slice(0, 3).join(', ')}${stuck.length > 3 ? ` and ${stuck.length - 3} more` : ''} ${stuck.length === 1 ? 'keeps' : 'keep'} the release: no earlier release to roll back to\n`
  return `roll back ${metadata.name} on ${clustersText(touched)}, within the budgets of its rings\n${alignColumns([['BUNDLE', 'FROM', 'TO', 'CLUSTERS', 'OFFLINE'], ...rows])}\n${keeps}`
}

function clustersText(count: number): string {
  return count === 1 ? '1 cluster' : `${count} clusters`
}
