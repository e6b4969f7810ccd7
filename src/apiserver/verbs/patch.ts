import { compact } from '../../core/compact.ts'
import { ApiError, isApiError } from '../../core/errors.ts'
import { isObject, jsonClone } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { pruneObject } from '../../kinds/validation/validate-object.ts'
import { invalid, invalidObject } from '../../kinds/validation/field-error.ts'
import { applyObject, trackUpdate } from '../apply/field-manager.ts'
import { listProblems } from '../apply/list-problems.ts'
import type { VerbResponse } from '../http/respond.ts'
import { commitChange } from './commit-change.ts'
import type { ChangeResult } from './commit-change.ts'
import type { RequestContext } from '../server/context.ts'
import { contentTypeOf, decodeBody, decodeObject } from '../http/decode-body.ts'
import { requireMatchingName, decodeAndDefault, strictDecodingMessage } from './receive-object.ts'
import { readObject } from '../storage/stored-object.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { checkPreconditions, writeOptions } from '../http/request-options.ts'
import type { WriteOptions } from '../http/request-options.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import { applyMergePatch } from '../patch/merge-patch.ts'
import { applyStrategicMerge } from '../patch/strategic-merge.ts'
import { refuseInvalidLabels } from '../patch/invalid-labels.ts'
import { presentStored } from '../http/present.ts'
import { badRequest, conflict, methodNotAllowed, notFound } from '../http/api-errors.ts'
import { isCustom } from '../server/registry.ts'
import { createObject } from './create.ts'
import { objectVersion } from '../storage/resource-version.ts'
import { versionConverter } from '../storage/converting-store.ts'

/** How often a patch without a resourceVersion is tried again when others write at the same time. */
const TRIES = 20
const PATCHES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
]
/** The type of a configuration to apply. */
export const APPLY = 'application/apply-patch+yaml'

/** PATCH: changes an object by JSON patch, merge patch or strategic merge patch, or applies a configuration. */
export async function patch(context: RequestContext): Promise<VerbResponse> {
  const { http, query, request, kind } = context
  if (request.name === undefined) throw methodNotAllowed()
  const contentType = contentTypeOf(http)
  const supported = isCustom(kind) ? [...PATCHES.slice(0, 2), APPLY] : [...PATCHES, APPLY]
  if (!supported.includes(contentType)) {
    throw new ApiError(
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`,
    )
  }
  const options = writeOptions('PatchOptions', query, http)
  return contentType === APPLY ? apply(context, options) : change(context, options, contentType)
}

async function change(context: RequestContext, options: WriteOptions, contentType: string): Promise<VerbResponse> {
  const { http, kind, parts, request } = context
  if (options.force) {
    throw invalidObject({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
      { field: 'force', reason: 'FieldValueForbidden', message: 'Forbidden: may not be specified for non-apply patch' },
    ])
  }
  const { value, repeated } = decodeBody(http, contentType)
  for (let attempt = 1; ; attempt += 1) {
    const stored = await readCurrent(context)
    if (!stored) throw notFound(kind, request.name!)
    const patched = patchValue(context, contentType, stored.object, value)
    if (!isObject(patched)) throw badRequest('the patch does not leave an object')
    refuseInvalidLabels(kind, patched, { isStrategic: contentType === PATCHES[2], value })
    const { object, warnings } = decodeAndDefault(kind, patched, {
      repeated,
      validation: options.fieldValidation,
      refuse: (problem) =>
        invalidObject({ group: '', kind: '' }, '', [invalid('patch', JSON.stringify(value), problem)]),
    })
    requireMatchingName(context, object)
    const resourceVersion = objectVersion(parts.store, object.metadata.resourceVersion)
    if (resourceVersion && resourceVersion !== stored.object.metadata.resourceVersion)
      throw conflict(kind, request.name!)
    checkPreconditions(kind, stored.object, object.metadata.uid ? { uid: object.metadata.uid } : {})
    const result = await commitChange(context, {
      stored,
      next: object,
      dryRun: options.dryRun,
      track: (live, next) =>
        trackUpdate({
          kind,
          versions: versionConverter(parts.registry, kind),
          live,
          next,
          manager: options.fieldManager,
          subresource: request.subresource,
          now: parts.clock.now(),
        }),
    })
    if (!result.stale) {
      return {
        status: 200,
        ...presentStored(context, result.object, result.text),
        warnings: [...warnings, ...result.warnings],
      }
    }
    if (attempt >= TRIES) throw conflict(kind, request.name!)
  }
}

function patchValue({ kind }: RequestContext, contentType: string, current: UnknownObject, value: unknown): unknown {
  switch (contentType) {
    case 'application/json-patch+json':
      return applyJsonPatch(current, value)
    case 'application/strategic-merge-patch+json':
      return jsonClone(applyStrategicMerge(current, value, kind.schema))
    default:
      if (!isObject(value)) throw badRequest('a merge patch must be an object')
      return jsonClone(applyMergePatch(current, value))
  }
}

/** Who applies must say who it is. */
export function requireManager({ fieldManagerGiven }: WriteOptions): void {
  if (fieldManagerGiven) return
  throw invalidObject({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
    { field: 'fieldManager', reason: 'FieldValueRequired', message: 'Required value: is required for apply patch' },
  ])
}

/** Server-side apply; it creates what is not there. */
async function apply(context: RequestContext, options: WriteOptions): Promise<VerbResponse> {
  const { http, kind, request } = context
  requireManager(options)
  const { value, repeated } = decodeObject(http, APPLY)
  const incoming = decodeAndDefault(kind, value, {
    repeated,
    validation: options.fieldValidation,
    defaults: false,
    refuse: () =>
      badRequest(`error strict decoding YAML: error converting YAML to JSON: ${strictDecodingMessage(repeated, [])}`),
    refuseUnknown: (object, paths) =>
      untyped(
        kind,
        object,
        paths.map((path) => `.${path}: field not declared in schema`),
      ),
  })
  const problems = listProblems(kind, incoming.object)
  if (problems.length > 0) throw untyped(kind, incoming.object, problems)
  requireMatchingName(context, incoming.object)
  for (let attempt = 1; ; attempt += 1) {
    const stored = await readCurrent(context)
    const result = stored
      ? await applyTo(context, options, { stored, config: incoming.object })
      : await applyNew(context, options, incoming.object)
    if (!result.stale) {
      const warnings = [...incoming.warnings, ...result.warnings]
      return { status: stored ? 200 : 201, ...presentStored(context, result.object, result.text), warnings }
    }
    if (attempt >= TRIES) throw conflict(kind, request.name!)
  }
}

/**
 * A field outside the schema, or one of two equal list items, cannot be owned. Kubernetes answers with the same code.
 */
function untyped(kind: Kind, { metadata }: UnknownObject, problems: readonly string[]): ApiError {
  const type = `${kind.group}/${kind.version}, Kind=${kind.kind}`
  const list = problems.length === 1 ? problems[0] : ['errors:', ...problems].join('\n  ')
  const where = `${metadata.namespace ?? ''}/${metadata.name ?? ''}; ${type}`
  return new ApiError('InternalError', `failed to create typed patch object (${where}): ${list}`)
}

async function applyTo(
  context: RequestContext,
  options: WriteOptions,
  { stored, config }: { readonly stored: StoredObject; readonly config: UnknownObject },
): Promise<ChangeResult> {
  const { kind, request, parts } = context
  const { uid } = config.metadata
  const resourceVersion = objectVersion(parts.store, config.metadata.resourceVersion)
  if (resourceVersion && resourceVersion !== stored.object.metadata.resourceVersion) throw conflict(kind, request.name!)
  checkPreconditions(kind, stored.object, uid ? { uid } : {})
  const next = applyObject({
    kind,
    versions: versionConverter(parts.registry, kind),
    live: stored.object,
    config: jsonClone(config),
    manager: options.fieldManager,
    force: options.force,
    subresource: request.subresource,
    now: parts.clock.now(),
  })
  dropNulls(kind, next)
  return commitChange(context, { stored, next, dryRun: options.dryRun })
}

async function applyNew(context: RequestContext, options: WriteOptions, config: UnknownObject): Promise<ChangeResult> {
  const { kind, request, parts } = context
  if (request.subresource !== undefined || config.metadata.uid) throw notFound(kind, request.name!)
  const object = applyObject({
    kind,
    versions: versionConverter(parts.registry, kind),
    live: undefined,
    config: jsonClone(config),
    manager: options.fieldManager,
    force: options.force,
    now: parts.clock.now(),
  })
  dropNulls(kind, object)
  try {
    return { stale: false, ...(await createObject(context, object, { dryRun: options.dryRun, track: () => {} })) }
  } catch (error) {
    // Another caller created the object meanwhile: apply to the existing object.
    if (isApiError(error, 'AlreadyExists')) return { stale: true }
    throw error
  }
}

/**
 * Removing the last item of a list leaves null; Go's structs are stored without, in other kinds validation refuses it.
 */
function dropNulls(kind: Kind, object: UnknownObject): void {
  if (!isCustom(kind)) pruneObject(kind, object)
}

function readCurrent({ parts, kind, request }: RequestContext): Promise<StoredObject | undefined> {
  const key = compact({ name: request.name!, namespace: request.namespace || undefined })
  return readObject(parts.store, kind, key)
}
