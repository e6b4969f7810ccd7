// Tested by src/dialects/karmada/templates/templates.test.ts
/** The status of a template on the hub: the statuses on its clusters, added up as Karmada adds them. */
import { compact } from '../../../core/compact.ts'
import { readWholeNumber } from '../../../core/read-number.ts'
import type { BundleOptions } from '../../../kinds/fields/bundle-options.ts'
import type { Template } from './template-kinds.ts'
import { groupOf } from '../../../plan/objects/object-id.ts'

/** What the agent of a cluster reports of an object, by the names of `feedbackOf`. */
export type ReportedValues = Readonly<Record<string, string>>

/** The object on a cluster. */
export interface ClusterStatus {
  readonly cluster: string
  /** Whether the report is about the content that the cluster should have now. */
  readonly isCurrent: boolean
  readonly values: ReportedValues
}

/** Counters that are added up. */
const COUNTERS: Readonly<Record<string, readonly string[]>> = {
  'apps/v1 Deployment': ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'],
  'apps/v1 StatefulSet': ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
  'apps/v1 DaemonSet': [
    'currentNumberScheduled',
    'desiredNumberScheduled',
    'numberAvailable',
    'numberMisscheduled',
    'numberReady',
    'numberUnavailable',
    'updatedNumberScheduled',
  ],
  'batch/v1 Job': ['active', 'succeeded', 'failed'],
  'policy/v1 PodDisruptionBudget': ['currentHealthy', 'desiredHealthy', 'disruptionsAllowed', 'expectedPods'],
}

/** Counters without which the API server refuses the status. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'apps/v1 StatefulSet': ['replicas'],
  'apps/v1 DaemonSet': ['currentNumberScheduled', 'desiredNumberScheduled', 'numberMisscheduled', 'numberReady'],
  'policy/v1 PodDisruptionBudget': ['currentHealthy', 'desiredHealthy', 'disruptionsAllowed', 'expectedPods'],
}

const OBSERVED = 'observedGeneration'
const GENERATION = 'generation'

/** What selects exactly this object in the options of a Delivery. */
export function selectorOf({ apiVersion, kind, metadata: { namespace, name } }: Template) {
  return compact({ group: groupOf({ apiVersion }), kind, namespace: namespace || undefined, name })
}

/** What the agents report of the object; empty for a kind whose status is not added up. */
export function feedbackOf(template: Template): NonNullable<BundleOptions['feedback']> {
  const { apiVersion, kind } = template
  const counters = COUNTERS[`${apiVersion} ${kind}`]
  if (!counters) return []
  const selector = selectorOf(template)
  return [
    ...[...counters, OBSERVED].map((name) => ({ ...selector, as: name, path: `.status.${name}` })),
    { ...selector, as: GENERATION, path: '.metadata.generation' },
  ]
}

/** The numbers of a cluster as its status, for `aggregatedStatus`; undefined if there are none. */
export function clusterStatus(template: Template, values: ReportedValues): Record<string, number> | undefined {
  const counters = COUNTERS[`${template.apiVersion} ${template.kind}`] ?? []
  const found = [...counters, OBSERVED].flatMap((name) => {
    const value = numberOf(values[name])
    return value === undefined ? [] : [[name, value] as const]
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

/**
 * The status of the template; undefined for a kind whose status is not added up, and while no cluster has reported.
 * `observedGeneration` follows only when each cluster has observed the content that it should have.
 */
export function aggregateStatus(
  template: Template,
  clusters: readonly ClusterStatus[],
): Record<string, unknown> | undefined {
  const id = `${template.apiVersion} ${template.kind}`
  const counters = COUNTERS[id]
  if (!counters || clusters.length === 0) return undefined
  const sums = Object.fromEntries(
    counters.flatMap((name): [string, number][] => {
      const sum = clusters.reduce((total, { values }) => total + (numberOf(values[name]) ?? 0), 0)
      return sum > 0 || (REQUIRED[id] ?? []).includes(name) ? [[name, sum]] : []
    }),
  )
  const observed = clusters.every(({ isCurrent, values }) => isCurrent && isObserved(values))
    ? template.metadata.generation
    : template.status?.[OBSERVED]
  const observes = template.kind === 'Job' ? {} : compact({ [OBSERVED]: observed })
  return { ...sums, ...observes }
}

/** Whether the controllers of the cluster have seen the newest generation of the object. */
function isObserved(values: ReportedValues): boolean {
  const generation = numberOf(values[GENERATION])
  return generation === undefined || (numberOf(values[OBSERVED]) ?? 0) >= generation
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : readWholeNumber(text)
}
