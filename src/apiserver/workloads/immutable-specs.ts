import { isObject, jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { compareQuantities, parseQuantity } from '../../core/text/quantity.ts'
import { readPath, itemsAt, mapAt, numberAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { forbidden, invalid } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'

/** Fields of a Job and of a PersistentVolumeClaim that are immutable because a controller already uses them. */

const JOB_FIELDS = ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'] as const

/** What is wrong with a change of a Job. */
export function jobErrors(job: UnknownObject, old: UnknownObject | undefined): FieldError[] {
  if (!old) return []
  const [spec, before] = [mapAt(job, 'spec'), mapAt(old, 'spec')]
  const fixed = (field: string): FieldError[] =>
    jsonEqual(spec[field], before[field]) ? [] : [invalid(`spec.${field}`, spec[field] ?? null, IMMUTABLE)]
  return [
    ...(spec['completionMode'] === 'Indexed' ? countErrors(spec, before) : fixed('completions')),
    ...fixed('selector'),
    ...templateErrors(spec, before, numberAt(old, 'status.active') > 0),
    ...JOB_FIELDS.flatMap(fixed),
  ]
}

const IMMUTABLE = 'field is immutable'

/** Indexes may come and go together with the pods that work on them. */
function countErrors(spec: JsonObject, before: JsonObject): FieldError[] {
  const { completions } = spec
  if (jsonEqual(completions, before['completions'])) return []
  const isTandem = jsonEqual(completions, spec['parallelism'])
  const words = 'can only be modified in tandem with spec.parallelism'
  return isTandem ? [] : [invalid('spec.completions', completions ?? null, words)]
}

/** While a Job rests, its pods may be told where to go and what they get. */
function templateErrors(spec: JsonObject, before: JsonObject, isActive: boolean): FieldError[] {
  const isResting = before['suspend'] === true && !isActive
  const of = (one: JsonObject) => (isResting ? fixedTemplate(mapAt(one, 'template')) : one['template'])
  if (jsonEqual(of(spec), of(before))) return []
  const field = isResting ? 'spec.template.spec' : 'spec.template'
  return [invalid(field, readPath({ spec }, field) ?? null, IMMUTABLE)]
}

function fixedTemplate({ metadata, spec }: JsonObject): JsonObject {
  const { annotations: _annotations, labels: _labels, ...named } = isObject(metadata) ? metadata : {}
  const {
    nodeSelector: _selector,
    tolerations: _tolerations,
    schedulingGates: _gates,
    affinity,
    ...rest
  } = mapAt({ spec }, 'spec')
  const { nodeAffinity: _node, ...near } = isObject(affinity) ? affinity : {}
  const withoutResources = (field: string) =>
    itemsAt(rest, field).map(({ resources: _resources, ...container }) => container)
  return {
    metadata: named,
    spec: {
      ...rest,
      affinity: near,
      containers: withoutResources('containers'),
      initContainers: withoutResources('initContainers'),
    },
  }
}

const CLAIM_RULE =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'

/** What is wrong with a change of a PersistentVolumeClaim. */
export function claimErrors(claim: UnknownObject, old: UnknownObject | undefined): FieldError[] {
  if (!old) return []
  const [spec, before] = [mapAt(claim, 'spec'), mapAt(old, 'spec')]
  const errors: FieldError[] = []
  const changed = Object.keys({ ...spec, ...before }).filter(
    (field) => !jsonEqual(spec[field], before[field]) && !mayChange(field, claim, old),
  )
  if (changed.length > 0) {
    errors.push(forbidden('spec', `${CLAIM_RULE}\n${changed.map((field) => `spec.${field}`).join('\n')}`))
  }
  const size = (of: UnknownObject, path: string) => parseQuantity(textAt(mapAt(of, path), 'storage', '0'))
  const [wanted, wantedBefore] = [size(claim, 'spec.resources.requests'), size(old, 'spec.resources.requests')]
  const got = size(old, 'status.capacity')
  if (
    wanted &&
    wantedBefore &&
    got &&
    compareQuantities(wanted, wantedBefore) < 0 &&
    compareQuantities(wanted, got) <= 0
  ) {
    errors.push(forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'))
  }
  if (!jsonEqual(spec['volumeMode'], before['volumeMode'])) {
    errors.push(invalid('volumeMode', spec['volumeMode'] ?? null, IMMUTABLE))
  }
  return errors
}

function mayChange(field: string, claim: UnknownObject, old: UnknownObject): boolean {
  const isBound = textAt(claim, 'status.phase') === 'Bound'
  switch (field) {
    case 'volumeName':
      return textAt(old, 'spec.volumeName') === ''
    case 'storageClassName':
      // A claim without a class gets the default class when there is a default.
      return (
        readPath(old, 'spec.storageClassName') === undefined && readPath(claim, 'spec.storageClassName') !== undefined
      )
    case 'volumeAttributesClassName':
      return isBound
    case 'resources': {
      const rest = (of: UnknownObject) => {
        const { requests, ...others } = mapAt(of, 'spec.resources')
        const { storage: _storage, ...more } = isObject(requests) ? requests : {}
        return { ...others, requests: more }
      }
      return isBound && jsonEqual(rest(claim), rest(old))
    }
    default:
      return false
  }
}
