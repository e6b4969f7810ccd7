// Tested by src/dialects/karmada/interpret/custom/custom-kinds.test.ts
/** Workflows of Argo and jobs of Volcano, as Karmada's bundled interpreters read them. */
import { compact } from '../../../../core/compact.ts'
import { isObject } from '../../../../core/json.ts'
import type { JsonObject } from '../../../../core/json.ts'
import { requirementsOf } from '../replicas.ts'
import { countIn, listIn, mapIn, textIn, withField } from '../shape.ts'
import type { InterpretedObject, StatusItem } from '../shape.ts'
import { lastOf, retainSuspend } from './custom-kind.ts'
import type { CustomKind } from './custom-kind.ts'
import { componentsOf, dependenciesOfPods } from './pod-parts.ts'

const WORKFLOW: CustomKind = {
  replicas: ({ spec }) => {
    const { parallelism } = mapIn(spec)
    const { nodeSelector, tolerations, affinity } = mapIn(spec)
    const requires = requirementsOf(compact({ nodeSelector, tolerations, affinity }))
    return compact({ replicas: typeof parallelism === 'number' ? parallelism : 1, requires })
  },
  revise: (object, replicas) => withField(object, ['spec', 'parallelism'], replicas),
  retain: (desired, observed) => {
    const kept = retainSuspend(desired, observed)
    return isObject(observed['status']) ? { ...kept, status: observed['status'] } : kept
  },
  dependencies: (object) => dependenciesOfPods(object, [object['spec']]),
  healthy: (object) => {
    const phase = textIn(object, 'status', 'phase')
    return phase !== '' && phase !== 'Failed' && phase !== 'Error'
  },
}

const COUNTERS = ['failed', 'minAvailable', 'pending', 'retryCount', 'running', 'succeeded', 'terminating', 'unknown']

/** A job of one cluster has its status; the counters of several clusters are added up. */
function aggregateJob(object: InterpretedObject, items: readonly StatusItem[]): InterpretedObject {
  const statuses = items.map(({ status }) => status).filter((status) => isObject(status))
  if (statuses.length === 0) return object
  if (items.length === 1) return { ...object, status: statuses[0] }
  const told = COUNTERS.filter((field) => statuses.some((status) => status[field] !== undefined))
  const status: JsonObject = compact({
    ...Object.fromEntries(told.map((field) => [field, statuses.reduce((sum, one) => sum + countIn(one, field), 0)])),
    conditions: statuses.flatMap((one) => listIn(one, 'conditions')),
    controlledResources: Object.fromEntries(
      statuses.flatMap((one) => Object.entries(mapIn(one, 'controlledResources'))),
    ),
    runningDuration: longest(statuses.map((one) => textIn(one, 'runningDuration'))),
    state: lastOf(items, 'state'),
    taskStatusCount: addTasks(statuses.map((one) => mapIn(one, 'taskStatusCount'))),
    version: Math.max(...statuses.map((one) => countIn(one, 'version'))),
  })
  return { ...object, status }
}

function addTasks(all: readonly JsonObject[]): JsonObject {
  const tasks = new Map<string, Map<string, number>>()
  for (const counts of all) {
    for (const task of Object.keys(counts)) {
      const phases = tasks.get(task) ?? new Map<string, number>()
      tasks.set(task, phases)
      const more = mapIn(counts[task], 'phase')
      for (const name of Object.keys(more)) phases.set(name, (phases.get(name) ?? 0) + countIn(more, name))
    }
  }
  return Object.fromEntries([...tasks].map(([task, phases]) => [task, { phase: Object.fromEntries(phases) }]))
}

function longest(durations: readonly string[]): string | undefined {
  const told = durations.filter((duration) => duration !== '')
  return told.toSorted((a, b) => secondsOf(a) - secondsOf(b)).at(-1)
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 }

/** A duration as Go writes it: `2m30s`. */
function secondsOf(text: string): number {
  const parts = [...text.slice(0, 64).matchAll(/(\d{1,12}(?:\.\d{1,12})?)(h|ms|us|ns|m|s)/g)]
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * UNIT_SECONDS[unit!]!, 0)
}

/** By apiVersion and kind. */
export const BATCH_KINDS: Readonly<Record<string, CustomKind>> = {
  'argoproj.io/v1alpha1 Workflow': WORKFLOW,
  'batch.volcano.sh/v1alpha1 Job': {
    components: ({ spec }) =>
      componentsOf(
        listIn(spec, 'tasks').map((task, index) => {
          const { template, minAvailable } = mapIn(task)
          if (!isObject(template)) throw new Error(`spec.tasks[${index}].template is required`)
          return {
            name: textIn(task, 'name') || `task-${index}`,
            replicas: typeof minAvailable === 'number' ? minAvailable : 1,
            pod: template['spec'],
          }
        }),
      ),
    aggregate: aggregateJob,
    status: ({ status }) => status ?? {},
    healthy: (object) => ['Completed', 'Running'].includes(textIn(object, 'status', 'state', 'phase')),
  },
}
