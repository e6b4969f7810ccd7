// Tested by src/dialects/argo/served/application.sim.test.ts
/** Syncs of an Application: their start, their end, and the history. */
import { compact } from '../../../../core/compact.ts'
import { jsonEqual } from '../../../../core/json.ts'
import { formatTime } from '../../../../core/time/time.ts'
import type { Context } from '../../../../engine/reconciler.ts'
import type { Bundle } from '../../../../kinds/native/bundle.ts'
import type { Application } from '../../kinds.ts'
import { finishedPhase, sourcesOf, withDeployment } from '../application-status.ts'
import type { Revisions, StateRow } from '../application-status.ts'
import { isRunning, operationProblem, sourceList } from './sync-overrides.ts'
import { STARTED } from '../ports.ts'
import type { ArgoPorts } from '../ports.ts'

const FOR_AGENT = 'waiting for the agent of the cluster'

/** Starts a Rollout once for a reason: a Rollout that a person pauses later stays paused. */
export async function startRollouts(
  bundles: readonly Bundle[],
  reason: string,
  {
    ports,
    context,
  }: { readonly ports: Pick<ArgoPorts, 'rolloutOf' | 'start'>; readonly context: Pick<Context, 'signal'> },
): Promise<void> {
  for (const bundle of bundles) {
    const rollout = ports.rolloutOf(bundle)
    if (!rollout?.spec.paused || rollout.metadata.annotations?.[STARTED] === reason) continue
    if (reason === 'automated' && rollout.metadata.annotations?.[STARTED] !== undefined) continue
    await ports.start(rollout, reason, context.signal)
  }
}

/** The state of an operation that was asked for. */
export function beginOperation(app: Application, newest: Revisions, now: number): void {
  const { operation, spec } = app
  const status = (app.status ??= {})
  if (!operation || isRunning(app)) return
  const problem = operationProblem(operation, newest, app)
  status.operationState = {
    operation,
    phase: 'Running',
    startedAt: formatTime(now),
    message: problem ?? FOR_AGENT,
    syncResult: { ...newest, ...sourcesOf(spec) },
  }
}

interface Ending {
  readonly rows: readonly StateRow[]
  /** The revisions that are delivered. */
  readonly revisions: Revisions
  /** The newest revisions of the spec. */
  readonly newest: Revisions
  readonly now: number
  /** Why the newest content is not known yet. */
  readonly waits?: string | undefined
  /** Why the newest content cannot be delivered. */
  readonly problem?: string | undefined
  /** Why the newest content is not delivered now: the rows are about an older one. */
  readonly stays?: string | undefined
}

/** Ends an operation, but never by what the rows say about older content. */
export function endOperation(app: Application, ending: Ending): void {
  const { rows, revisions, newest, now, waits, problem, stays } = ending
  const { operationState: state } = app.status!
  // The request is removed first, so that it is not taken for a second one.
  if (!state || (app.operation && jsonEqual(app.operation, state.operation))) return
  const wrong = waits === undefined ? (operationProblem(state.operation, newest, app) ?? problem) : undefined
  const finished = waits === undefined && stays === undefined ? finishedPhase(rows) : undefined
  const end = wrong === undefined ? finished : { phase: 'Failed' as const, message: wrong }
  if (!end) {
    state.message = waits ?? stays ?? FOR_AGENT
    return
  }
  const synced = { ...revisions, ...syncedSources(app) }
  Object.assign(state, end, { finishedAt: formatTime(now), syncResult: synced })
  if (end.phase !== 'Succeeded') return
  app.status!.history = withDeployment(
    app.status!.history ?? [],
    compact({
      ...synced,
      deployStartedAt: state.startedAt,
      deployedAt: formatTime(now),
      initiatedBy: state.operation.initiatedBy,
    }),
    app.spec.revisionHistoryLimit,
  )
}

/** The sources of a sync: those that it asked for, without the revisions that it pinned. */
function syncedSources({ spec, status }: Application): ReturnType<typeof sourcesOf> {
  const sync = status?.operationState?.operation.sync ?? {}
  return sourceList(sync).length > 0 ? sourcesOf(sync) : sourcesOf(spec)
}

/** Ends an operation that a user terminates: what has not begun stays where it is. */
export async function terminateOperation(
  app: Application,
  bundles: readonly Bundle[],
  {
    ports,
    context,
  }: {
    readonly ports: Pick<ArgoPorts, 'rolloutOf' | 'pause'>
    readonly context: Pick<Context, 'signal' | 'clock'>
  },
): Promise<void> {
  const state = app.status?.operationState
  if (state?.phase !== 'Terminating') return
  const rollouts = bundles.flatMap((bundle) => ports.rolloutOf(bundle) ?? [])
  const begun = rollouts.filter(({ metadata }) => metadata.annotations?.[STARTED] === `operation ${state.startedAt}`)
  for (const rollout of begun) {
    if (!rollout.spec.paused && rollout.status?.phase !== 'Completed') await ports.pause(rollout, context.signal)
  }
  const isAdmitted = begun.some(({ status }) => (status?.admissions ?? []).length > 0)
  const message = isAdmitted ? 'Operation terminated; the agent finishes what it has begun' : 'Operation terminated'
  Object.assign(state, { phase: 'Failed', message, finishedAt: formatTime(context.clock.now()) })
}

/** Automated syncs stand in the history, too. */
export function noteAutomated(app: Application, { rows, revisions, now }: Omit<Ending, 'newest'>): void {
  if (finishedPhase(rows)?.phase !== 'Succeeded') return
  const status = app.status!
  if (isDeployed(app, revisions)) return
  const content = { ...revisions, ...sourcesOf(app.spec) }
  const at = formatTime(now)
  const initiatedBy = { automated: true }
  status.history = withDeployment(
    status.history ?? [],
    { ...content, deployStartedAt: at, deployedAt: at, initiatedBy },
    app.spec.revisionHistoryLimit,
  )
  status.operationState = {
    operation: { sync: compact({ revision: revisions.revision }), initiatedBy },
    phase: 'Succeeded',
    message: 'successfully synced (all tasks run)',
    startedAt: at,
    finishedAt: at,
    syncResult: content,
  }
}

/** Whether these revisions of the sources are the last deployment. */
export function isDeployed({ spec, status }: Application, revisions: Revisions): boolean {
  const last = status?.history?.at(-1)
  return last !== undefined && jsonEqual({ ...sourceFields(last) }, { ...revisions, ...sourcesOf(spec) })
}

function sourceFields({ revision, revisions, source, sources }: ReturnType<typeof withDeployment>[number]) {
  return compact({ revision, revisions, source, sources })
}
