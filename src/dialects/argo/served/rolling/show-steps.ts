// Tested by src/dialects/argo/served/rolling/rolling-sync.sim.test.ts
/** Shows the steps of RollingSync in the status of an ApplicationSet. */
import { compact } from '../../../../core/compact.ts'
import { formatTime } from '../../../../core/time/time.ts'
import type { Context, Draft } from '../../../../engine/reconciler.ts'
import type { ApplicationSet, StepStatus } from '../../kinds.ts'
import { rollingStrategy, stepOf } from '../../sync/rolling-sync.ts'
import type { ArgoPorts } from '../ports.ts'
import { rollingApplication } from './rolling-applications.ts'

const MAX_SHOWN = 1000
const STATUS = { Done: 'Healthy', Started: 'Progressing', Waiting: 'Waiting' } as const

/** Writes `status.applicationStatus` and the conditions of the rollout. */
export function showSteps(
  { next: set, conditions }: Draft<ApplicationSet>,
  ports: ArgoPorts,
  { clock }: Pick<Context, 'clock'>,
): void {
  const strategy = rollingStrategy(set.spec)
  const status = (set.status ??= {})
  if (!strategy || 'problem' in strategy) {
    delete status.applicationStatus
    conditions.remove('RolloutProgressing')
    if (strategy) conditions.set('InvalidRolloutConfig', 'True', 'InvalidConfiguration', strategy.problem)
    else conditions.remove('InvalidRolloutConfig')
    return
  }
  conditions.remove('InvalidRolloutConfig')
  const { steps } = strategy
  const before = new Map((status.applicationStatus ?? []).map((one) => [one.application, one]))
  const all = ports
    .applicationsOf(set.metadata.uid ?? '')
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map((app) => {
      const { state, labels } = rollingApplication(app, ports)
      return { app, state, step: stepOf(labels, steps) }
    })
    .toSorted((a, b) => a.step - b.step || (a.app.metadata.name < b.app.metadata.name ? -1 : 1))
  status.applicationStatus = all.slice(0, MAX_SHOWN).map(({ app, state, step }): StepStatus => {
    const { sync, conditions: shown = [] } = app.status ?? {}
    const word = STATUS[state]
    const known = before.get(app.metadata.name)
    const message = state === 'Done' ? undefined : shown.find(({ type }) => type === 'SyncBlocked')?.message
    return compact({
      application: app.metadata.name,
      status: word,
      step: String(step < 0 ? -1 : step + 1),
      message,
      targetRevisions: sync?.revisions ?? (sync?.revision === undefined ? undefined : [sync.revision]),
      lastTransitionTime: known?.status === word ? known.lastTransitionTime : formatTime(clock.now()),
    })
  })
  const open = all.find(({ state, step }) => state !== 'Done' && step >= 0)
  if (open)
    conditions.set(
      'RolloutProgressing',
      'True',
      'ApplicationSetModified',
      `ApplicationSet is performing rollout of step ${open.step + 1}`,
    )
  else
    conditions.set(
      'RolloutProgressing',
      'False',
      'ApplicationSetRolloutComplete',
      'ApplicationSet Rollout has completed',
    )
}
