// Tested by src/plan/health/argo/argo-health.test.ts
/** Health in the words of Argo CD. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { Health } from '../object-health.ts'

/** The states of Argo CD. */
export const ARGO_STATES = ['Healthy', 'Suspended', 'Progressing', 'Missing', 'Degraded', 'Unknown'] as const
export type ArgoState = (typeof ARGO_STATES)[number]

/** What Argo CD says of an object. */
export interface ArgoVerdict {
  readonly status: ArgoState
  readonly message: string
}

/** What is suspended is as its owner wants it. What is unknown is not ready, and has not failed either. */
const STATES: Readonly<Record<ArgoState, Health['state']>> = {
  Healthy: 'Ready',
  Suspended: 'Ready',
  Progressing: 'Progressing',
  Missing: 'Progressing',
  Unknown: 'Progressing',
  Degraded: 'Failed',
}

/** The health of a Bundle's object for a state of Argo CD. */
export function healthOfVerdict({ status, message }: ArgoVerdict): Health {
  const state = STATES[status]
  if (state === 'Ready') return { state, message: '' }
  return { state, message: message === '' ? `its health is ${status}` : message }
}

/** An object, with missing parts as empty objects. */
export interface Parts {
  readonly object: JsonObject
  readonly metadata: JsonObject
  readonly spec: JsonObject
  readonly status: JsonObject
  /** Whether the object has a status at all. */
  readonly hasStatus: boolean
  readonly conditions: readonly JsonObject[]
}

/** Reads the parts of an object. */
export function partsOf(object: JsonObject): Parts {
  const part = (name: string): JsonObject => (isObject(object[name]) ? object[name] : {})
  const status = part('status')
  const { conditions } = status
  return {
    object,
    metadata: part('metadata'),
    spec: part('spec'),
    status,
    hasStatus: isObject(object['status']),
    conditions: Array.isArray(conditions) ? conditions.filter(isObject) : [],
  }
}

/** A text field; empty if it is not a text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A number field; 0 if it is not a number. */
export function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
