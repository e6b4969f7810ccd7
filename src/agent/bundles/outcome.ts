/** The outcome of a step: a row for the report, the time until the next step, and whether the operation failed. */
import { compact } from '../../core/compact.ts'
import { Waiting } from '../../core/errors.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import { ObjectFailure } from '../cluster/object-failure.ts'
import { ExecutorRefused } from '../cluster/executor-appliers.ts'
import { OBSERVE_INTERVAL_MS } from '../timing.ts'
import { RenderRefused } from '../render/cluster-render.ts'
import type { StepResult } from './bundle-run.ts'
import type { HookStop } from './hooks.ts'
import type { Observation } from './observe.ts'

/**
 * The result of a step that may be a failure of the operation: a failed hook is final, a timeout may still resolve
 * itself.
 */
export interface Outcome extends StepResult {
  readonly failure?: 'Hook' | 'Time'
}

/** The bundle waits for a condition outside of the cluster. */
export function pending(message: string): StepResult {
  return { row: { state: 'Pending', message }, nextStepMs: OBSERVE_INTERVAL_MS.waiting }
}

/** The row of an observation. */
export function observationRow(observation: Observation): StepResult['row'] {
  const { state, message, firstFailing } = observation
  return { state, ...compact({ message, firstFailing }) }
}

/** The bundle waits until its objects are healthy; `where` names the wave. */
export function waitingFor(observation: Observation, where?: string): StepResult {
  const row = observationRow(observation)
  const message = where === undefined ? row.message : `${where}: ${row.message}`
  const nextStepMs = observation.state === 'Failed' ? OBSERVE_INTERVAL_MS.failed : OBSERVE_INTERVAL_MS.progressing
  return { row: { ...row, ...compact({ message }) }, nextStepMs }
}

/** The bundle waits for a hook, or a hook failed. */
export function hookStopOutcome({ kind, message, object }: HookStop): Outcome {
  if (kind === 'Waiting') return { row: { state: 'Progressing', message }, nextStepMs: OBSERVE_INTERVAL_MS.progressing }
  return {
    row: { state: 'Failed', message, firstFailing: object },
    nextStepMs: OBSERVE_INTERVAL_MS.waiting,
    failure: 'Hook',
  }
}

/** The row of a step that threw; undefined when the error says nothing about the bundle. */
export function rowOfFailure(caught: unknown): StepResult['row'] | undefined {
  if (caught instanceof ObjectFailure) {
    return { state: 'Failed', message: caught.message, firstFailing: describeObject(caught.object) }
  }
  if (caught instanceof ExecutorRefused || caught instanceof RenderRefused)
    return { state: 'Failed', message: caught.message }
  if (caught instanceof Waiting) {
    return { state: caught.reason === 'NoLink' ? 'Pending' : 'Progressing', message: caught.message }
  }
  return undefined
}
