import type { Caller } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import type { CustomResourceDefinition } from '../../kinds/builtin/apiextensions.ts'
import { defaultCrd, crdErrors } from '../../kinds/crd/crd-errors.ts'
import { CLASS_STRATEGIES } from './class-strategies.ts'
import { CLEANUP_FINALIZER } from '../custom-kinds/crd-status.ts'
import { DATA_STRATEGIES } from './data-strategies.ts'
import { POLICY_STRATEGIES } from '../policies/strategies.ts'
import { RBAC_STRATEGIES } from '../rbac/strategies.ts'
import { WORKLOAD_STRATEGIES } from '../workloads/workload-strategies.ts'

/** What single built-in kinds do beyond their schema. Custom kinds have none of this. */
export interface Strategy {
  /** Changes a new or changed object before it is validated. */
  prepare?(object: UnknownObject, old: UnknownObject | undefined): void
  /** Gives back what no write can take away, also one of the status alone. */
  keep?(object: UnknownObject, old: UnknownObject): void
  /** Adds the fields that the server sets, after ownership, name and uid are settled: no field manager owns them. */
  complete?(object: UnknownObject, old: UnknownObject | undefined, caller: Caller): void
  validate?(object: UnknownObject, old: UnknownObject | undefined): FieldError[]
  /** Whether a create request may set the status. */
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

const definition: Strategy = {
  complete(object, old) {
    const crd = object as unknown as CustomResourceDefinition
    defaultCrd(crd)
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
  'apiextensions.k8s.io/CustomResourceDefinition': definition,
  ...RBAC_STRATEGIES,
  ...POLICY_STRATEGIES,
  ...WORKLOAD_STRATEGIES,
  ...CLASS_STRATEGIES,
  ...DATA_STRATEGIES,
}

const NONE: Strategy = {}

/** The strategy of a kind. */
export function strategyOf(kind: Pick<Kind, 'group' | 'kind'>): Strategy {
  return STRATEGIES[`${kind.group}/${kind.kind}`] ?? NONE
}
