// Tested by src/dialects/karmada/interpret/custom/flux.test.ts
/** What Karmada's bundled interpreters answer for a custom kind. An operation that is absent has no rule. */
import type { JsonObject } from '../../../../core/json.ts'
import type { DependentObject } from '../dependencies.ts'
import type { InterpretedReplicas, ReplicaRequirements } from '../replicas.ts'
import { countIn, listIn, mapIn, textIn, withField } from '../shape.ts'
import type { InterpretedObject, StatusItem } from '../shape.ts'

/** A part of a workload whose pods are scheduled together. */
export interface Component {
  readonly name: string
  readonly replicas: number
  readonly replicaRequirements?: ReplicaRequirements
}

/** The interpreter of a custom kind. */
export interface CustomKind {
  readonly replicas?: (object: InterpretedObject) => InterpretedReplicas
  readonly components?: (object: InterpretedObject) => readonly Component[]
  readonly revise?: (object: InterpretedObject, replicas: number) => InterpretedObject
  readonly retain?: (desired: InterpretedObject, observed: InterpretedObject) => InterpretedObject
  readonly aggregate?: (object: InterpretedObject, items: readonly StatusItem[], now: string) => InterpretedObject
  readonly dependencies?: (object: InterpretedObject) => readonly DependentObject[]
  readonly status?: (object: InterpretedObject) => unknown
  readonly healthy?: (object: InterpretedObject) => boolean
}

const TEMPLATE_GENERATION = 'resourcetemplate.karmada.io/generation'

/** A status of some fields, with the generations of the object and of its template; empty where there is none. */
export function reflectFields(object: InterpretedObject, fields: readonly string[]): JsonObject {
  const { status } = object
  if (status === undefined || status === null) return {}
  return { ...pick(status, fields), ...generationsOf(object) }
}

/** The generation of the object, and of the template that the annotation names. */
function generationsOf({ metadata }: InterpretedObject): JsonObject {
  const { generation } = mapIn(metadata)
  // Objects of files can have a number here.
  const text = String(mapIn(metadata, 'annotations')[TEMPLATE_GENERATION])
  return {
    ...(generation !== undefined && { generation }),
    ...(/^\d{1,15}$/.test(text) && { resourceTemplateGeneration: Number(text) }),
  }
}

/** The members of these names that are there. */
export function pick(value: unknown, fields: readonly string[]): JsonObject {
  const object = mapIn(value)
  return Object.fromEntries(
    fields.flatMap((field) => (object[field] === undefined || object[field] === null ? [] : [[field, object[field]]])),
  )
}

/** The generation of the template, 0 where it is absent. */
export function generationOf({ metadata }: InterpretedObject): number {
  return countIn(metadata, 'generation')
}

/** Whether each cluster has observed the newest template. */
export function isObservedEverywhere(object: InterpretedObject, items: readonly StatusItem[]): boolean {
  return items.every(
    ({ status }) =>
      countIn(status, 'generation') === countIn(status, 'observedGeneration') &&
      countIn(status, 'resourceTemplateGeneration') === generationOf(object),
  )
}

/** The object with a status, and with the generation that the interpreter adds. */
export function withStatus(object: InterpretedObject, status: JsonObject): InterpretedObject {
  const { metadata } = object
  return { ...object, metadata: { ...metadata, generation: generationOf(object) }, status }
}

/** The conditions of all clusters: those of one type, status and reason are one, which names the clusters. */
export function mergeConditions(items: readonly StatusItem[]): JsonObject[] {
  const merged: JsonObject[] = []
  for (const item of items) {
    for (const condition of listIn(item.status, 'conditions')) {
      const { message } = mapIn(condition)
      if (typeof message !== 'string') throw new Error('a condition of a cluster has no message')
      const told = `${item.clusterName ?? ''}=${message}`
      const same = merged.find((other) =>
        ['type', 'status', 'reason'].every((field) => sameField(other, condition, field)),
      )
      if (same) same['message'] = `${textIn(same, 'message')}, ${told}`
      else merged.push({ ...mapIn(condition), message: told })
    }
  }
  return merged
}

function sameField(a: unknown, b: unknown, field: string): boolean {
  return (mapIn(a)[field] ?? null) === (mapIn(b)[field] ?? null)
}

/** The last value of a field among the clusters; an empty text does not count. */
export function lastOf(items: readonly StatusItem[], field: string): unknown {
  return items
    .map(({ status }) => mapIn(status)[field])
    .filter((value) => value !== undefined && value !== null && value !== '')
    .at(-1)
}

/** A reference to an object of the namespace; none for a name that is empty. */
export function reference(kind: string, object: InterpretedObject, name: unknown): DependentObject[] {
  if (typeof name !== 'string' || name === '') return []
  const { namespace } = object.metadata ?? {}
  return [{ apiVersion: 'v1', kind, ...(namespace !== undefined && { namespace }), name }]
}

/** Each reference once. */
export function distinct(references: readonly DependentObject[]): DependentObject[] {
  return [...new Map(references.map((one) => [`${one.apiVersion} ${one.kind} ${one.name}`, one])).values()]
}

/** `spec.suspend` belongs to the cluster. */
export function retainSuspend(desired: InterpretedObject, observed: InterpretedObject): InterpretedObject {
  const { suspend } = mapIn(observed['spec'])
  return suspend === undefined || suspend === null ? desired : withField(desired, ['spec', 'suspend'], suspend)
}

/** Whether a condition has this type, status and reason; a reason that is not asked for does not count. */
export function hasCondition(object: InterpretedObject, type: string, status = 'True', reason?: string): boolean {
  return listIn(object, 'status', 'conditions').some(
    (condition) =>
      textIn(condition, 'type') === type &&
      textIn(condition, 'status') === status &&
      (reason === undefined || textIn(condition, 'reason') === reason),
  )
}
