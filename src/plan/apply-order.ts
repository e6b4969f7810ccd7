/** In which order the objects of a set are applied: what others live in or are made of comes first. */

/** What decides an object's place. */
export interface Ordered {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

// Helm's install order, as far as it matters to server-side apply; everything else comes after these, workloads last.
const FIRST = [
  'Namespace',
  'CustomResourceDefinition',
  'PriorityClass',
  'StorageClass',
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'ResourceQuota',
  'LimitRange',
  'NetworkPolicy',
  'Secret',
  'ConfigMap',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Service',
]

/** The objects in the order to apply them; equal places keep the order of the set. */
export function applyOrder<T extends Ordered>(objects: readonly T[]): T[] {
  return objects.toSorted((a, b) => placeOf(a) - placeOf(b))
}

function placeOf({ kind }: Ordered): number {
  const place = FIRST.indexOf(kind)
  return place < 0 ? FIRST.length : place
}

// Data and everything inside goes with these: only an explicit word removes them.
const KEPT = new Set(['Namespace', 'CustomResourceDefinition', 'PersistentVolume', 'PersistentVolumeClaim'])

/** Whether an object that left its set may be deleted without being named. */
export function isPrunable({ kind }: Ordered): boolean {
  return !KEPT.has(kind)
}
