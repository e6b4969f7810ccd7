// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Whether a binding's placement differs from the one that was applied to it last. */
import { isObject, jsonEqual } from '../../../core/json.ts'
import type { KarmadaPlacement } from '../types.ts'

/** Fields of a type: a scalar, or the fields of its members. */
type Shape =
  | 'text'
  | 'number'
  | 'pointer'
  | 'texts'
  | 'textMap'
  | { readonly [field: string]: Shape | readonly [Shape] }

const LABEL_SELECTOR: Shape = {
  matchLabels: 'textMap',
  matchExpressions: [{ key: 'text', operator: 'text', values: 'texts' }],
}
const AFFINITY = {
  labelSelector: LABEL_SELECTOR,
  fieldSelector: { matchExpressions: [{ key: 'text', operator: 'text', values: 'texts' }] },
  clusterNames: 'texts',
  exclude: 'texts',
} as const satisfies Shape
const TERM = { affinityName: 'text', ...AFFINITY } as const satisfies Shape
const PLACEMENT = {
  clusterAffinity: AFFINITY,
  clusterAffinities: [{ ...TERM, overflowAffinities: [TERM] }],
  clusterTolerations: [{ key: 'text', operator: 'text', value: 'text', effect: 'text', tolerationSeconds: 'pointer' }],
  spreadConstraints: [{ spreadByField: 'text', spreadByLabel: 'text', minGroups: 'number', maxGroups: 'number' }],
  replicaScheduling: {
    replicaSchedulingType: 'text',
    replicaDivisionPreference: 'text',
    weightPreference: {
      staticWeightList: [{ targetCluster: AFFINITY, weight: 'number' }],
      dynamicWeight: 'text',
    },
  },
  workloadAffinity: {
    affinity: { groupByLabelKey: 'text' },
    antiAffinity: { groupByLabelKey: 'text' },
  },
} as const satisfies Shape

/** Members of these structures are values, not pointers: absent and empty are the same. */
const EMBEDDED: ReadonlySet<string> = new Set(['targetCluster'])

/**
 * True when the placement must be scheduled anew. `applied` is the text of the placement that was applied last; a text
 * that cannot be read counts as unchanged. Only the affinity term in use is compared; the other terms may change.
 */
export function placementChanged(placement: KarmadaPlacement, applied: string, affinityName: string): boolean {
  if (applied === '') return true
  const before = readPlacement(applied)
  if (before === undefined) return false
  const now = typed(placement, PLACEMENT)
  if (jsonEqual(now, before)) return false
  const fields = ['clusterAffinity', 'clusterTolerations', 'spreadConstraints', 'replicaScheduling']
  if (fields.some((field) => !jsonEqual(now[field] ?? null, before[field] ?? null))) return true
  if (affinityName === '') return true
  const term = termOf(now, affinityName)
  const termBefore = termOf(before, affinityName)
  return term === undefined || termBefore === undefined || !jsonEqual(term, termBefore)
}

function readPlacement(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (value === null) return {}
    return isObject(value) ? typed(value, PLACEMENT) : undefined
  } catch {
    return undefined
  }
}

function termOf(placement: Record<string, unknown>, name: string): unknown {
  const terms = placement['clusterAffinities'] as readonly { readonly affinityName?: string }[] | undefined
  return terms?.find(({ affinityName = '' }) => affinityName === name)
}

/**
 * The value as Karmada's types hold it: unknown fields are dropped, and so are empty texts and zeros; an empty list or
 * structure differs from an absent one.
 */
function typed(value: object, shape: Exclude<Shape, string>): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [field, kind] of Object.entries(shape)) {
    const member = typedMember((value as Record<string, unknown>)[field], kind)
    const isEmptyValue = EMBEDDED.has(field) && isObject(member) && Object.keys(member).length === 0
    if (member !== undefined && !isEmptyValue) result[field] = member
  }
  return result
}

function typedMember(value: unknown, kind: Shape | readonly [Shape]): unknown {
  if (value === undefined || value === null) return undefined
  if (kind === 'pointer' || kind === 'texts' || kind === 'textMap') return value
  if (kind === 'text') return value === '' ? undefined : value
  if (kind === 'number') return value === 0 ? undefined : value
  if (isList(kind)) return Array.isArray(value) ? value.map((one) => typedMember(one, kind[0])) : value
  return isObject(value) ? typed(value, kind) : value
}

function isList(kind: Shape | readonly [Shape]): kind is readonly [Shape] {
  return Array.isArray(kind)
}
