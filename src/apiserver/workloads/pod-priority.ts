import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { mapAt, numberAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Mutation } from '../server/admission.ts'
import type { ServerParts } from '../server/context.ts'
import { parseStored, storePrefix } from '../storage/stored-object.ts'
import { forbidden } from '../http/api-errors.ts'

/** What a pod's priority is, by the name of its class. */

/** A priority, or why there is none. */
export type Priority =
  | { readonly refused: false; readonly className?: string; readonly value: number; readonly preemption?: string }
  | { readonly refused: true; readonly why: string }

/** The priority of a new pod: from its priority class, from the global default class, or undefined. */
export function priorityOf(spec: JsonObject, classes: readonly UnknownObject[]): Priority {
  const name = textAt(spec, 'priorityClassName')
  const found = name === '' ? classForAll(classes) : classes.find(({ metadata }) => metadata.name === name)
  if (name !== '' && !found) return { refused: true, why: `no PriorityClass with name ${name} was found` }
  const value = numberAt(found, 'value')
  const preemption = found ? textAt(found, 'preemptionPolicy') : 'PreemptLowerPriority'
  const computed = 'priority admission controller computed'
  const { priority, preemptionPolicy } = spec
  if (priority !== undefined && priority !== value) {
    const why = `the integer value of priority (${textAt(spec, 'priority')}) must not be provided in pod spec; ${computed} ${value} from the given PriorityClass name`
    return { refused: true, why }
  }
  if (preemption !== '' && preemptionPolicy !== undefined && preemptionPolicy !== preemption) {
    const why = `the string value of PreemptionPolicy (${textAt(spec, 'preemptionPolicy')}) must not be provided in pod spec; ${computed} ${preemption} from the given PriorityClass name`
    return { refused: true, why }
  }
  return compact({
    refused: false,
    value,
    className: found?.metadata.name,
    preemption: preemption === '' ? undefined : preemption,
  })
}

function classForAll(classes: readonly UnknownObject[]): UnknownObject | undefined {
  const all = classes.filter((one) => one['globalDefault'] === true)
  return all.sort((a, b) => numberAt(a, 'value') - numberAt(b, 'value'))[0]
}

/** Gives new pods their priority; a replacement that says none keeps what was computed before. */
export function priorityAdmission({ store, registry }: Pick<ServerParts, 'store' | 'registry'>): Mutation {
  return async ({ kind, operation, subresource, object, oldObject }) => {
    if (subresource !== undefined || kind.group !== '' || kind.kind !== 'Pod') return []
    if (!object || !isObject(object['spec']) || operation === 'DELETE') return []
    const { spec } = object
    if (operation === 'UPDATE') {
      const { priority, preemptionPolicy } = mapAt(oldObject, 'spec')
      if (priority !== undefined) spec['priority'] ??= priority
      if (preemptionPolicy !== undefined) spec['preemptionPolicy'] ??= preemptionPolicy
      return []
    }
    const classes = registry.find('scheduling.k8s.io', 'v1', 'priorityclasses')
    if (!classes) return []
    const { entries } = await store.list({ prefix: storePrefix(classes) })
    const priority = priorityOf(
      spec,
      entries.map(({ value }) => parseStored(value)),
    )
    if (priority.refused) throw forbidden(kind, object.metadata.name, priority.why)
    if (priority.className !== undefined) spec['priorityClassName'] = priority.className
    spec['priority'] = priority.value
    if (priority.preemption !== undefined) spec['preemptionPolicy'] = priority.preemption
    return []
  }
}
