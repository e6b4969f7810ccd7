import { jsonClone, jsonEqual } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { ManagedFieldsEntry, UnknownObject } from '../../kinds/meta.ts'
import { validateObject } from '../../kinds/validation/validate-object.ts'
import { invalidObject } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import { applyApproval } from '../strategies/certificate-approval.ts'
import { auditLine } from '../server/context.ts'
import type { RequestContext } from '../server/context.ts'
import { MAX_OBJECT_LENGTH, serializeObject, storeKey } from '../storage/stored-object.ts'
import type { StoredObject, WrittenObject } from '../storage/stored-object.ts'
import { applyPodSubresource, isPodSubresource, podSubresourceErrors } from '../workloads/pod-subresources.ts'
import { commitCharged } from '../quota/charge-quota.ts'
import { hasGeneration, isCustom, metadataOfStatus } from '../server/registry.ts'
import { strategyOf } from '../strategies/strategy.ts'

/** The rules of every change to an object that exists, whether it comes by PUT, PATCH or apply. */

/** A change to an object. */
export interface Change {
  readonly stored: StoredObject
  /** What the client wants; it is changed here. */
  readonly next: UnknownObject
  readonly dryRun: boolean
  /** Records who owns which fields, once the object has its final shape. */
  track?(live: UnknownObject, next: UnknownObject): void
}

/** The result of a change; `stale` says that another write came first. */
export type ChangeResult = ({ readonly stale: false } & WrittenObject) | { readonly stale: true }

/** Validates and stores a change. A change that changes nothing writes nothing. */
export async function commitChange(context: RequestContext, change: Change): Promise<ChangeResult> {
  const { kind, parts, request, caller } = context
  const { stored, dryRun } = change
  const old = stored.object
  const next = keepWhatIsNotTheirs(context, old, change.next)
  const strategy = strategyOf(kind)
  if (request.subresource === undefined) strategy.prepare?.(next, old)
  // A kube-apiserver keeps no record of who approved; the condition says it.
  if (request.subresource !== 'approval') change.track?.(old, next)
  const admission = { caller, operation: 'UPDATE', kind, subresource: request.subresource } as const
  const asked = { ...admission, object: next, oldObject: old, dryRun }
  const changed = await parts.mutation(asked)
  if (request.subresource === undefined) strategy.complete?.(next, old, caller)
  if (hasGeneration(kind) && contentChanged(context, old, next)) {
    next.metadata.generation = (old.metadata.generation ?? 0) + 1
  }
  const errors = [
    ...(request.subresource === 'status' ? statusErrors(kind, next, old) : validateObject(kind, next, { old })),
    ...(isPodSubresource(request.subresource)
      ? podSubresourceErrors(next, old, request.subresource)
      : (strategy.validate?.(next, old) ?? [])),
  ]
  if (errors.length > 0) throw invalidObject(kind, next.metadata.name, errors)
  const warnings = [...changed, ...(await parts.admission(asked))]
  keepUntouchedTimes(old, next)
  if (jsonEqual(old, next)) return { stale: false, object: old, text: stored.text, warnings }
  if (dryRun) {
    await parts.quota.charge(asked)
    return { stale: false, object: next, text: undefined, warnings }
  }
  // An object that is larger already may still be changed, as long as it does not grow.
  const longest = Math.max(MAX_OBJECT_LENGTH, stored.text.length)
  const value = isFullyDeleted(context, next) ? undefined : serializeObject(next, longest)
  const audit = auditLine(context, next)
  const write = { key: storeKey(kind, old.metadata), expect: stored.revision, value, audit }
  const result = await commitCharged(parts.quota, asked, () => parts.store.commit(write))
  return result.ok ? { stale: false, object: next, text: value?.written(), warnings } : { stale: true }
}

/** Go's types have a zero for what a status leaves out: nothing of it is required of built-in kinds. */
function statusErrors(kind: Kind, next: UnknownObject, old: UnknownObject): FieldError[] {
  const errors = validateObject(kind, next, { old, subresource: 'status' })
  const isLeftOut = ({ field, reason }: FieldError) => reason === 'FieldValueRequired' && field.startsWith('status.')
  return isCustom(kind) ? errors : errors.filter((error) => !isLeftOut(error))
}

/** Whether a deleted object has lost its last reason to stay. */
export function isFullyDeleted({ kind }: Pick<RequestContext, 'kind'>, object: UnknownObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers } = object.metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds > 0) return false
  return !finalizers?.length && strategyOf(kind).holds?.(object) !== true
}

function keepWhatIsNotTheirs(
  { kind, request, parts }: RequestContext,
  old: UnknownObject,
  wanted: UnknownObject,
): UnknownObject {
  if (request.subresource === 'approval') {
    const { annotations, labels } = wanted.metadata
    const metadata = { ...jsonClone(old.metadata), ...(annotations && { annotations }), ...(labels && { labels }) }
    return { ...jsonClone(old), metadata, status: applyApproval(old, wanted, parts.clock.now()) }
  }
  if (isPodSubresource(request.subresource)) return applyPodSubresource(old, wanted, request.subresource)
  if (request.subresource === 'status') {
    const next = jsonClone(old)
    if (wanted['status'] === undefined) delete next['status']
    else next['status'] = wanted['status']
    for (const field of metadataOfStatus(kind)) {
      const value = wanted.metadata[field]
      if (value === undefined) delete next.metadata[field]
      else Object.assign(next.metadata, { [field]: value })
    }
    strategyOf(kind).keep?.(next, old)
    // Ownership of status fields is recorded through this endpoint, too.
    if (wanted.metadata.managedFields) next.metadata.managedFields = wanted.metadata.managedFields
    return next
  }
  const next = wanted
  if (kind.subresources.status) {
    if (old['status'] === undefined) delete next['status']
    else next['status'] = jsonClone(old['status'])
  }
  const { metadata } = next
  for (const field of ['uid', 'creationTimestamp'] as const) {
    if (metadata[field] === undefined && old.metadata[field] !== undefined) metadata[field] = old.metadata[field]
  }
  const owned = ['resourceVersion', 'generation', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const
  for (const field of owned) {
    if (old.metadata[field] === undefined) delete metadata[field]
    else Object.assign(metadata, { [field]: old.metadata[field] })
  }
  return next
}

function contentChanged({ kind, request }: RequestContext, old: UnknownObject, next: UnknownObject): boolean {
  const content = (object: UnknownObject) => {
    const { metadata, status, ...rest } = object
    // What is written on a Deployment goes on to its ReplicaSets.
    if (kind.group === 'apps' && kind.kind === 'Deployment' && request.subresource === undefined) {
      return { ...rest, annotations: metadata.annotations ?? {} }
    }
    // Who follows slices follows their labels, too.
    if (kind.kind === 'EndpointSlice') return { ...rest, labels: metadata.labels ?? {} }
    return isCustom(kind) && !kind.subresources.status ? { ...rest, status } : rest
  }
  return !jsonEqual(content(old), content(next))
}

/** An entry whose fields did not change keeps its time, so that repeating a write writes nothing. */
function keepUntouchedTimes(old: UnknownObject, next: UnknownObject): void {
  const before = old.metadata.managedFields ?? []
  const after = next.metadata.managedFields ?? []
  const timeless = ({ time: _time, ...rest }: ManagedFieldsEntry) => rest
  const same =
    before.length === after.length &&
    before.every((entry, index) => jsonEqual(timeless(entry), timeless(after[index]!)))
  if (same && old.metadata.managedFields) next.metadata.managedFields = jsonClone(old.metadata.managedFields)
}
