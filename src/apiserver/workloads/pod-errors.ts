import { compact } from '../../core/compact.ts'
import { jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { readPath, itemsAt, mapAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { duplicate, forbidden, invalid, required } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'

/** What is wrong with a pod, beyond its schema: what it asks of a kernel, and what of it may no longer change. */

const SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const SYSCTL = `^(${SEGMENT}[\\./])*${SEGMENT}$`
const isSysctl = new RegExp(SYSCTL)
const MAX_SYSCTL = 253
const MAX_DEADLINE = 2 ** 31 - 1

const CHANGEABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
]

/** What is wrong with a pod, new or changed. */
export function podErrors(pod: UnknownObject, old: UnknownObject | undefined): FieldError[] {
  const errors = sysctlErrors(itemsAt(pod, 'spec.securityContext.sysctls'))
  return old ? [...errors, ...changeErrors(mapAt(pod, 'spec'), mapAt(old, 'spec'))] : errors
}

function sysctlErrors(sysctls: readonly JsonObject[]): FieldError[] {
  const names = new Set<string>()
  return sysctls.flatMap((sysctl, index): FieldError[] => {
    const name = textAt(sysctl, 'name')
    const field = `spec.securityContext.sysctls[${index}].name`
    if (name === '') return [required(field)]
    if (name.length > MAX_SYSCTL || !isSysctl.test(name)) {
      return [invalid(field, name, `must have at most ${MAX_SYSCTL} characters and match regex ${SYSCTL}`)]
    }
    if (names.has(name)) return [duplicate(field, name)]
    names.add(name)
    return []
  })
}

function changeErrors(next: JsonObject, old: JsonObject): FieldError[] {
  if (jsonEqual(next, old)) return []
  for (const field of ['containers', 'initContainers'] as const) {
    if (itemsAt(next, field).length !== itemsAt(old, field).length) {
      return [forbidden(`spec.${field}`, 'pod updates may not add or remove containers')]
    }
  }
  const [deadline, stop] = deadlineErrors(next['activeDeadlineSeconds'], old['activeDeadlineSeconds'])
  if (stop) return deadline
  const errors = [...deadline, ...tolerationErrors(next, old), ...gateErrors(next, old)]
  const fixed = { ...next, ...kept(next, old) }
  // What a kube-apiserver shows as a difference of Go's structs is named here.
  const changed = [...new Set([...Object.keys(fixed), ...Object.keys(old)])]
    .filter((field) => !jsonEqual(fixed[field], old[field]))
    .map((field) => `spec.${field}`)
  if (changed.length > 0) {
    const allowed = `pod updates may not change fields other than ${CHANGEABLE.join(',')}`
    errors.push(forbidden('spec', `${allowed}\n${changed.join('\n')}`))
  }
  return errors
}

/** The old values of all that may change. */
function kept(next: JsonObject, old: JsonObject): JsonObject {
  const images = (field: string) =>
    itemsAt(next, field).map((container, index) => {
      const { image: _image, ...rest } = container
      const before = itemsAt(old, field)[index]?.['image']
      return before === undefined ? rest : { ...rest, image: before }
    })
  const grace = old['terminationGracePeriodSeconds']
  const isRelaxed = typeof grace === 'number' && grace < 0 && next['terminationGracePeriodSeconds'] === 1
  const isGated = itemsAt(old, 'schedulingGates').length > 0
  // A pod that waits at a gate may be told to which nodes it goes, more narrowly than before.
  const placed = isGated ? (['nodeSelector', 'affinity'] as const).map((field) => [field, old[field]] as const) : []
  return {
    ...compact({
      containers: next['containers'] === undefined ? undefined : images('containers'),
      initContainers: next['initContainers'] === undefined ? undefined : images('initContainers'),
    }),
    activeDeadlineSeconds: old['activeDeadlineSeconds'],
    tolerations: old['tolerations'],
    schedulingGates: old['schedulingGates'],
    ...compact({ terminationGracePeriodSeconds: isRelaxed ? grace : undefined }),
    ...Object.fromEntries(placed),
  }
}

/** With whether the rest is of no interest then. */
function deadlineErrors(next: unknown, old: unknown): readonly [FieldError[], boolean] {
  const field = 'spec.activeDeadlineSeconds'
  if (typeof next !== 'number') {
    if (old === undefined) return [[], false]
    return [[invalid(field, null, 'must not update from a positive integer to nil value')], false]
  }
  if (next < 0 || next > MAX_DEADLINE) {
    return [[invalid(field, next, `must be between 0 and ${MAX_DEADLINE}, inclusive`)], true]
  }
  if (typeof old === 'number' && old < next) {
    return [[invalid(field, next, 'must be less than or equal to previous value')], true]
  }
  return [[], false]
}

function tolerationErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const timeless = ({ tolerationSeconds: _seconds, ...rest }: JsonObject) => rest
  const has = (wanted: JsonObject) =>
    itemsAt(next, 'tolerations').some((one) => jsonEqual(timeless(one), timeless(wanted)))
  if (itemsAt(old, 'tolerations').every(has)) return []
  return [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')]
}

function gateErrors(next: JsonObject, old: JsonObject): FieldError[] {
  const before = new Set(itemsAt(old, 'schedulingGates').map((gate) => readPath(gate, 'name')))
  return itemsAt(next, 'schedulingGates').flatMap((gate, index) => {
    if (before.has(gate['name'])) return []
    const why = `only deletion is allowed, but found new scheduling gate '${textAt(gate, 'name')}'`
    return [forbidden(`spec.schedulingGates[${index}].name`, why)]
  })
}
