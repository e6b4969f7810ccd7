// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Quotas, services and ingresses of Karmada as they are stored: with defaults, or with what is wrong. */
import { isObject } from '../../../core/json.ts'
import { parseAddress } from '../../../core/text/cidr.ts'
import { label1035Problems, labelKeyProblems, labelProblems } from '../../../core/text/name-validation.ts'
import { addQuantities, compareQuantities, parseQuantity } from '../../../core/text/quantity.ts'
import { typeSchema } from '../../../kinds/builtin/definitions.ts'
import { builtinValidationErrors } from '../../../kinds/builtin/validation/builtin-validation.ts'
import { listIn, objectIn, textIn } from './problems.ts'
import type { Fields, Problems } from './problems.ts'

const MAX_CLUSTER_NAME = 48
const MAX_QUOTA_NAME = 63
const NOTHING = parseQuantity('0')!

/** Resources that a quota may limit without a domain in their name. */
const QUOTA_RESOURCES: ReadonlySet<string> = new Set(
  `cpu memory ephemeral-storage requests.cpu requests.memory requests.storage requests.ephemeral-storage limits.cpu
  limits.memory limits.ephemeral-storage pods resourcequotas services replicationcontrollers secrets
  persistentvolumeclaims configmaps services.nodeports services.loadbalancers`.split(/\s+/),
)
const COUNTED =
  /^(pods|resourcequotas|services(\..*)?|replicationcontrollers|secrets|persistentvolumeclaims|configmaps)$/

/** A FederatedResourceQuota. */
export function validateQuota(object: Fields, problems: Problems): void {
  const spec = objectIn(object, 'spec')
  const overall = objectIn(spec, 'overall')
  const assignments = listIn(spec, 'staticAssignments')
  const name = textIn(objectIn(object, 'metadata'), 'name')
  if (name.length > MAX_QUOTA_NAME) problems.add('metadata.name', `must be no more than ${MAX_QUOTA_NAME} characters`)
  validateResources(overall, 'spec.overall', problems)
  for (const [i, assignment] of assignments.entries()) {
    const path = `spec.staticAssignments[${i}]`
    problems.addAll(`${path}.clusterName`, clusterNameProblems(textIn(assignment, 'clusterName')))
    const hard = objectIn(assignment, 'hard')
    validateResources(hard, `${path}.hard`, problems)
    for (const resource of Object.keys(hard)) {
      if (resource in overall) continue
      problems.add(`${path}.hard[${resource}]`, 'the resource is not in spec.overall')
    }
  }
  for (const [resource, limit] of Object.entries(overall)) {
    const assigned = assignments.map((assignment) => amountOf(objectIn(assignment, 'hard')[resource]))
    if (compareQuantities(amountOf(limit), addQuantities(...assigned)) >= 0) continue
    problems.add(`spec.overall[${resource}]`, 'overall is less than the sum of the assignments')
  }
}

function validateResources(resources: Fields, path: string, problems: Problems): void {
  for (const [resource, value] of Object.entries(resources)) {
    const field = `${path}[${resource}]`
    problems.addAll(field, labelKeyProblems(resource))
    const isKnown = resource.includes('/') || QUOTA_RESOURCES.has(resource) || /(^|\.)hugepages-/.test(resource)
    if (!isKnown) problems.add(field, 'must be a standard resource for a quota or a name with a domain')
    const amount = parseQuantity(String(value))
    if (!amount || compareQuantities(amount, NOTHING) < 0) problems.add(field, 'must be greater than or equal to 0')
    else if (COUNTED.test(resource) && amount.nano % 1_000_000_000n !== 0n) problems.add(field, 'must be an integer')
  }
}

function amountOf(value: unknown): { readonly nano: bigint } {
  return (typeof value === 'string' || typeof value === 'number' ? parseQuantity(value) : undefined) ?? NOTHING
}

function clusterNameProblems(name: string): string[] {
  if (name === '') return ['is required']
  if (name.length > MAX_CLUSTER_NAME) return [`must be no more than ${MAX_CLUSTER_NAME} characters`]
  return labelProblems(name)
}

const SERVICE_ID = 'multiclusterservice.karmada.io/permanent-id'
const EXPOSURES = ['CrossCluster', 'LoadBalancer']

/** A MultiClusterService: a permanent id, and the fields that its Go type always writes. */
export function admitService(object: Record<string, unknown>, newId: () => string, problems: Problems): void {
  const metadata = objectIn(object, 'metadata')
  const labels = objectIn(metadata, 'labels')
  const spec = objectIn(object, 'spec')
  object['metadata'] = { ...metadata, labels: { ...labels, [SERVICE_ID]: textIn(labels, SERVICE_ID) || newId() } }
  object['spec'] = { range: {}, ...spec }
  object['status'] = { loadBalancer: {}, ...objectIn(object, 'status') }
  problems.addAll('metadata.name', label1035Problems(textIn(metadata, 'name')))
  const types = Array.isArray(spec['types']) ? (spec['types'] as unknown[]) : []
  if (types.length > 1) problems.add('spec.types', 'must not contain more than one type')
  for (const [i, type] of types.entries()) {
    if (EXPOSURES.some((known) => known === type)) continue
    problems.add(`spec.types[${i}]`, `must be one of ${EXPOSURES.join(', ')}`)
  }
  for (const [i, { port }] of listIn(spec, 'ports').entries()) {
    const isPort = Number.isSafeInteger(port) && (port as number) >= 1 && (port as number) <= 65_535
    if (!isPort) problems.add(`spec.ports[${i}].port`, 'must be between 1 and 65535, inclusive')
  }
  for (const field of ['providerClusters', 'consumerClusters']) {
    for (const [i, cluster] of listIn(spec, field).entries()) {
      problems.addAll(`spec.range.${field}[${i}]`, clusterNameProblems(textIn(cluster, 'name')))
    }
  }
}

/** A MultiClusterIngress has the rules of an Ingress of Kubernetes. */
export function validateIngress(object: Fields, problems: Problems): void {
  const spec = objectIn(object, 'spec')
  if (!isObject(spec['defaultBackend']) && listIn(spec, 'rules').length === 0) {
    problems.add('spec', 'either `defaultBackend` or `rules` must be specified')
  }
  for (const [i, rule] of listIn(spec, 'rules').entries()) {
    if (parseAddress(textIn(rule, 'host')))
      problems.add(`spec.rules[${i}].host`, 'must be a DNS name, not an IP address')
  }
  const errors = builtinValidationErrors(spec, typeSchema('networking.v1.IngressSpec'))
  for (const { field, message } of errors) problems.add(field === '' ? 'spec' : `spec.${field}`, message)
}
