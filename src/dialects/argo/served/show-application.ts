// Tested by src/dialects/argo/served/application.sim.test.ts
/** Writes the status of an Application. */
import { compact } from '../../../core/compact.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Context, Draft, Result } from '../../../engine/reconciler.ts'
import type { Application, ApplicationCondition, ApplicationStatus } from '../kinds.ts'
import { comparedTo, worstRow } from './application-status.ts'
import type { Revisions, StateRow } from './application-status.ts'

interface Shown {
  readonly rows: readonly StateRow[]
  readonly revisions: Revisions
  /** Whether the rows are about the content of these revisions. */
  readonly isNewest: boolean
  readonly conditions: ReadonlyMap<string, string>
  readonly now: number
}

export function show(app: Application, { rows, revisions, isNewest, conditions, now }: Shown): void {
  const status = app.status!
  const { sync, health, message } = worstRow(rows)
  const compared = !isNewest && sync === 'Synced' ? 'OutOfSync' : sync
  const word = conditions.has('ComparisonError') ? 'Unknown' : compared
  status.sync = { status: word, comparedTo: comparedTo(app.spec), ...revisions }
  const before = status.health
  status.health = compact({
    status: health,
    message: health === 'Healthy' || message === '' ? undefined : message,
    lastTransitionTime: before?.status === health ? (before.lastTransitionTime ?? formatTime(now)) : formatTime(now),
  })
  showConditions(status, conditions, now)
}

function showConditions(status: ApplicationStatus, conditions: ReadonlyMap<string, string>, now: number): void {
  const before = new Map((status.conditions ?? []).map((one) => [one.type, one]))
  const next = [...conditions].map(([type, text]): ApplicationCondition => {
    const message = text.slice(0, 4096)
    const known = before.get(type)
    return {
      type,
      message,
      lastTransitionTime: known?.message === message ? known.lastTransitionTime! : formatTime(now),
    }
  })
  if (next.length === 0) delete status.conditions
  else status.conditions = next
}

/** Shows why an Application is not compiled; sync and health of what runs are not known then. */
export function showProblem(draft: Draft<Application>, type: string, message: string, { clock }: Context): Result {
  const app = draft.next
  const status = (app.status ??= {})
  const now = clock.now()
  const { operation } = app
  if (operation && status.operationState?.phase !== 'Running') {
    status.operationState = {
      operation,
      phase: 'Running',
      startedAt: formatTime(now),
      message,
    }
  } else if (status.operationState?.phase === 'Terminating') {
    Object.assign(status.operationState, {
      phase: 'Failed',
      message: 'Operation terminated',
      finishedAt: formatTime(now),
    })
  } else if (status.operationState?.phase === 'Running' && !operation && type !== '') {
    Object.assign(status.operationState, { phase: 'Error', message, finishedAt: formatTime(now) })
  }
  status.sync = { ...status.sync, status: 'Unknown', comparedTo: comparedTo(app.spec) }
  status.health ??= { status: 'Unknown' }
  if (type !== '')
    status.health = { status: 'Unknown', lastTransitionTime: status.health.lastTransitionTime ?? formatTime(now) }
  showConditions(status, type === '' ? new Map() : new Map([[type, message]]), now)
  return {}
}
