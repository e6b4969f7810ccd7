import { base64, utf8 } from '../core/bytes.ts'
import type { Caller } from '../core/http.ts'
import { isObject } from '../core/json.ts'
import type { JsonObject } from '../core/json.ts'
import type { Kind } from '../kinds/define-kind.ts'
import type { UnknownObject } from '../kinds/meta.ts'
import { forbidden, invalid } from '../kinds/walk/field-error.ts'
import type { FieldError } from '../kinds/walk/field-error.ts'
import { jsonEqual } from '../core/json.ts'

import type { CustomResourceDefinition } from '../kinds/builtin/apiextensions.ts'
import { completeCrd, crdErrors } from '../kinds/crd-errors.ts'
import { CLASS_STRATEGIES } from './class-strategies.ts'
import { CLEANUP_FINALIZER } from './crd-status.ts'
import { POLICY_STRATEGIES } from './policies/strategies.ts'
import { RBAC_STRATEGIES } from './rbac/strategies.ts'
import { WORKLOAD_STRATEGIES } from './workload-strategies.ts'

/** What single built-in kinds do beyond their schema. Custom kinds have none of this. */
export interface Strategy {
  /** Changes a new or changed object before it is validated. */
  prepare?(object: UnknownObject, old: UnknownObject | undefined): void
  /** Gives back what no write can take away, also one of the status alone. */
  keep?(object: UnknownObject, old: UnknownObject): void
  /** Adds what the server gives, once its fields have their owners and the object its name and uid: nobody owns it. */
  complete?(object: UnknownObject, old: UnknownObject | undefined, caller: Caller): void
  validate?(object: UnknownObject, old: UnknownObject | undefined): FieldError[]
  /** Whether whoever creates an object says its status, too. */
  readonly createsStatus?: boolean
  /** Whether something besides metadata.finalizers keeps a deleted object alive. */
  holds?(object: UnknownObject): boolean
}

const namespace: Strategy = {
  prepare(object) {
    object.metadata.labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name }
  },
  complete(object, old) {
    // Only /finalize changes these.
    const finalizers = finalizersOf(old ?? object)
    if (old) object['spec'] = { ...(isObject(object['spec']) ? object['spec'] : {}), finalizers }
    else {
      const all = finalizers.includes(NAMESPACE_FINALIZER) ? finalizers : [...finalizers, NAMESPACE_FINALIZER]
      object['spec'] = { finalizers: all }
      object['status'] = { phase: 'Active' }
    }
    if (finalizersOf(object).length === 0) object['spec'] = {}
  },
  holds: (object) => finalizersOf(object).length > 0,
}

const NAMESPACE_FINALIZER = 'kubernetes'

function finalizersOf({ spec }: UnknownObject): unknown[] {
  return isObject(spec) && Array.isArray(spec['finalizers']) ? spec['finalizers'] : []
}

const secret: Strategy = {
  prepare(object) {
    const { stringData } = object
    if (isObject(stringData)) {
      const data: JsonObject = isObject(object['data']) ? { ...object['data'] } : {}
      for (const [key, value] of Object.entries(stringData)) data[key] = base64(utf8(String(value)))
      object['data'] = data
    }
    delete object['stringData']
    object['type'] ||= 'Opaque'
  },
  validate(object, old) {
    if (!old) return []
    const errors: FieldError[] = []
    if (object['type'] !== old['type']) errors.push(invalid('type', object['type'], 'field is immutable'))
    return [...errors, ...immutableErrors(object, old, ['data'])]
  },
}

const configMap: Strategy = {
  validate: (object, old) => (old ? immutableErrors(object, old, ['data', 'binaryData']) : []),
}

const definition: Strategy = {
  complete(object, old) {
    const crd = object as unknown as CustomResourceDefinition
    completeCrd(crd)
    if (old) return
    // From the beginning, so that no object can be left behind.
    const finalizers = crd.metadata.finalizers ?? []
    if (!finalizers.includes(CLEANUP_FINALIZER)) crd.metadata.finalizers = [...finalizers, CLEANUP_FINALIZER]
  },
  validate: (object, old) =>
    crdErrors(object as unknown as CustomResourceDefinition, old as unknown as CustomResourceDefinition | undefined),
}

const STRATEGIES: Readonly<Record<string, Strategy>> = {
  '/Namespace': namespace,
  '/Secret': secret,
  '/ConfigMap': configMap,
  'apiextensions.k8s.io/CustomResourceDefinition': definition,
  ...RBAC_STRATEGIES,
  ...POLICY_STRATEGIES,
  ...WORKLOAD_STRATEGIES,
  ...CLASS_STRATEGIES,
}

const NONE: Strategy = {}

/** The strategy of a kind. */
export function strategyOf(kind: Pick<Kind, 'group' | 'kind'>): Strategy {
  return STRATEGIES[`${kind.group}/${kind.kind}`] ?? NONE
}

function immutableErrors(object: UnknownObject, old: UnknownObject, fields: readonly string[]): FieldError[] {
  if (old['immutable'] !== true) return []
  const errors: FieldError[] = []
  if (object['immutable'] !== true) errors.push(forbidden('immutable', 'field is immutable when `immutable` is set'))
  for (const field of fields) {
    if (!jsonEqual(object[field], old[field])) {
      errors.push(forbidden(field, 'field is immutable when `immutable` is set'))
    }
  }
  return errors
}
