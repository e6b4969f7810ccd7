// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Autoscalers of Karmada as they are stored: with the defaults of a HorizontalPodAutoscaler, or with what is wrong. */
import { isTimeZone } from '../../../core/time/time.ts'
import { pathSegmentProblems } from '../../../core/text/name-validation.ts'
import { DEFAULTERS } from '../../../kinds/builtin/defaults/defaulters.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { parseCron } from '../../../plan/windows/cron.ts'
import { listIn, objectIn, textIn } from './problems.ts'
import type { Fields, Problems } from './problems.ts'

/** Where each type of metric has its source. */
const METRIC_SOURCES: Readonly<Record<string, string>> = {
  ContainerResource: 'containerResource',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
}
const TARGETS = ['AverageValue', 'Utilization', 'Value']

/** A FederatedHPA. */
export function admitAutoscaler(object: Record<string, unknown>, problems: Problems): void {
  object['spec'] = { minReplicas: 1, ...objectIn(object, 'spec') }
  DEFAULTERS['autoscaling/v2 HorizontalPodAutoscaler']!(object as UnknownObject)
  object['status'] = { currentMetrics: null, desiredReplicas: 0, ...objectIn(object, 'status') }
  const spec = objectIn(object, 'spec')
  const [min, max] = [countIn(spec, 'minReplicas'), countIn(spec, 'maxReplicas')]
  if (min < 1) problems.add('spec.minReplicas', 'must be greater than or equal to 1')
  if (max < 1) problems.add('spec.maxReplicas', 'must be greater than 0')
  else if (max < min) problems.add('spec.maxReplicas', 'must be greater than or equal to `minReplicas`')
  validateTarget(spec, problems)
  for (const [i, metric] of listIn(spec, 'metrics').entries()) validateMetric(metric, `spec.metrics[${i}]`, problems)
  for (const direction of ['scaleUp', 'scaleDown']) {
    validateScaling(objectIn(objectIn(spec, 'behavior'), direction), `spec.behavior.${direction}`, problems)
  }
}

function validateTarget(spec: Fields, problems: Problems): void {
  const target = objectIn(spec, 'scaleTargetRef')
  for (const field of ['kind', 'name']) {
    const value = textIn(target, field)
    const path = `spec.scaleTargetRef.${field}`
    if (value === '') problems.add(path, 'Required value')
    else problems.addAll(path, pathSegmentProblems(value))
  }
}

function validateMetric(metric: Fields, path: string, problems: Problems): void {
  const type = textIn(metric, 'type')
  const source = METRIC_SOURCES[type]
  if (type === '') return problems.add(`${path}.type`, 'must specify a metric source type')
  if (source === undefined) {
    return problems.add(`${path}.type`, `must be one of ${Object.keys(METRIC_SOURCES).join(', ')}`)
  }
  if (metric[source] === undefined) return problems.add(`${path}.${source}`, 'must be given for the type of the metric')
  const from = objectIn(metric, source)
  const target = objectIn(from, 'target')
  const isResource = source === 'resource' || source === 'containerResource'
  if (isResource && textIn(from, 'name') === '') problems.add(`${path}.${source}.name`, 'must specify a resource name')
  if (!isResource && textIn(objectIn(from, 'metric'), 'name') === '') {
    problems.add(`${path}.${source}.metric.name`, 'must specify a metric name')
  }
  const where = `${path}.${source}.target`
  if (textIn(target, 'type') === '') problems.add(`${where}.type`, 'must specify a metric target type')
  else if (!TARGETS.includes(textIn(target, 'type')))
    problems.add(`${where}.type`, `must be one of ${TARGETS.join(', ')}`)
  validateTargetValues(target, { where, isResource, isPods: source === 'pods' }, problems)
}

function validateTargetValues(
  target: Fields,
  { where, isResource, isPods }: { readonly where: string; readonly isResource: boolean; readonly isPods: boolean },
  problems: Problems,
): void {
  const { averageUtilization, averageValue, value } = target
  if (isResource) {
    if (averageUtilization === undefined && averageValue === undefined) {
      problems.add(`${where}.averageUtilization`, 'must set either a target raw value or a target utilization')
    }
    if (averageUtilization !== undefined && averageValue !== undefined) {
      problems.add(`${where}.averageValue`, 'may not set both a target raw value and a target utilization')
    }
  } else if (averageValue === undefined && (isPods || value === undefined)) {
    problems.add(`${where}.averageValue`, 'must specify a positive target')
  }
  if (typeof averageUtilization === 'number' && averageUtilization < 1) {
    problems.add(`${where}.averageUtilization`, 'must be greater than 0')
  }
}

const POLICIES = ['Percent', 'Pods']
const SELECTIONS = ['Disabled', 'Max', 'Min']
const MAX_WINDOW_SECONDS = 3600
const MAX_PERIOD_SECONDS = 1800

function validateScaling(scaling: Fields, path: string, problems: Problems): void {
  if (Object.keys(scaling).length === 0) return
  const { stabilizationWindowSeconds: window, selectPolicy } = scaling
  if (typeof window === 'number' && (window < 0 || window > MAX_WINDOW_SECONDS)) {
    problems.add(`${path}.stabilizationWindowSeconds`, `must be between 0 and ${MAX_WINDOW_SECONDS}`)
  }
  if (typeof selectPolicy === 'string' && !SELECTIONS.includes(selectPolicy)) {
    problems.add(`${path}.selectPolicy`, `must be one of ${SELECTIONS.join(', ')}`)
  }
  const policies = listIn(scaling, 'policies')
  if (policies.length === 0) problems.add(`${path}.policies`, 'must specify at least one Policy')
  for (const [i, policy] of policies.entries()) {
    const where = `${path}.policies[${i}]`
    if (!POLICIES.includes(textIn(policy, 'type')))
      problems.add(`${where}.type`, `must be one of ${POLICIES.join(', ')}`)
    if (countIn(policy, 'value') < 1) problems.add(`${where}.value`, 'must be greater than zero')
    const seconds = countIn(policy, 'periodSeconds')
    if (seconds < 1 || seconds > MAX_PERIOD_SECONDS) {
      problems.add(`${where}.periodSeconds`, `must be between 1 and ${MAX_PERIOD_SECONDS}`)
    }
  }
}

/** A CronFederatedHPA scales a workload, or moves the bounds of a FederatedHPA. */
export function validateCronAutoscaler(object: Fields, problems: Problems): void {
  const spec = objectIn(object, 'spec')
  const target = objectIn(spec, 'scaleTargetRef')
  const kind = textIn(target, 'kind')
  const isAutoscaler = kind === 'FederatedHPA' && textIn(target, 'apiVersion').startsWith('autoscaling.karmada.io/')
  const names = new Set<string>()
  for (const [i, rule] of listIn(spec, 'rules').entries()) {
    const path = `spec.rules[${i}]`
    const name = textIn(rule, 'name')
    if (names.has(name)) problems.add(`${path}.name`, `${JSON.stringify(name)} is the name of another rule`)
    names.add(name)
    if (!isSchedule(textIn(rule, 'schedule'))) problems.add(`${path}.schedule`, 'invalid cron format')
    const { timeZone } = rule
    if (timeZone !== undefined && !isZone(timeZone)) problems.add(`${path}.timeZone`, 'is no time zone')
    if (isAutoscaler) validateBounds(rule, path, problems)
    else if (rule['targetReplicas'] === undefined) {
      problems.add(`${path}.targetReplicas`, `targetReplicas cannot be nil if you want to scale ${kind}`)
    } else if (countIn(rule, 'targetReplicas') < 0) {
      problems.add(`${path}.targetReplicas`, 'should be larger than or equal to 0')
    }
  }
}

function validateBounds(rule: Fields, path: string, problems: Problems): void {
  const { targetMinReplicas: min, targetMaxReplicas: max } = rule
  if (min === undefined && max === undefined) {
    const words =
      'targetMinReplicas and targetMaxReplicas cannot be nil at the same time if you want to scale FederatedHPA'
    return problems.add(`${path}.targetMaxReplicas`, words)
  }
  if (typeof min === 'number' && min <= 0) problems.add(`${path}.targetMinReplicas`, 'should be larger than 0')
  if (typeof max === 'number' && max <= 0) problems.add(`${path}.targetMaxReplicas`, 'should be larger than 0')
  if (typeof min === 'number' && typeof max === 'number' && min > max) {
    problems.add(`${path}.targetMaxReplicas`, 'should be larger than or equal to targetMinReplicas')
  }
}

const SECONDS = /^(\*|[0-5]?\d)(-[0-5]?\d)?(\/[1-9]\d?)?$/

/** Five fields, with one for seconds in front, or one for years behind, or both. */
function isSchedule(text: string): boolean {
  const fields = text.trim().split(/\s+/)
  const hasYear = fields.length === 7 || (fields.length === 6 && /^\d{4}$/.test(fields.at(-1)!))
  const rest = hasYear ? fields.slice(0, -1) : fields
  const seconds = rest.length === 6 ? rest[0]!.split(',') : []
  return seconds.every((part) => SECONDS.test(part)) && parseCron(rest.slice(seconds.length > 0 ? 1 : 0).join(' ')).ok
}

function isZone(zone: unknown): boolean {
  return typeof zone === 'string' && (zone === '' || isTimeZone(zone))
}

function countIn(fields: Fields, field: string): number {
  const value = fields[field]
  return typeof value === 'number' ? value : 0
}
