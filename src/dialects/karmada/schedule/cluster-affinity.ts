// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Selections of clusters as Karmada evaluates them: by name, label, provider, region and zone. */
import { readWholeNumber } from '../../../core/read-number.ts'
import type { ClusterAffinity, FieldRequirement } from '../types.ts'
import type { ClusterSnapshot } from './cluster-snapshot.ts'

/** Whether a cluster meets a selection. */
export type ClusterPredicate = (cluster: ClusterSnapshot) => boolean

const NEVER: ClusterPredicate = () => false
const ZONE = 'zone'
const PREDICATES = new WeakMap<ClusterAffinity, ClusterPredicate>()

/**
 * The predicate of a selection; it is compiled once for each object. A selection with an unknown operator, or with a
 * wrong number of values, selects no cluster.
 */
export function affinityPredicate(affinity: ClusterAffinity): ClusterPredicate {
  const known = PREDICATES.get(affinity)
  if (known) return known
  const compiled = compile(affinity)
  PREDICATES.set(affinity, compiled)
  return compiled
}

function compile(affinity: ClusterAffinity): ClusterPredicate {
  const { labelSelector, fieldSelector, clusterNames = [], exclude = [] } = affinity
  const predicates: ClusterPredicate[] = []
  if (clusterNames.length > 0) {
    const names = new Set(clusterNames)
    predicates.push(({ name }) => names.has(name))
  }
  if (exclude.length > 0) {
    const names = new Set(exclude)
    predicates.push(({ name }) => !names.has(name))
  }
  for (const [key, value] of Object.entries(labelSelector?.matchLabels ?? {})) {
    predicates.push(({ labels }) => labels.get(key) === value)
  }
  for (const requirement of labelSelector?.matchExpressions ?? []) {
    const meets = valuePredicate(requirement, false)
    predicates.push(meets ? ({ labels }) => meets(labels.get(requirement.key)) : NEVER)
  }
  for (const requirement of fieldSelector?.matchExpressions ?? []) predicates.push(fieldPredicate(requirement))
  if (predicates.includes(NEVER)) return NEVER
  return (cluster) => {
    for (const predicate of predicates) if (!predicate(cluster)) return false
    return true
  }
}

function fieldPredicate(requirement: FieldRequirement): ClusterPredicate {
  if (requirement.key === ZONE) return zonePredicate(requirement)
  const meets = valuePredicate(requirement, true)
  if (!meets) return NEVER
  switch (requirement.key) {
    case 'provider':
      return ({ provider }) => meets(provider)
    case 'region':
      return ({ region }) => meets(region)
    default:
      return () => meets(undefined)
  }
}

/** A cluster has several zones: one of them suffices for In, and none may be there for NotIn. */
function zonePredicate({ operator, values = [] }: FieldRequirement): ClusterPredicate {
  const wanted = new Set(values)
  switch (operator) {
    case 'In':
      return ({ zones }) => zones.some((zone) => wanted.has(zone))
    case 'NotIn':
      return ({ zones }) => !zones.some((zone) => wanted.has(zone))
    case 'Exists':
      return ({ zones }) => zones.length > 0
    case 'DoesNotExist':
      return ({ zones }) => zones.length === 0
    default:
      return NEVER
  }
}

type ValuePredicate = (value: string | undefined) => boolean

function valuePredicate(
  { operator, values = [] }: Omit<FieldRequirement, 'key'>,
  comparesNumbers: boolean,
): ValuePredicate | undefined {
  const wanted = new Set(values)
  switch (operator) {
    case 'In':
      return values.length === 0 ? undefined : (value) => value !== undefined && wanted.has(value)
    case 'NotIn':
      return values.length === 0 ? undefined : (value) => value === undefined || !wanted.has(value)
    case 'Exists':
      return values.length > 0 ? undefined : (value) => value !== undefined
    case 'DoesNotExist':
      return values.length > 0 ? undefined : (value) => value === undefined
    case 'Gt':
    case 'Lt':
      return comparesNumbers ? numberPredicate(operator, values) : undefined
    default:
      return undefined
  }
}

function numberPredicate(operator: 'Gt' | 'Lt', values: readonly string[]): ValuePredicate | undefined {
  const bound = values.length === 1 ? readWholeNumber(values[0]!) : undefined
  if (bound === undefined) return undefined
  return (value) => {
    const number = value === undefined ? undefined : readWholeNumber(value)
    if (number === undefined) return false
    return operator === 'Gt' ? number > bound : number < bound
  }
}
