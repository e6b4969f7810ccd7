// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Rules for the placement of propagation policies. */
import { labelKeyProblems } from '../../../core/text/name-validation.ts'
import { listIn, numberIn, objectIn, textIn } from './problems.ts'
import type { Fields, Problems } from './problems.ts'

const SELECTOR_KEYS: ReadonlySet<string> = new Set(['provider', 'region', 'zone'])
const SELECTOR_OPERATORS: ReadonlySet<string> = new Set(['In', 'NotIn'])

/** Adds the problems of `spec.placement`. */
export function validatePlacement(placement: Fields, path: string, problems: Problems): void {
  const affinities = listIn(placement, 'clusterAffinities')
  if (placement['clusterAffinity'] !== undefined && placement['clusterAffinities'] !== undefined) {
    problems.add(path, 'clusterAffinities and clusterAffinity cannot be used together')
  }
  validateFieldSelector(objectIn(placement, 'clusterAffinity'), `${path}.clusterAffinity`, problems)
  validateTerms(affinities, `${path}.clusterAffinities`, problems)
  for (const [i, term] of affinities.entries()) {
    if (term['overflowAffinities'] === undefined || allowsOverflow(objectIn(placement, 'replicaScheduling'))) continue
    const where = `${path}.clusterAffinities[${i}].overflowAffinities`
    problems.add(where, 'requires the dynamic weight AvailableReplicas or the division preference Aggregated')
  }
  validateSpread(listIn(placement, 'spreadConstraints'), `${path}.spreadConstraints`, problems)
  validateWorkloadAffinity(placement, path, problems)
  for (const [i, toleration] of listIn(placement, 'clusterTolerations').entries()) {
    if (!['Lt', 'Gt'].includes(textIn(toleration, 'operator'))) continue
    problems.add(`${path}.clusterTolerations[${i}].operator`, 'must be Exists or Equal')
  }
}

/** Adds the problems of the field selector of a selection of clusters. */
export function validateFieldSelector(affinity: Fields, path: string, problems: Problems): void {
  for (const requirement of listIn(objectIn(affinity, 'fieldSelector'), 'matchExpressions')) {
    const key = textIn(requirement, 'key')
    const operator = textIn(requirement, 'operator')
    if (!SELECTOR_KEYS.has(key)) {
      problems.add(`${path}.fieldSelector`, `unsupported key "${key}", must be provider, region, or zone`)
    } else if (!SELECTOR_OPERATORS.has(operator)) {
      problems.add(`${path}.fieldSelector`, `unsupported operator "${operator}", must be In or NotIn`)
    }
  }
}

function allowsOverflow(scheduling: Fields): boolean {
  if (textIn(scheduling, 'replicaSchedulingType') !== 'Divided') return false
  const preference = textIn(scheduling, 'replicaDivisionPreference')
  if (preference === 'Aggregated') return true
  return preference === 'Weighted' && textIn(objectIn(scheduling, 'weightPreference'), 'dynamicWeight') !== ''
}

function validateTerms(terms: readonly Fields[], path: string, problems: Problems): void {
  const names = new Set<string>()
  for (const [i, term] of terms.entries()) {
    const name = textIn(term, 'affinityName')
    problems.addAll(`${path}[${i}]`, labelKeyProblems(name))
    if (names.has(name)) problems.add(path, `each affinity term must have a unique name, "${name}" is used twice`)
    names.add(name)
    validateFieldSelector(term, `${path}[${i}]`, problems)
    if (term['overflowAffinities'] !== undefined) validateOverflow(term, `${path}[${i}].overflowAffinities`, problems)
  }
}

function validateOverflow(term: Fields, path: string, problems: Problems): void {
  const { labelSelector, fieldSelector } = term
  const isEmpty = [...listOf(term, 'clusterNames'), ...listOf(term, 'exclude')].length === 0
  if (labelSelector === undefined && fieldSelector === undefined && isEmpty) {
    problems.add(path, 'requires that the affinity term selects clusters itself')
  }
  const names = new Set([textIn(term, 'affinityName')])
  for (const [i, tier] of listIn(term, 'overflowAffinities').entries()) {
    const name = textIn(tier, 'affinityName')
    problems.addAll(`${path}[${i}].affinityName`, labelKeyProblems(name))
    if (names.has(name)) problems.add(`${path}[${i}].affinityName`, `"${name}" is used twice`)
    names.add(name)
    validateFieldSelector(tier, `${path}[${i}]`, problems)
  }
}

function listOf(parent: Fields, field: string): readonly unknown[] {
  const value = parent[field]
  return Array.isArray(value) ? value : []
}

function validateSpread(constraints: readonly Fields[], path: string, problems: Problems): void {
  const fields: string[] = []
  for (const [i, constraint] of constraints.entries()) {
    const where = `${path}[${i}]`
    const field = textIn(constraint, 'spreadByField')
    const min = numberIn(constraint, 'minGroups')
    const max = numberIn(constraint, 'maxGroups')
    if (field !== '' && textIn(constraint, 'spreadByLabel') !== '') {
      problems.add(where, 'spreadByLabel and spreadByField cannot be used together')
    }
    if (min < 0) problems.add(where, 'minGroups must be at least 0')
    if (max < 0) problems.add(where, 'maxGroups must be at least 0')
    if (max > 0 && max < min) problems.add(where, 'maxGroups must be at least minGroups')
    if (field !== '') fields.push(field)
  }
  for (const field of new Set(fields.filter((one, i) => fields.indexOf(one) !== i))) {
    problems.add(path, `there is more than one constraint by ${field}`)
  }
  if (fields.length > 0 && !fields.includes('cluster')) {
    problems.add(path, 'one of the constraints must have spreadByField cluster')
  }
}

function validateWorkloadAffinity(placement: Fields, path: string, problems: Problems): void {
  const workloadAffinity = objectIn(placement, 'workloadAffinity')
  const where = `${path}.workloadAffinity`
  const keys = ['affinity', 'antiAffinity'].flatMap((field) => {
    if (workloadAffinity[field] === undefined) return []
    const key = textIn(objectIn(workloadAffinity, field), 'groupByLabelKey')
    problems.addAll(`${where}.${field}.groupByLabelKey`, labelKeyProblems(key))
    return [key]
  })
  if (keys.length === 2 && keys[0] === keys[1]) {
    problems.add(where, 'affinity and antiAffinity must have different values of groupByLabelKey')
  }
}
