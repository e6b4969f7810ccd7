import { jsonClone } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { defaultObject, validateObject } from '../../kinds/validation/validate-object.ts'
import { invalidObject } from '../../kinds/validation/field-error.ts'
import { trackUpdate } from '../apply/field-manager.ts'
import type { VerbResponse } from '../http/respond.ts'
import { auditLine } from '../server/context.ts'
import type { RequestContext } from '../server/context.ts'
import { decodeObjectOfKind } from '../http/decode-body.ts'
import { requireMatchingName, decodeAndDefault } from './receive-object.ts'
import { requireNamespace } from '../namespaces/system-namespaces.ts'
import { MAX_OBJECT_LENGTH, serializeObject, storeKey } from '../storage/stored-object.ts'
import type { WrittenObject } from '../storage/stored-object.ts'
import { writeOptions } from '../http/request-options.ts'
import type { WriteOptions } from '../http/request-options.ts'
import { presentStored } from '../http/present.ts'
import { commitCharged } from '../quota/charge-quota.ts'
import { alreadyExists, badRequest, methodNotAllowed } from '../http/api-errors.ts'
import { hasGeneration, isCustom } from '../server/registry.ts'
import { strategyOf } from '../strategies/strategy.ts'
import { versionConverter } from '../storage/converting-store.ts'

/** How often another suffix is tried when a generated name is taken. */
const GENERATE_TRIES = 8
const SUFFIX_LENGTH = 5
const MAX_GENERATED_PREFIX = 63 - SUFFIX_LENGTH

/** POST: creates an object. */
export async function create(context: RequestContext): Promise<VerbResponse> {
  const { kind, http, query, request } = context
  if (request.name !== undefined) throw methodNotAllowed()
  const options = writeOptions('CreateOptions', query, http)
  const { value, repeated } = decodeObjectOfKind(kind, http)
  const incoming = decodeAndDefault(kind, value, { repeated, validation: options.fieldValidation })
  requireMatchingName(context, incoming.object)
  if (incoming.object.metadata.resourceVersion) {
    throw badRequest('resourceVersion should not be set on objects to be created')
  }
  const { object, text, warnings } = await createObject(context, incoming.object, {
    ...options,
    track: (created) =>
      trackUpdate({
        kind,
        versions: versionConverter(context.parts.registry, kind),
        live: undefined,
        next: created,
        manager: options.fieldManager,
        now: context.parts.clock.now(),
      }),
  })
  return { status: 201, ...presentStored(context, object, text), warnings: [...incoming.warnings, ...warnings] }
}

/** How an object is created: by POST, or by an apply that found nothing. */
export interface CreateBy extends Pick<WriteOptions, 'dryRun'> {
  /** Records who owns which fields. */
  track(object: UnknownObject): void
}

/** Stores a new object that was received for this context's kind. */
export async function createObject(
  context: RequestContext,
  received: UnknownObject,
  by: CreateBy,
): Promise<WrittenObject> {
  const { kind, parts } = context
  await requireNamespace(context, received.metadata)
  if (kind.subresources.status) {
    if (strategyOf(kind).createsStatus !== true) delete received['status']
    // A built-in kind's status is there from the start, as empty as Go writes it.
    if (!isCustom(kind)) defaultObject(kind, received)
  }
  strategyOf(kind).prepare?.(received, undefined)
  for (let attempt = 1; ; attempt += 1) {
    const object = jsonClone(received)
    const generated = giveName(context, object)
    by.track(object)
    giveIdentity(context, object)
    const admission = { caller: context.caller, operation: 'CREATE', kind, oldObject: undefined } as const
    const asked = { ...admission, object, dryRun: by.dryRun }
    const changed = await parts.mutation(asked)
    strategyOf(kind).complete?.(object, undefined, context.caller)
    const errors = [...validateObject(kind, object), ...(strategyOf(kind).validate?.(object, undefined) ?? [])]
    if (errors.length > 0) throw invalidObject(kind, object.metadata.name ?? '', errors)
    const warnings = [...changed, ...(await parts.admission(asked))]
    const key = storeKey(kind, object.metadata)
    if (by.dryRun) {
      await parts.quota.charge(asked)
      if (await parts.store.get(key)) throw alreadyExists(kind, object.metadata.name)
      return { object, text: undefined, warnings }
    }
    const audit = auditLine(context, object, 'create')
    const value = serializeObject(object, MAX_OBJECT_LENGTH)
    const result = await commitCharged(parts.quota, asked, () => parts.store.commit({ key, expect: 0, value, audit }))
    if (result.ok) return { object, text: value.written(), warnings }
    if (!generated || attempt >= GENERATE_TRIES) throw alreadyExists(kind, object.metadata.name)
  }
}

/** Makes a name from generateName when there is none; true when it did. */
function giveName({ parts }: RequestContext, { metadata }: UnknownObject): boolean {
  if (metadata.name || !metadata.generateName) return false
  metadata.name = metadata.generateName.slice(0, MAX_GENERATED_PREFIX) + parts.ids.suffix(SUFFIX_LENGTH)
  return true
}

/** What only the server sets on a new object. */
function giveIdentity({ kind, parts }: RequestContext, { metadata }: UnknownObject): void {
  delete metadata.resourceVersion
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.generation
  metadata.uid = parts.ids.uid()
  metadata.creationTimestamp = formatTime(parts.clock.now())
  if (hasGeneration(kind)) metadata.generation = 1
}
