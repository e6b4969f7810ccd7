import { compact } from '../../core/compact.ts'
import { jsonClone, jsonEqual } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { ObjectKey, UnknownObject } from '../../kinds/meta.ts'
import type { CommitResult } from '../../store/store.ts'
import type { VerbResponse } from '../http/respond.ts'
import { auditLine } from '../server/context.ts'
import type { RequestContext } from '../server/context.ts'
import { finalizersForDelete } from '../gc/finalizers.ts'
import { undeletableReason } from '../namespaces/system-namespaces.ts'
import { readObject, storeKey, serializeObject } from '../storage/stored-object.ts'
import { checkDeletePreconditions, deleteOptions } from '../http/request-options.ts'
import type { DeleteOptions } from '../http/request-options.ts'
import { decideGracePeriod, isPod } from '../workloads/pod-grace-period.ts'
import { present } from '../http/present.ts'
import { forbidden, methodNotAllowed, notFound } from '../http/api-errors.ts'
import { objectVersion } from '../storage/resource-version.ts'
import { strategyOf } from '../strategies/strategy.ts'

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

/** DELETE of an object: answers a Status, or the object while finalizers keep it. */
export async function remove(context: RequestContext): Promise<VerbResponse> {
  const { request, kind, http, query } = context
  if (request.name === undefined || request.subresource !== undefined) throw methodNotAllowed()
  const options = deleteOptions(http, query)
  const key = compact({ name: request.name, namespace: request.namespace || undefined })
  const { object, gone } = await deleteObject(context, key, options)
  const warnings = warningsOf(kind, options)
  if (!gone || SHOWN_WHEN_GONE.has(`${kind.group}/${kind.kind}`)) {
    return { status: options.cascades && !gone ? 202 : 200, object: present(context, object), warnings }
  }
  const { name, uid } = object.metadata
  const details = { name, ...compact({ group: kind.group || undefined }), kind: kind.plural, uid }
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
  /** False while finalizers keep the object, or a pod its time to end. */
  readonly gone: boolean
}

/** Deletes an object, or marks it when something must be done first. */
export async function deleteObject(context: RequestContext, key: ObjectKey, options: DeleteOptions): Promise<Deleted> {
  const { parts, kind, caller } = context
  for (;;) {
    const stored = await readObject(parts.store, kind, key)
    if (!stored) throw notFound(kind, key.name)
    const { object } = stored
    const resourceVersion = objectVersion(parts.store, options.resourceVersion)
    checkDeletePreconditions(kind, object, {
      ...options,
      ...compact({ resourceVersion }),
    })
    const why = undeletableReason(kind, key.name)
    if (why !== undefined) throw forbidden(kind, key.name, why)
    const admission = { caller, operation: 'DELETE', kind, object: undefined, oldObject: object } as const
    await parts.admission({ ...admission, dryRun: options.dryRun })
    const { marked, gone } = step(context, object, options)
    const shown = marked ?? object
    if (options.dryRun || (!gone && !marked)) return { object: shown, gone }
    const write = async (expect: number, value: UnknownObject | undefined): Promise<CommitResult> =>
      parts.store.commit({
        key: storeKey(kind, key),
        expect,
        value: value && serializeObject(value),
        audit: auditLine(context, object, 'delete'),
      })
    let { revision } = stored
    if (marked) {
      const result = await write(revision, marked)
      if (!result.ok) continue
      if (!gone) return { object: shown, gone }
      revision = result.revision
    }
    if ((await write(revision, undefined)).ok) return { object: shown, gone }
  }
}

/**
 * What a delete does next: marks the object, lets it go, or both; neither while it waits for what it was marked for.
 */
interface Step {
  readonly marked?: UnknownObject | undefined
  readonly gone: boolean
}

function step(context: RequestContext, object: UnknownObject, options: DeleteOptions): Step {
  const { kind, parts } = context
  const finalizers = finalizersForDelete(object, options)
  const isHeld = finalizers.length > 0 || strategyOf(kind).holds?.(object) === true
  const now = parts.clock.now()
  const grace = isPod(kind) ? decideGracePeriod(object, options, now) : undefined
  if (grace === 'pending') return { gone: false }
  if (!grace) return { marked: isHeld ? marking(context, object, finalizers) : undefined, gone: !isHeld }
  // Who watches pods sees how each of them goes, also one that goes at once.
  const marked = withFinalizers(object, finalizers)
  marked.metadata.deletionTimestamp = formatTime(grace.at)
  marked.metadata.deletionGracePeriodSeconds = grace.seconds
  if (object.metadata.deletionTimestamp === undefined && marked.metadata.generation) marked.metadata.generation += 1
  return { marked, gone: !isHeld && grace.seconds === 0 }
}

/** The object marked as being deleted, or undefined when it is already and waits for the same. */
function marking(
  { parts, kind }: RequestContext,
  object: UnknownObject,
  finalizers: readonly string[],
): UnknownObject | undefined {
  const isMarked = object.metadata.deletionTimestamp !== undefined
  if (isMarked && jsonEqual(object.metadata.finalizers ?? [], finalizers)) return undefined
  const marked = withFinalizers(object, finalizers)
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

function withFinalizers(object: UnknownObject, finalizers: readonly string[]): UnknownObject {
  const next = jsonClone(object)
  if (finalizers.length > 0) next.metadata.finalizers = [...finalizers]
  else delete next.metadata.finalizers
  return next
}
