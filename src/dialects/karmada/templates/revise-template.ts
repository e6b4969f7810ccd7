// Tested by src/dialects/karmada/templates/templates.test.ts
/** What a cluster receives of a template: its fields without those of the hub's server, and its share of replicas. */
import { compact } from '../../../core/compact.ts'
import { isObject, jsonClone } from '../../../core/json.ts'
import { ALLOW_DROP_ANNOTATION } from '../../../kinds/native/placement.ts'
import { divideSeats, tieOrder } from '../../../plan/division/seats.ts'
import { isDivisible } from './template-kinds.ts'
import type { Template } from './template-kinds.ts'

/** Annotations about the object on the hub alone. */
const HUB_ANNOTATIONS: readonly string[] = [
  ALLOW_DROP_ANNOTATION,
  'kubectl.kubernetes.io/last-applied-configuration',
  'deployment.kubernetes.io/revision',
]

/** The replicas that a template asks for; undefined for a kind that has none. */
export function replicasOf({ apiVersion, kind, spec }: Template): number | undefined {
  if (!isDivisible({ apiVersion, kind })) return undefined
  const wanted = kind === 'Job' ? spec?.['parallelism'] : spec?.replicas
  return typeof wanted === 'number' ? wanted : 1
}

/** The template without fields that only an API server may write, and without its state. */
export function withoutServerFields(template: Template): Template {
  const { status: _status, metadata, ...rest } = jsonClone(template)
  const { name, namespace, labels } = metadata
  const annotations = Object.fromEntries(
    Object.entries(metadata.annotations ?? {}).filter(([key]) => !HUB_ANNOTATIONS.includes(key)),
  )
  const object: Template = {
    ...rest,
    metadata: compact({
      name,
      namespace: namespace || undefined,
      labels,
      annotations: Object.keys(annotations).length > 0 ? annotations : undefined,
    }),
  }
  dropAssigned(object)
  return object
}

/** Fields that the server of the hub has assigned, and that the server of a cluster assigns itself. */
function dropAssigned(object: Template): void {
  const { spec } = object
  if (!spec) return
  if (object.kind === 'Service' && spec['clusterIP'] !== 'None') {
    for (const field of ['clusterIP', 'clusterIPs', 'healthCheckNodePort']) delete spec[field]
    for (const port of listIn(spec, 'ports')) delete port['nodePort']
  }
  if (object.kind === 'PersistentVolumeClaim') delete spec['volumeName']
  if (object.kind === 'Job' && spec['manualSelector'] !== true) {
    delete spec['selector']
    const labels = mapIn(mapIn(mapIn(spec, 'template'), 'metadata'), 'labels')
    for (const label of JOB_LABELS) delete (labels as Record<string, unknown>)[label]
  }
}

const JOB_LABELS = ['controller-uid', 'job-name', 'batch.kubernetes.io/controller-uid', 'batch.kubernetes.io/job-name']

/** The template with a number of replicas. */
export function withReplicas(template: Template, replicas: number, completions?: number): Template {
  const spec = { ...template.spec }
  if (template.kind === 'Job') {
    spec['parallelism'] = replicas
    if (completions !== undefined) spec['completions'] = completions
  } else spec.replicas = replicas
  return { ...template, spec }
}

/** The completions of a Job on each cluster, in the ratio of its replicas; undefined for a Job without a number. */
export function divideCompletions(
  { kind, spec, metadata }: Template,
  shares: readonly { readonly name: string; readonly replicas: number }[],
): ReadonlyMap<string, number> | undefined {
  const completions = spec?.['completions']
  if (kind !== 'Job' || typeof completions !== 'number') return undefined
  const weights = new Map(shares.map(({ name, replicas }) => [name, replicas]))
  return divideSeats({ seats: completions, weights, ties: tieOrder(metadata.uid ?? '') })
}

function mapIn(object: Readonly<Record<string, unknown>>, field: string): Readonly<Record<string, unknown>> {
  return asObject(object[field])
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {}
}

function listIn(object: Readonly<Record<string, unknown>>, field: string): Record<string, unknown>[] {
  const value = object[field]
  return Array.isArray(value) ? (value as unknown[]).filter((one): one is Record<string, unknown> => isObject(one)) : []
}
