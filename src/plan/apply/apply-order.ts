/**
 * In which order the objects of a set are applied: waves by number, within a wave what others live in or are made of
 * first.
 *
 *     wave -1: Namespace, CRD │ ServiceAccount … Deployment      wave 0: …
 *              └ established ─┘                     └─ healthy ──▶
 */
import { groupOf } from '../objects/object-id.ts'
import type { ObjectId } from '../objects/object-id.ts'

// Helm's install order, as far as it matters; other kinds come after these and before what intercepts requests.
const FIRST = [
  'Namespace',
  'CustomResourceDefinition',
  'PriorityClass',
  'RuntimeClass',
  'StorageClass',
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'ResourceQuota',
  'LimitRange',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'Secret',
  'ConfigMap',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Service',
]
// A webhook that is there before what answers it would stop all other objects.
const LAST = ['APIService', 'ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration']

/** The objects in the order to apply them; equal places keep the order of the set. */
export function applyOrder<T extends ObjectId>(objects: readonly T[]): T[] {
  return objects.toSorted((a, b) => applyRank(a) - applyRank(b))
}

/** Objects that may be applied at the same time have the same place. */
export function applyRank({ kind }: ObjectId): number {
  const place = FIRST.indexOf(kind)
  if (place >= 0) return place
  return FIRST.length + 1 + LAST.indexOf(kind)
}

/** A wave: applied whole, then waited for. */
export interface Wave<T> {
  readonly wave: number
  /** Namespaces and CRDs; they must be there and established before the others. */
  readonly foundations: readonly T[]
  readonly others: readonly T[]
}

/** What decides an object's wave. */
export interface Planned extends ObjectId {
  readonly wave: number
  /** Of a CRD: which kind it brings. */
  readonly brings?: { readonly group: string; readonly kind: string }
}

/**
 * The waves of a set, in order; namespaces and CRDs come no later than what needs them. `others` are waves without
 * objects.
 */
export function wavesOf<T extends Planned>(objects: readonly T[], others: readonly number[] = []): Wave<T>[] {
  const needed = new Map<string, number>()
  const need = (key: string, wave: number) => needed.set(key, Math.min(wave, needed.get(key) ?? wave))
  for (const object of objects) {
    if (object.namespace !== undefined) need(`namespace ${object.namespace}`, object.wave)
    need(`kind ${groupOf(object)}/${object.kind}`, object.wave)
  }
  const waveOf = (object: T): number => {
    const by = foundationKey(object)
    return by === undefined ? object.wave : Math.min(object.wave, needed.get(by) ?? object.wave)
  }
  const byWave = Map.groupBy(objects, waveOf)
  return [...new Set([...byWave.keys(), ...others])]
    .toSorted((a, b) => a - b)
    .map((wave) => {
      const members = applyOrder(byWave.get(wave) ?? [])
      return {
        wave,
        foundations: members.filter((object) => isFoundation(object)),
        others: members.filter((object) => !isFoundation(object)),
      }
    })
}

function isFoundation(object: Planned): boolean {
  return object.kind === 'CustomResourceDefinition' || (object.kind === 'Namespace' && groupOf(object) === '')
}

function foundationKey(object: Planned): string | undefined {
  if (object.brings) return `kind ${object.brings.group}/${object.brings.kind}`
  return object.kind === 'Namespace' && groupOf(object) === '' ? `namespace ${object.name}` : undefined
}
