// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Karmada's resource interpreter: eight questions about an object. */
import { aggregateStatus } from './aggregate-status.ts'
import type { CustomKind } from './custom/custom-kind.ts'
import { CUSTOM_KINDS } from './custom/custom-kinds.ts'
import { interpretDependencies } from './dependencies.ts'
import { interpretHealth } from './health.ts'
import { reflectStatus } from './reflect-status.ts'
import { interpretReplicas, reviseReplicas } from './replicas.ts'
import { retain } from './retain.ts'
import { kindOf } from './shape.ts'
import type { InterpretedObject, StatusItem } from './shape.ts'

/** The questions of the interpreter. */
export const OPERATIONS = [
  'InterpretReplica',
  'InterpretComponent',
  'ReviseReplica',
  'Retain',
  'AggregateStatus',
  'InterpretDependency',
  'InterpretStatus',
  'InterpretHealth',
] as const
export type Operation = (typeof OPERATIONS)[number]

/** A question: the object, and what the operation needs besides it. */
export interface InterpretQuestion {
  readonly operation: Operation
  readonly object: InterpretedObject
  /** `Retain`: the object on the cluster. */
  readonly observed?: InterpretedObject
  /** `ReviseReplica`. */
  readonly replicas?: number
  /** `AggregateStatus`. */
  readonly items?: readonly StatusItem[]
  /** The time of the call, RFC 3339. */
  readonly now: string
}

/** The answer by its name, `notSupported` for a kind without a rule for the operation. */
export function interpret(question: InterpretQuestion): Readonly<Record<string, unknown>> {
  const { operation, object, observed, replicas = 0, items = [], now } = question
  const custom = CUSTOM_KINDS[kindOf(object)]
  if (custom) return interpretCustom(custom, question)
  switch (operation) {
    case 'InterpretReplica':
      return { ...(interpretReplicas(object) ?? NOT_SUPPORTED) }
    case 'InterpretComponent':
      // No kind of Kubernetes has components.
      return NOT_SUPPORTED
    case 'ReviseReplica':
      return answer('object', reviseReplicas(object, replicas))
    case 'Retain':
      return answer('object', observed && retain(object, observed))
    case 'AggregateStatus':
      return answer('object', aggregateStatus(object, items, now))
    case 'InterpretDependency':
      return answer('dependencies', interpretDependencies(object))
    case 'InterpretStatus':
      return { status: reflectStatus(object) }
    case 'InterpretHealth':
      return answer('healthy', interpretHealth(object))
  }
}

function interpretCustom(custom: CustomKind, question: InterpretQuestion): Readonly<Record<string, unknown>> {
  const { operation, object, observed, replicas = 0, items = [], now } = question
  switch (operation) {
    case 'InterpretReplica':
      return { ...(custom.replicas?.(object) ?? NOT_SUPPORTED) }
    case 'InterpretComponent':
      return answer('components', custom.components?.(object))
    case 'ReviseReplica':
      return answer('object', custom.revise?.(object, replicas))
    case 'Retain':
      return answer('object', observed && custom.retain?.(object, observed))
    case 'AggregateStatus':
      return answer('object', custom.aggregate?.(object, items, now))
    case 'InterpretDependency':
      return answer('dependencies', custom.dependencies?.(object))
    case 'InterpretStatus':
      return { status: custom.status ? custom.status(object) : reflectStatus(object) }
    case 'InterpretHealth':
      return answer('healthy', custom.healthy?.(object))
  }
}

const NOT_SUPPORTED = { notSupported: true }

function answer(name: string, value: unknown): Readonly<Record<string, unknown>> {
  return value === undefined ? NOT_SUPPORTED : { [name]: value }
}
