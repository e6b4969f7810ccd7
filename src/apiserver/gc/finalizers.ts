import type { UnknownObject } from '../../kinds/meta.ts'
import type { DeleteOptions } from '../http/request-options.ts'

/** Kept until every dependent that blocks its owner's deletion is gone. */
export const FOREGROUND = 'foregroundDeletion'
/** Kept until every dependent has forgotten its owner. */
export const ORPHAN = 'orphan'

/** Kinds that keep their pods unless told, as they did before owners were collected. */
const ORPHANING: ReadonlySet<string> = new Set(['v1/ReplicationController', 'batch/v1/Job'])

/** Whether a delete that says nothing leaves the dependents of an object behind. */
function orphansByDefault({ apiVersion, kind, metadata }: UnknownObject, options: DeleteOptions): boolean {
  const isDecided = metadata.finalizers?.some((finalizer) => finalizer === FOREGROUND || finalizer === ORPHAN)
  return options.propagationPolicy === undefined && !isDecided && ORPHANING.has(`${apiVersion}/${kind}`)
}

/**
 * For a namespace, the deprecated `orphanDependents: false` means foreground deletion; for all other kinds, background.
 */
function policyOf(object: UnknownObject, options: DeleteOptions): DeleteOptions['propagationPolicy'] {
  if (options.cascades && object.apiVersion === 'v1' && object.kind === 'Namespace') return 'Foreground'
  return orphansByDefault(object, options) ? 'Orphan' : options.propagationPolicy
}

/** The finalizers an object has once it is deleted with these options: what they say wins over what it had. */
export function finalizersForDelete(object: UnknownObject, options: DeleteOptions): string[] {
  const finalizers = object.metadata.finalizers ?? []
  const propagationPolicy = policyOf(object, options)
  if (propagationPolicy === undefined) return finalizers
  const others = finalizers.filter((finalizer) => finalizer !== FOREGROUND && finalizer !== ORPHAN)
  if (propagationPolicy === 'Foreground') return [...others, FOREGROUND]
  return propagationPolicy === 'Orphan' ? [...others, ORPHAN] : others
}

/** Whether a deleted object waits for its dependents: to be deleted, or to forget it. */
export function isWaitingForDependents(object: UnknownObject, finalizer: typeof FOREGROUND | typeof ORPHAN): boolean {
  const { deletionTimestamp, finalizers } = object.metadata
  return deletionTimestamp !== undefined && finalizers?.includes(finalizer) === true
}
