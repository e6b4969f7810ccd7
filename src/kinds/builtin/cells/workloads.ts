import { humanAge, parseTime } from '../../../core/time/time.ts'
import type { UnknownObject } from '../../meta.ts'
import { readPath, itemsAt, numberAt, textAt } from '../read-path.ts'
import {
  containers,
  flagText,
  hasCondition,
  images,
  labels,
  NONE,
  number,
  selector,
  since,
  text,
  UNKNOWN,
  UNSET,
} from './cell-makers.ts'
import type { Cells } from './cell-makers.ts'

const TEMPLATE = { Containers: containers('spec.template.spec'), Images: images('spec.template.spec') }

function controllerOf({ metadata }: UnknownObject): string {
  const owner = metadata.ownerReferences?.find((reference) => reference.controller === true)
  if (!owner) return NONE
  const [group, version] = owner.apiVersion.split('/')
  const kind = owner.kind.toLowerCase()
  return `${version === undefined ? kind : `${kind}.${group}`}/${owner.name}`
}

function jobStatus(job: UnknownObject): string {
  if (hasCondition(job, 'Complete')) return 'Complete'
  if (hasCondition(job, 'Failed')) return 'Failed'
  if (job.metadata.deletionTimestamp) return 'Terminating'
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => hasCondition(job, type)) ?? 'Running'
}

function completionsOf(job: UnknownObject): string {
  const done = numberAt(job, 'status.succeeded')
  if (typeof readPath(job, 'spec.completions') === 'number') return `${done}/${numberAt(job, 'spec.completions')}`
  const parallel = numberAt(job, 'spec.parallelism')
  return parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`
}

function durationOf(job: UnknownObject, now: number): string {
  const started = parseTime(textAt(job, 'status.startTime'))
  if (started === undefined) return ''
  return humanAge((parseTime(textAt(job, 'status.completionTime')) ?? now) - started)
}

function targetsOf(autoscaler: UnknownObject): string {
  const specs = itemsAt(autoscaler, 'spec.metrics')
  if (specs.length === 0 && readPath(autoscaler, 'spec.targetCPUUtilizationPercentage') !== undefined) {
    const current = readPath(autoscaler, 'status.currentCPUUtilizationPercentage')
    const shown = current === undefined ? UNKNOWN : `${textAt(autoscaler, 'status.currentCPUUtilizationPercentage')}%`
    return `cpu: ${shown}/${textAt(autoscaler, 'spec.targetCPUUtilizationPercentage')}%`
  }
  if (specs.length === 0) return NONE
  const current = itemsAt(autoscaler, 'status.currentMetrics')
  const shown = specs.map((spec, index) => metricOf(spec, current[index]))
  return shown.length > 2 ? `${shown.slice(0, 2).join(', ')} + ${shown.length - 2} more...` : shown.join(', ')
}

const SOURCES: Readonly<Record<string, string>> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
}

function metricOf(spec: unknown, status: unknown): string {
  const source = SOURCES[textAt(spec, 'type')]
  if (source === undefined) return '<unknown type>'
  const wanted = (field: string) => textAt(spec, `${source}.target.${field}`)
  const seen = (field: string) => textAt(status, `${source}.current.${field}`)
  if (source === 'resource' || source === 'containerResource') {
    const name = `${textAt(spec, `${source}.name`)}: `
    if (wanted('averageValue') !== '') return `${name}${seen('averageValue') || UNKNOWN}/${wanted('averageValue')}`
    const percent = (value: string) => (value === '' ? '' : `${value}%`)
    const use = percent(seen('averageUtilization')) || UNKNOWN
    return `${name}${use}/${percent(wanted('averageUtilization')) || '<auto>'}`
  }
  if (source !== 'pods' && wanted('averageValue') !== '') {
    return `${seen('averageValue') || UNKNOWN}/${wanted('averageValue')} (avg)`
  }
  const field = source === 'pods' ? 'averageValue' : 'value'
  return `${seen(field) || UNKNOWN}/${wanted(field)}`
}

const AUTOSCALER: Cells = {
  Reference: (it) => `${textAt(it, 'spec.scaleTargetRef.kind')}/${textAt(it, 'spec.scaleTargetRef.name')}`,
  Targets: targetsOf,
  MinPods: text('spec.minReplicas', UNSET),
  MaxPods: number('spec.maxReplicas'),
  Replicas: number('status.currentReplicas'),
}

/** The cells of what runs pods. */
export const WORKLOAD_CELLS: Readonly<Record<string, Cells>> = {
  'apps/ControllerRevision': { Controller: controllerOf, Revision: number('revision') },
  'apps/DaemonSet': {
    Desired: number('status.desiredNumberScheduled'),
    Current: number('status.currentNumberScheduled'),
    Ready: number('status.numberReady'),
    'Up-to-date': number('status.updatedNumberScheduled'),
    Available: number('status.numberAvailable'),
    'Node Selector': labels('spec.template.spec.nodeSelector'),
    ...TEMPLATE,
    Selector: selector('spec.selector'),
  },
  'apps/Deployment': {
    Ready: (it) => `${numberAt(it, 'status.readyReplicas')}/${numberAt(it, 'spec.replicas')}`,
    'Up-to-date': number('status.updatedReplicas'),
    Available: number('status.availableReplicas'),
    ...TEMPLATE,
    Selector: selector('spec.selector'),
  },
  'apps/ReplicaSet': {
    Desired: number('spec.replicas'),
    Current: number('status.replicas'),
    Ready: number('status.readyReplicas'),
    ...TEMPLATE,
    Selector: selector('spec.selector'),
  },
  'apps/StatefulSet': {
    Ready: (it) => `${numberAt(it, 'status.readyReplicas')}/${numberAt(it, 'spec.replicas')}`,
    ...TEMPLATE,
  },
  'autoscaling/HorizontalPodAutoscaler': AUTOSCALER,
  'batch/CronJob': {
    Schedule: text('spec.schedule'),
    Timezone: text('spec.timeZone', NONE),
    Suspend: (it) => flagText(readPath(it, 'spec.suspend')),
    Active: (it) => itemsAt(it, 'status.active').length,
    'Last Schedule': (it, now) => {
      const last = textAt(it, 'status.lastScheduleTime')
      return last === '' ? NONE : since(last, now)
    },
    Containers: containers('spec.jobTemplate.spec.template.spec'),
    Images: images('spec.jobTemplate.spec.template.spec'),
    Selector: selector('spec.jobTemplate.spec.selector'),
  },
  'batch/Job': {
    Status: jobStatus,
    Completions: completionsOf,
    Duration: durationOf,
    ...TEMPLATE,
    Selector: selector('spec.selector'),
  },
}
