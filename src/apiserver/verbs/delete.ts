import { jsonClone, jsonEqual } from '../../core/json.ts'
import { formatTime } from '../../core/time.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { ObjectKey, UnknownObject } from '../../kinds/meta.ts'
import type { Answer } from '../answer.ts'
import { auditLine } from '../context.ts'
import type { Context } from '../context.ts'
import { finalizersAfter } from '../gc/finalizers.ts'
import { whyToStay } from '../namespaces.ts'
import { readObject, storeKeyOf, textAt } from '../objects.ts'
import { checkDeletePreconditions, deleteOptions } from '../options.ts'
import type { DeleteOptions } from '../options.ts'
import { present } from '../present.ts'
import { forbidden, methodNotAllowed, notFound } from '../refusals.ts'
import { strategyOf } from '../strategies.ts'

/** Kinds whose objects are shown once more when they are gone; of others, a Status says so. */
const SHOWN_WHEN_GONE: ReadonlySet<string> = new Set([
  '/PersistentVolume',
  '/PersistentVolumeClaim',
  '/Pod',
  '/PodTemplate',
  '/ResourceQuota',
  '/Service',
  '/ServiceAccount',
  'resource.k8s.io/DeviceClass',
  'resource.k8s.io/ResourceClaim',
  'resource.k8s.io/ResourceClaimTemplate',
  'resource.k8s.io/ResourceSlice',
  'storage.k8s.io/CSIDriver',
  'storage.k8s.io/CSINode',
  'storage.k8s.io/StorageClass',
  'storage.k8s.io/VolumeAttachment',
  'storage.k8s.io/VolumeAttributesClass',
])

const JOB_WARNING =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning'

/** DELETE of one object: answers a Status, or the object while finalizers keep it. */
export async function remove(context: Context): Promise<Answer> {
  const { request, kind, http, query } = context
  if (request.name === undefined || request.subresource !== undefined) throw methodNotAllowed()
  const options = deleteOptions(http, query)
  const key = { name: request.name, ...(request.namespace ? { namespace: request.namespace } : {}) }
  const { object, gone } = await deleteObject(context, key, options)
  const warnings = warningsOf(kind, options)
  if (!gone || SHOWN_WHEN_GONE.has(`${kind.group}/${kind.kind}`)) {
    return { status: 200, object: present(context, object), warnings }
  }
  const { name, uid } = object.metadata
  const details = { name, ...(kind.group ? { group: kind.group } : {}), kind: kind.plural, uid }
  const done = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
  return { status: 200, object: done, warnings }
}

/** What a delete should have said. */
export function warningsOf({ group, kind }: Pick<Kind, 'group' | 'kind'>, options: DeleteOptions): string[] {
  return group === 'batch' && kind === 'Job' && options.propagationPolicy === undefined ? [JOB_WARNING] : []
}

/** What became of a delete. */
export interface Deleted {
  readonly object: UnknownObject
  /** False while finalizers keep the object. */
  readonly gone: boolean
}

/** Deletes an object, or marks it when something must be done first. */
export async function deleteObject(context: Context, key: ObjectKey, options: DeleteOptions): Promise<Deleted> {
  const { parts, kind, caller } = context
  for (;;) {
    const stored = await readObject(parts.store, kind, key)
    if (!stored) throw notFound(kind, key.name)
    const { object } = stored
    checkDeletePreconditions(kind, object, options)
    const why = whyToStay(kind, key.name)
    if (why !== undefined) throw forbidden(kind, key.name, why)
    const admission = { caller, operation: 'DELETE', kind, object: undefined, oldObject: object } as const
    await parts.admission({ ...admission, dryRun: options.dryRun })
    const finalizers = finalizersAfter(object, options)
    const isHeld = finalizers.length > 0 || strategyOf(kind).holds?.(object) === true
    const marked = isHeld ? marking(context, object, finalizers) : undefined
    if (options.dryRun || (isHeld && marked === undefined)) return { object: marked ?? object, gone: !isHeld }
    const result = await parts.store.commit({
      key: storeKeyOf(kind, key),
      expect: stored.revision,
      value: marked ? textAt(marked) : undefined,
      audit: auditLine(context, object, 'delete'),
    })
    if (result.ok) return { object: marked ?? object, gone: !isHeld }
  }
}

/** The object marked as being deleted, or undefined when it is already and waits for the same. */
function marking(
  { parts, kind }: Context,
  object: UnknownObject,
  finalizers: readonly string[],
): UnknownObject | undefined {
  const isMarked = object.metadata.deletionTimestamp !== undefined
  if (isMarked && jsonEqual(object.metadata.finalizers ?? [], finalizers)) return undefined
  const marked = jsonClone(object)
  if (finalizers.length > 0) marked.metadata.finalizers = [...finalizers]
  else delete marked.metadata.finalizers
  if (isMarked) return marked
  marked.metadata.deletionTimestamp = formatTime(parts.clock.now())
  marked.metadata.deletionGracePeriodSeconds = 0
  if (marked.metadata.generation !== undefined) marked.metadata.generation += 1
  if (kind.group === '' && kind.kind === 'Namespace') {
    delete marked.metadata.deletionGracePeriodSeconds
    marked['status'] = { ...(marked['status'] as object | undefined), phase: 'Terminating' }
  }
  return marked
}
