/** What a step of a bundle gives: a row for the report, when to look again, and whether the operation failed. */
import { Waiting } from '../../core/errors.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import { ObjectFailure } from '../cluster/applier.ts'
import { ExecutorRefused } from '../cluster/executor-appliers.ts'
import { OBSERVE_INTERVAL_MS } from './bundle-run.ts'
import { RenderRefused } from '../render/cluster-render.ts'
import type { StepResult } from './bundle-run.ts'
import type { HookStop } from './hooks.ts'
import type { Observation } from './observe.ts'

/** A result that may be the operation's failure: a hook failed, which is final, or something took too long, which may still come right. */
export interface Outcome extends StepResult {
  readonly failure?: 'Hook' | 'Time'
}

/** It waits for something outside. */
export function pending(message: string): StepResult {
  return { row: { state: 'Pending', message }, lookAgainMs: OBSERVE_INTERVAL_MS.held }
}

/** The row of what was seen. */
export function observationRow(sight: Observation): StepResult['row'] {
  const { state, message, firstFailing } = sight
  return { state, ...(message === undefined ? {} : { message }), ...(firstFailing ? { firstFailing } : {}) }
}

/** It waits for its objects. */
export function waitingFor(sight: Observation, where?: string): StepResult {
  const row = observationRow(sight)
  const message = where === undefined ? row.message : `${where}: ${row.message}`
  const lookAgainMs = sight.state === 'Failed' ? OBSERVE_INTERVAL_MS.failed : OBSERVE_INTERVAL_MS.progressing
  return { row: { ...row, ...(message === undefined ? {} : { message }) }, lookAgainMs }
}

/** It waits for a hook, or a hook failed. */
export function hookStopOutcome({ kind, message, object }: HookStop): Outcome {
  if (kind === 'Waiting')
    return { row: { state: 'Progressing', message }, lookAgainMs: OBSERVE_INTERVAL_MS.progressing }
  return {
    row: { state: 'Failed', message, firstFailing: object },
    lookAgainMs: OBSERVE_INTERVAL_MS.held,
    failure: 'Hook',
  }
}

/** The row for a step that failed; undefined when the failure says nothing about the bundle. */
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
