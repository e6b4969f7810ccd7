/** `flotilla rollback`, `retry` and `release lift`: taking a change back, with what it touches shown first, trying again, letting it come again. */
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
import { rollbackCluster } from '../../../plan/release/rollback.ts'
import type { PlannedRollback } from '../../../plan/release/rollback.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { REPORTS } from '../../api/flotilla-resources.ts'
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

/** What the commands work with. */
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

/** Takes a bundle's newest change, or a rollout, back; shows who goes where first, and asks. */
export async function rollback(name: string, input: RollbackInput): Promise<void> {
  const { terminal, flags } = input
  const { rollout, release, bundles } = await changeOf(name, input)
  if (flags.ring !== undefined && rollout.spec.rings.every((ring) => ring.name !== flags.ring)) {
    throw new CliError(EXIT.notFound, {
      what: `rollout ${rollout.metadata.name} has no ring ${flags.ring}`,
      todo: `its rings are: ${rollout.spec.rings.map((ring) => ring.name).join(', ')}`,
    })
  }
  const request: RollbackRequest = {
    ...(flags.cluster ? { clusters: [...flags.cluster] } : {}),
    ...(flags.ring === undefined ? {} : { ring: flags.ring }),
    ...(flags.toRelease === undefined ? {} : { to: flags.toRelease }),
    ...(bundles ? { bundles } : {}),
  }
  const plans = planRequest(rollout, release, request, await worldOf(input))
  refuseInVain(rollout, plans)
  const touched = new Set(plans.flatMap(({ moves }) => moves.map(({ cluster }) => cluster))).size
  if (flags.output === 'json') terminal.data(`${JSON.stringify(plans, undefined, 2)}\n`)
  else terminal.data(blastRadius(rollout, plans, touched))
  if (flags.dryRun) return
  await agree(`take ${rollout.metadata.name} back on ${clustersText(touched)}?`, input)

  const { clusters, ring, to, bundles: only } = request
  const n = await ask(rollout, input, {
    verb: 'RollBack',
    ...(clusters ? { clusters: [...clusters] } : {}),
    ...(ring === undefined ? {} : { ring }),
    ...(to === undefined ? {} : { to }),
    ...(only ? { bundles: [...only] } : {}),
  })
  const undo = `${release.metadata.name}-undo-${n}`
  terminal.step('ok', `rollout ${rollout.metadata.name} is taken back; its content stays away until it changes`)
  terminal.step('next', `flotilla rollout status ${undo} -n ${namespaceOf(input)}`)
}

type Act = NonNullable<Rollout['spec']['acts']>[number]

/** Writes down what somebody asks of a rollout, in their own name; the number of it. */
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

/** Lets who failed try again. */
export async function retry(named: string, input: RollbackInput): Promise<void> {
  const { terminal, flags } = input
  const rollout = await findRollout(named, input)
  const { name } = rollout.metadata
  await refuseFinishedRollout(rollout, input)
  const failed = new Set((rollout.status?.admissions ?? []).filter((one) => one.failedAt).map((one) => one.cluster))
  // Who failed at content that an older Release brought, and this one did not change, was never admitted here: only counted.
  const count = Math.max(failed.size, rollout.status?.counts?.failed ?? 0)
  const doubtful = (flags.cluster ?? []).filter((cluster) => !failed.has(cluster))
  const strangers = count === 0 ? doubtful : await notFailed(rollout, doubtful, input)
  if (count === 0 || strangers.length > 0) {
    const who = count === 0 ? 'nobody failed' : `${strangers.join(', ')} did not fail`
    throw new CliError(EXIT.conflict, {
      what: `rollout ${name}: ${who}, so there is nothing to try again`,
      todo: `see: flotilla rollout status ${name}`,
    })
  }
  await ask(rollout, input, { verb: 'Retry', ...(flags.cluster ? { clusters: [...flags.cluster] } : {}) })
  terminal.step('ok', `${flags.cluster?.length ?? count} of rollout ${name} try again, as its budgets allow`)
  terminal.step('next', `flotilla rollout status ${name} -n ${namespaceOf(input)}`)
}

/** Those of some clusters whose agents do not say that a bundle of the rollout failed. */
async function notFailed(rollout: Rollout, clusters: readonly string[], input: RollbackInput): Promise<string[]> {
  if (clusters.length === 0) return []
  const client = clientOver(input.connection.rest)
  const namespace = namespaceOf(input)
  const release = await findByName(client, RELEASE, { name: rollout.spec.release, namespace })
  const bundles = new Set(release.spec.bundles.map(({ name }) => `${namespace}/${name}`))
  const reports = await Promise.all(clusters.map((name) => findObject(client, REPORTS, { name })))
  const hasFailed = (report: ClusterReport | undefined) =>
    report?.spec.bundles.some(({ bundle, state }) => state === 'Failed' && bundles.has(bundle)) ?? false
  return clusters.filter((_, i) => !hasFailed(reports[i]))
}

/** Takes the mark from a release, so that its content may come again. */
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
    return terminal.step('ok', `release ${name} is not marked bad${flags.bundle ? ` for bundle ${flags.bundle}` : ''}`)
  }
  const { bad: _, ...status } = release.status ?? {}
  const next = { ...release, status: { ...status, ...(rest.length > 0 ? { bad: rest } : {}) } }
  await client.update(RELEASE, next, { fieldManager: 'flotilla-cli', subresource: 'status' })
  const names = marks.filter((mark) => !rest.includes(mark)).map(({ bundle }) => bundle)
  terminal.step('ok', `release ${name} is no longer marked bad: ${names.join(', ')} may have its content again`)
}

/** The rollout to take back: of a bundle the one that carries its newest release, and of that only the bundle. */
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
  const [releases, pages, clusters, assignments] = await Promise.all([
    client.list(RELEASE, { namespace }),
    client.list(DECISION, { namespace }),
    client.list(CLUSTER),
    client.list(ASSIGNMENT),
  ])
  const documents = new Map(assignments.items.map((one) => [one.metadata.name, one]))
  const decisionsOf = (placement: string) =>
    pages.items.filter(({ spec }) => spec.placement === placement).flatMap(({ spec }) => spec.decisions)
  return {
    releasesOf: (bundle) => releases.items.filter(({ spec }) => spec.bundles.some((one) => one.name === bundle)),
    clustersOf: ({ name, placement }) => {
      const selected = new Set(
        decisionsOf(placement)
          .filter(({ state }) => state === 'Selected')
          .map(({ cluster }) => cluster),
      )
      return clusters.items
        .filter(({ metadata }) => selected.has(metadata.name))
        .map((cluster) => rollbackCluster(cluster, documents.get(cluster.metadata.name), `${namespace}/${name}`))
    },
    groupsOf: (placement, cluster) =>
      decisionsOf(placement).flatMap((one) => (one.cluster === cluster && one.group ? [one.group] : [])),
    // Only the hub numbers the release; here nothing is made.
    highestAssigned: () => 0,
  }
}

function refuseInVain({ metadata }: Rollout, plans: readonly PlannedRollback[]): void {
  const problem = plans.find((plan) => plan.problem !== undefined)?.problem
  if (problem !== undefined) throw new CliError(EXIT.conflict, { what: `nothing was changed: ${problem}` })
  if (plans.some(({ moves }) => moves.length > 0)) return
  const stuck = plans.flatMap((plan) => plan.stuck)
  throw new CliError(EXIT.conflict, {
    what: `rollout ${metadata.name} cannot be taken back there`,
    why:
      plans.length === 0
        ? 'newer releases carry its bundles'
        : stuck.length > 0
          ? `${stuck.slice(0, 3).join(', ')} ran nothing of it before`
          : 'nobody there has it',
    todo:
      plans.length === 0
        ? 'roll back the newest rollout of the bundle, by naming the bundle'
        : `name an older release with --to-release; see: flotilla rollout history ${plans[0]!.bundle} -n ${metadata.namespace}`,
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
    return [bundle, from, to, String(moves.length), away > 0 ? `${away} when they return` : '']
  })
  const stuck = [...new Set(plans.flatMap((plan) => plan.stuck))]
  const keeps =
    stuck.length === 0
      ? ''
      : `${stuck.length} ran nothing of it before and keep it: ${stuck.slice(0, 3).join(', ')}${stuck.length > 3 ? ' …' : ''}\n`
  return `takes ${metadata.name} back on ${clustersText(touched)}, by the budgets of its rings\n${alignColumns([['BUNDLE', 'FROM', 'TO', 'CLUSTERS', 'OFFLINE'], ...rows])}\n${keeps}`
}

function clustersText(count: number): string {
  return count === 1 ? '1 cluster' : `${count} clusters`
}

async function agree(question: string, { flags, terminal, confirm }: RollbackInput): Promise<void> {
  if (flags.yes) return
  if (!terminal.isInteractive) {
    throw new CliError(EXIT.usage, {
      what: `${question.replace(/\?$/, '')}: nobody can be asked`,
      todo: 'say --yes if you mean it',
    })
  }
  if (!(await confirm(question))) throw new CliError(EXIT.usage, { what: 'cancelled; nothing was changed' })
}
