import type { UnknownObject } from '../../kinds/meta.ts'
import type { DeleteOptions } from '../options.ts'

/** Kept until every dependent that blocks its owner's deletion is gone. */
export const FOREGROUND = 'foregroundDeletion'
/** Kept until every dependent has forgotten its owner. */
export const ORPHAN = 'orphan'

/** The finalizers an object has once it is deleted with these options: what they say wins over what it had. */
export function finalizersAfter(
  object: UnknownObject,
  { propagationPolicy }: Pick<DeleteOptions, 'propagationPolicy'>,
): string[] {
  const finalizers = object.metadata.finalizers ?? []
  if (propagationPolicy === undefined) return finalizers
  const others = finalizers.filter((finalizer) => finalizer !== FOREGROUND && finalizer !== ORPHAN)
  if (propagationPolicy === 'Foreground') return [...others, FOREGROUND]
  return propagationPolicy === 'Orphan' ? [...others, ORPHAN] : others
}

/** Whether a deleted object waits for its dependents: to be deleted, or to forget it. */
export function waitsFor(object: UnknownObject, finalizer: typeof FOREGROUND | typeof ORPHAN): boolean {
  const { deletionTimestamp, finalizers } = object.metadata
  return deletionTimestamp !== undefined && finalizers?.includes(finalizer) === true
}
