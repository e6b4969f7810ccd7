import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { UnknownObject } from '../../meta.ts'
import { readPath, itemsAt, mapAt, textAt } from '../read-path.ts'

/**
 * autoscaling/v1 is a narrow view of autoscaling/v2: it has one target, for cpu; the rest is kept in
 * annotations, as text in forms of its own.
 */

const METRICS = 'autoscaling.alpha.kubernetes.io/metrics'
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior'
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions'
const CURRENT = 'autoscaling.alpha.kubernetes.io/current-metrics'

/** The fields of a source that both versions name alike. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  resource: ['name'],
  containerResource: ['name', 'container'],
}

/** The same autoscaler as autoscaling/v2 has it. */
export function autoscalerToV2(object: UnknownObject): UnknownObject {
  const { [METRICS]: metrics, [BEHAVIOR]: behavior, ...rest } = object.metadata.annotations ?? {}
  const { [CONDITIONS]: conditions, [CURRENT]: current, ...annotations } = rest
  const { targetCPUUtilizationPercentage: cpu, ...spec } = mapAt(object, 'spec')
  const { currentCPUUtilizationPercentage: used, currentReplicas, ...status } = mapAt(object, 'status')
  const wanted = [...listIn(metrics).map(metricToV2), ...(cpu === undefined ? [] : [cpuMetric({ target: cpu })])]
  const seen = [...listIn(current).map(metricToV2), ...(used === undefined ? [] : [cpuMetric({ current: used })])]
  return {
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata: metadataWith(object, annotations),
    spec: {
      ...spec,
      ...compact({
        metrics: wanted.length > 0 ? wanted : undefined,
        behavior: behavior === undefined ? undefined : (JSON.parse(behavior) as unknown),
      }),
    },
    status: {
      ...status,
      // Always there in autoscaling/v1, there when not 0 in autoscaling/v2.
      ...compact({
        currentReplicas: currentReplicas || undefined,
        conditions: conditions === undefined ? undefined : (JSON.parse(conditions) as unknown),
      }),
      currentMetrics: seen.length > 0 ? seen : null,
    },
  }
}

/** The same autoscaler as autoscaling/v1 has it. */
export function autoscalerFromV2(object: UnknownObject): UnknownObject {
  const { metrics: _metrics, behavior, ...spec } = mapAt(object, 'spec')
  const { currentMetrics: _current, conditions, ...status } = mapAt(object, 'status')
  const wanted = itemsAt(object, 'spec.metrics')
  const seen = itemsAt(object, 'status.currentMetrics')
  const cpu = wanted.find((metric) => isCpu(metric, 'target'))
  const used = seen.find((metric) => isCpu(metric, 'current'))
  const others = wanted.filter((metric) => metric !== cpu).map((metric) => metricFromV2(metric, 'target'))
  const otherSeen = seen.filter((metric) => metric !== used).map((metric) => metricFromV2(metric, 'current'))
  const annotations = {
    ...object.metadata.annotations,
    ...compact({
      [METRICS]: others.length > 0 ? JSON.stringify(others) : undefined,
      [BEHAVIOR]: isObject(behavior) ? JSON.stringify(behavior) : undefined,
      [CONDITIONS]: Array.isArray(conditions) && conditions.length > 0 ? JSON.stringify(conditions) : undefined,
      [CURRENT]: otherSeen.length > 0 ? JSON.stringify(otherSeen) : undefined,
    }),
  }
  return {
    ...object,
    apiVersion: 'autoscaling/v1',
    metadata: metadataWith(object, annotations),
    spec: {
      ...spec,
      ...compact({
        targetCPUUtilizationPercentage: cpu ? readPath(cpu, 'resource.target.averageUtilization') : undefined,
      }),
    },
    status: {
      currentReplicas: 0,
      ...status,
      ...compact({
        currentCPUUtilizationPercentage: used ? readPath(used, 'resource.current.averageUtilization') : undefined,
      }),
    },
  }
}

function metadataWith({ metadata }: UnknownObject, annotations: Record<string, string>): UnknownObject['metadata'] {
  const { annotations: _annotations, ...rest } = metadata
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations }
}

function listIn(text: string | undefined): JsonObject[] {
  const list: unknown = text === undefined ? [] : JSON.parse(text)
  return Array.isArray(list) ? list.filter(isObject) : []
}

function cpuMetric(use: { readonly target?: unknown; readonly current?: unknown }): JsonObject {
  const target = use.target === undefined ? {} : { target: { type: 'Utilization', averageUtilization: use.target } }
  const current = use.current === undefined ? {} : { current: { averageUtilization: use.current } }
  return { type: 'Resource', resource: { name: 'cpu', ...target, ...current } }
}

function isCpu(metric: JsonObject, part: string): boolean {
  if (metric['type'] !== 'Resource' || textAt(metric, 'resource.name') !== 'cpu') return false
  return readPath(metric, `resource.${part}.averageUtilization`) !== undefined
}

function sourceOf(metric: JsonObject): string {
  const type = textAt(metric, 'type')
  return `${type.slice(0, 1).toLowerCase()}${type.slice(1)}`
}

/** `{ target: { averageUtilization: 1 } }` as `{ targetAverageUtilization: 1 }`. */
function metricFromV2(metric: JsonObject, part: 'target' | 'current'): JsonObject {
  const source = sourceOf(metric)
  const from = mapAt(metric, source)
  const shared = Object.fromEntries((SHARED[source] ?? []).map((field) => [field, from[field]]))
  const values = Object.entries(mapAt(from, part)).filter(([field]) => field !== 'type')
  const flat = values.map(([field, value]) => [`${part}${field.slice(0, 1).toUpperCase()}${field.slice(1)}`, value])
  const name = readPath(from, 'metric.name')
  return {
    type: metric['type'],
    [source]: {
      ...shared,
      ...compact({ metricName: name, selector: readPath(from, 'metric.selector'), target: from['describedObject'] }),
      ...(Object.fromEntries(flat) as JsonObject),
    },
  }
}

const TYPES: Readonly<Record<string, string>> = {
  averageUtilization: 'Utilization',
  averageValue: 'AverageValue',
  value: 'Value',
}

function metricToV2(metric: JsonObject): JsonObject {
  const source = sourceOf(metric)
  const from = mapAt(metric, source)
  const result: JsonObject = Object.fromEntries((SHARED[source] ?? []).map((field) => [field, from[field]]))
  if (from['metricName'] !== undefined) {
    const { selector } = from
    result['metric'] = compact({ name: from['metricName'], selector })
  }
  if (isObject(from['target'])) result['describedObject'] = from['target']
  for (const part of ['target', 'current']) {
    for (const [field, type] of Object.entries(TYPES)) {
      const value = from[`${part}${field.slice(0, 1).toUpperCase()}${field.slice(1)}`]
      if (value === undefined) continue
      result[part] = {
        ...mapAt(result, part),
        ...compact({ type: part === 'target' ? type : undefined }),
        [field]: value,
      }
    }
  }
  return { type: metric['type'], [source]: result }
}
