// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** InterpretStatus: the part of an object's status on a cluster that is reported to the hub. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { countIn, kindOf, mapIn, textIn } from './shape.ts'
import type { InterpretedObject } from './shape.ts'

/** The annotation with the generation of the template that a cluster received. */
const TEMPLATE_GENERATION = 'resourcetemplate.karmada.io/generation'

/** Counters of a status: those that are written as 0, and those that are left out then. */
interface Counters {
  readonly always: readonly string[]
  readonly positive: readonly string[]
}

/** Kinds whose status also tells which generation of the object and of the template it belongs to. */
const WORKLOADS: Readonly<Record<string, Counters>> = {
  'apps/v1 Deployment': {
    always: [],
    positive: [
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'observedGeneration',
    ],
  },
  'apps/v1 ReplicaSet': {
    always: ['replicas'],
    positive: ['readyReplicas', 'availableReplicas', 'observedGeneration'],
  },
  // A StatefulSet has no observedGeneration here, in Karmada too.
  'apps/v1 StatefulSet': {
    always: ['replicas', 'availableReplicas'],
    positive: ['readyReplicas', 'currentReplicas', 'updatedReplicas'],
  },
  'apps/v1 DaemonSet': {
    always: ['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'],
    positive: ['updatedNumberScheduled', 'numberAvailable', 'numberUnavailable', 'observedGeneration'],
  },
}

const OTHERS: Readonly<Record<string, Counters & { readonly fields: readonly string[] }>> = {
  'batch/v1 Job': {
    always: [],
    positive: ['active', 'succeeded', 'failed'],
    fields: ['startTime', 'completionTime', 'conditions'],
  },
  'policy/v1 PodDisruptionBudget': {
    always: ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'],
    positive: [],
    fields: ['disruptedPods'],
  },
  'autoscaling/v2 HorizontalPodAutoscaler': {
    always: ['desiredReplicas'],
    positive: ['currentReplicas'],
    fields: [],
  },
}

/** The reported status, null where there is none. Of a kind without a rule the whole status is reported. */
export function reflectStatus(object: InterpretedObject): unknown {
  const { status } = object
  if (!isObject(status)) return null
  const kind = kindOf(object)
  const workload = WORKLOADS[kind]
  if (workload) return { ...generationsOf(object), ...countersOf(status, workload) }
  const other = OTHERS[kind]
  if (other) return { ...countersOf(status, other), ...present(status, other.fields) }
  if (kind === 'v1 Service') {
    return textIn(object, 'spec', 'type') === 'LoadBalancer' ? { loadBalancer: mapIn(status, 'loadBalancer') } : null
  }
  return status
}

/** The counters of a status as Go writes them: a field with `omitempty` is left out when it is 0. */
export function countersOf(status: unknown, { always, positive }: Counters): Record<string, number> {
  const shown = [...always, ...positive.filter((field) => countIn(status, field) !== 0)]
  return Object.fromEntries(shown.map((field) => [field, countIn(status, field)]))
}

function present(status: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(fields.flatMap((field) => (field in status ? [[field, status[field]]] : [])))
}

function generationsOf({ kind, metadata }: InterpretedObject): Record<string, number> {
  const text = metadata.annotations?.[TEMPLATE_GENERATION] ?? ''
  if (!/^[+-]?\d{1,15}$/.test(text)) {
    const shown = JSON.stringify(text.slice(0, 64))
    throw new Error(`${kind} ${metadata.name}: annotation ${TEMPLATE_GENERATION}: ${shown} is not a whole number`)
  }
  return Object.fromEntries(
    Object.entries({ generation: metadata.generation ?? 0, resourceTemplateGeneration: Number(text) }).filter(
      ([, count]) => count !== 0,
    ),
  )
}
