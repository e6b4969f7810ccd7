// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Objects of Karmada as they are stored: with defaults, or the reasons why Karmada refuses them. */
import { jsonClone } from '../../../core/json.ts'
import { labelProblems } from '../../../core/text/name-validation.ts'
import { admitAutoscaler, validateCronAutoscaler } from './admit-autoscalers.ts'
import { admitService, validateIngress, validateQuota } from './admit-objects.ts'
import { listIn, numberIn, objectIn, Problems, textIn } from './problems.ts'
import type { Fields } from './problems.ts'
import { validateOverrides } from './validate-overrides.ts'
import { validatePlacement } from './validate-placement.ts'

/** A policy, and the one that it replaces. */
export interface AdmissionInput {
  readonly object: Fields
  readonly old?: Fields
  /** True when ClusterTaintPolicies may set NoExecute taints. Defaults to false. */
  readonly allowsNoExecuteTaints?: boolean
  /** Makes a permanent id. */
  readonly newId: () => string
}

/** The stored policy, or the reason of the refusal. */
export type Admission = { readonly object: Fields } | { readonly error: string }

const DEFAULT_GRACE_PERIOD_SECONDS = 600
const SERVICE_IMPORT = { apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: 'ServiceImport' }

type Mutable = Record<string, unknown>

/** Admits an object. Kinds that have no rule here are refused. */
export function admitPolicy(input: AdmissionInput): Admission {
  const object = jsonClone(input.object) as Mutable
  const problems = new Problems()
  switch (object['kind']) {
    case 'PropagationPolicy':
    case 'ClusterPropagationPolicy':
      admitPropagation(object, input, problems)
      break
    case 'OverridePolicy':
      defaultNamespaces(object)
      object['spec'] = { overriders: {}, ...objectIn(object, 'spec') }
      validateSpecOfOverrides(object, problems)
      break
    case 'ClusterOverridePolicy':
      validateSpecOfOverrides(object, problems)
      break
    case 'ClusterTaintPolicy':
      if (!input.allowsNoExecuteTaints) validateTaints(object, problems)
      break
    case 'FederatedResourceQuota':
      validateQuota(object, problems)
      break
    case 'MultiClusterService':
      admitService(object, input.newId, problems)
      break
    case 'MultiClusterIngress':
      validateIngress(object, problems)
      break
    case 'FederatedHPA':
      admitAutoscaler(object, problems)
      break
    case 'CronFederatedHPA':
      validateCronAutoscaler(object, problems)
      break
    default:
      return { error: `kind ${String(object['kind'])} has no rules of admission` }
  }
  return problems.text === undefined ? { object } : { error: problems.text }
}

function validateSpecOfOverrides(object: Fields, problems: Problems): void {
  const spec = objectIn(object, 'spec')
  validateOverrides(spec, problems)
  validateNamespaces(object, spec, problems)
}

function admitPropagation(object: Mutable, { old, newId }: AdmissionInput, problems: Problems): void {
  const isCluster = object['kind'] === 'ClusterPropagationPolicy'
  const label = `${isCluster ? 'cluster' : ''}propagationpolicy.karmada.io/permanent-id`
  const metadata: Mutable = { ...objectIn(object, 'metadata') }
  if (!isCluster) defaultNamespaces(object)
  const spec: Mutable = { placement: {}, ...objectIn(object, 'spec') }
  defaultSpec(spec)
  object['spec'] = spec
  if (!old) {
    metadata['labels'] = { ...objectIn(metadata, 'labels'), [label]: newId() }
    const finalizer = `karmada.io/${isCluster ? 'cluster-' : ''}propagation-policy-controller`
    const finalizers = (metadata['finalizers'] ?? []) as readonly string[]
    metadata['finalizers'] = finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer]
    object['metadata'] = metadata
  } else validateUpdate({ object, old, label }, problems)
  if (textIn(objectIn(metadata, 'labels'), label) === '') problems.add(`metadata.labels[${label}]`, 'is required')
  validateSpec(object, spec, problems)
}

function validateUpdate(
  { object, old, label }: { readonly object: Fields; readonly old: Fields; readonly label: string },
  problems: Problems,
): void {
  const schedulerOf = (policy: Fields): string => textIn(objectIn(policy, 'spec'), 'schedulerName')
  const idOf = (policy: Fields): string => textIn(objectIn(objectIn(policy, 'metadata'), 'labels'), label)
  if (schedulerOf(object) !== schedulerOf(old)) problems.add('spec.schedulerName', 'cannot be changed')
  if (idOf(object) !== idOf(old)) problems.add(`label ${label}`, 'is immutable, Karmada sets it at the creation')
}

function defaultNamespaces(object: Mutable): void {
  const namespace = textIn(objectIn(object, 'metadata'), 'namespace')
  const spec: Mutable = { ...objectIn(object, 'spec') }
  if (spec['resourceSelectors'] === undefined) return
  spec['resourceSelectors'] = listIn(spec, 'resourceSelectors').map((selector) => {
    const { name, ...rest } = selector
    const named = name === '' || name === undefined ? rest : { ...rest, name }
    return textIn(selector, 'namespace') === '' ? { ...named, namespace } : named
  })
  object['spec'] = spec
}

function defaultSpec(spec: Mutable): void {
  const placement: Mutable = { ...objectIn(spec, 'placement') }
  if (placement['spreadConstraints'] !== undefined) {
    placement['spreadConstraints'] = listIn(placement, 'spreadConstraints').map(defaultSpread)
  }
  const scheduling = objectIn(placement, 'replicaScheduling')
  if (
    textIn(scheduling, 'replicaSchedulingType') === 'Divided' &&
    textIn(scheduling, 'replicaDivisionPreference') === ''
  ) {
    placement['replicaScheduling'] = { ...scheduling, replicaDivisionPreference: 'Weighted' }
  }
  spec['placement'] = placement
  const selectsImport = listIn(spec, 'resourceSelectors').some(
    ({ apiVersion, kind }) => apiVersion === SERVICE_IMPORT.apiVersion && kind === SERVICE_IMPORT.kind,
  )
  if (selectsImport) spec['propagateDeps'] = true
  const failover = objectIn(spec, 'failover')
  const application = objectIn(failover, 'application')
  if (application['purgeMode'] === 'Gracefully' && application['gracePeriodSeconds'] === undefined) {
    const gracePeriodSeconds = DEFAULT_GRACE_PERIOD_SECONDS
    spec['failover'] = { ...failover, application: { ...application, gracePeriodSeconds } }
  }
}

function defaultSpread(constraint: Fields): Fields {
  const { minGroups: _min, maxGroups: _max, ...rest } = constraint
  const isUnset = textIn(constraint, 'spreadByField') === '' && textIn(constraint, 'spreadByLabel') === ''
  const max = numberIn(constraint, 'maxGroups')
  return {
    ...rest,
    ...(isUnset && { spreadByField: 'cluster' }),
    minGroups: numberIn(constraint, 'minGroups') || 1,
    ...(max !== 0 && { maxGroups: max }),
  }
}

function validateSpec(object: Fields, spec: Fields, problems: Problems): void {
  validatePlacement(objectIn(spec, 'placement'), 'spec.placement', problems)
  const failover = objectIn(spec, 'failover')
  if (failover['application'] !== undefined) {
    if (spec['propagateDeps'] !== true) problems.add('spec.propagateDeps', 'must be true with an application failover')
    validateApplicationFailover(objectIn(failover, 'application'), problems)
  }
  validateState(objectIn(failover, 'cluster'), 'spec.failover.cluster', problems)
  validateNamespaces(object, spec, problems)
  if (spec['preemption'] === 'Always') {
    for (const [i, selector] of listIn(spec, 'resourceSelectors').entries()) {
      if (textIn(selector, 'name') !== '') continue
      problems.add(`spec.resourceSelectors[${i}].name`, 'is required when preemption is Always')
    }
  }
  const suspension = objectIn(spec, 'suspension')
  const names = objectIn(suspension, 'dispatchingOnClusters')['clusterNames']
  if (suspension['dispatching'] === true && Array.isArray(names) && names.length > 0) {
    problems.add('spec.suspension.suspension', 'dispatching and dispatchingOnClusters cannot be used together')
  }
}

/** Selectors of a policy in a namespace select objects of that namespace. */
function validateNamespaces(object: Fields, spec: Fields, problems: Problems): void {
  const namespace = textIn(objectIn(object, 'metadata'), 'namespace')
  if (namespace === '') return
  for (const [i, selector] of listIn(spec, 'resourceSelectors').entries()) {
    if (textIn(selector, 'namespace') === namespace) continue
    problems.add(`spec.resourceSelectors[${i}].namespace`, `must be "${namespace}", the namespace of the policy`)
  }
}

function validateApplicationFailover(application: Fields, problems: Problems): void {
  const path = 'spec.failover.application'
  const seconds = application['gracePeriodSeconds']
  const isGraceful = application['purgeMode'] === 'Gracefully'
  if (numberIn(objectIn(application, 'decisionConditions'), 'tolerationSeconds') < 0) {
    problems.add(`${path}.decisionConditions.tolerationSeconds`, 'must be at least 0')
  }
  if (!isGraceful && seconds !== undefined) {
    problems.add(`${path}.gracePeriodSeconds`, 'requires the purge mode Gracefully')
  }
  if (typeof seconds === 'number' && seconds <= 0) problems.add(`${path}.gracePeriodSeconds`, 'must be at least 1')
  validateState(application, path, problems)
}

function validateState(behavior: Fields, path: string, problems: Problems): void {
  for (const [i, rule] of listIn(objectIn(behavior, 'statePreservation'), 'rules').entries()) {
    const where = `${path}.statePreservation.rules[${i}].aliasLabelName`
    problems.addAll(
      where,
      textIn(rule, 'aliasLabelName')
        .split('/')
        .flatMap((part) => labelProblems(part.toLowerCase())),
    )
  }
}

function validateTaints(object: Fields, problems: Problems): void {
  for (const [i, taint] of listIn(objectIn(object, 'spec'), 'taints').entries()) {
    if (taint['effect'] !== 'NoExecute') continue
    problems.add(`spec.taints[${i}]`, 'the effect NoExecute must be enabled by an administrator')
  }
}
