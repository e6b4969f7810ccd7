import { compact } from '../../core/compact.ts'
import { ApiError } from '../../core/errors.ts'
import type { ApiCause } from '../../core/errors.ts'
import { isObject, jsonClone } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { selectorText } from '../../core/text/label-selector.ts'
import type { Labels } from '../../core/text/label-selector.ts'
import { kindOf } from '../../kinds/define-kind.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { ManagedFieldsEntry, UnknownObject } from '../../kinds/meta.ts'
import { invalid, invalidObject } from '../../kinds/validation/field-error.ts'
import { applyObject, trackUpdate } from '../apply/field-manager.ts'
import { ownersAfterScale, ownersOfScale } from '../apply/scale-owners.ts'
import type { ReplicasAt } from '../apply/scale-owners.ts'
import type { VerbResponse } from '../http/respond.ts'
import { commitChange } from './commit-change.ts'
import type { RequestContext } from '../server/context.ts'
import { contentTypeOf, decodeBody, decodeObject } from '../http/decode-body.ts'
import { readObject } from '../storage/stored-object.ts'
import { checkPreconditions, writeOptions } from '../http/request-options.ts'
import type { WriteOptions } from '../http/request-options.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import { applyMergePatch } from '../patch/merge-patch.ts'
import { badRequest, conflict, methodNotAllowed, notFound } from '../http/api-errors.ts'
import { isCustom } from '../server/registry.ts'
import { versionConverter } from '../storage/converting-store.ts'
import { APPLY, requireManager } from './patch.ts'

const TRIES = 20

/** What a Scale looks like to who writes it. */
const SCALE: Kind = {
  ...kindOf({
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    plural: 'scales',
    scope: 'Namespaced',
    description: 'How many of something there are, and should be.',
    fields: {
      spec: { type: 'object', properties: { replicas: { type: 'integer', format: 'int32' } } },
      status: {
        type: 'object',
        properties: { replicas: { type: 'integer', format: 'int32' }, selector: { type: 'string' } },
      },
    },
  }),
  blank: { spec: {}, status: { replicas: 0 } },
}

/** GET, PUT and PATCH of the scale subresource: replicas of any kind in the words of autoscaling/v1. */
export async function scale(context: RequestContext): Promise<VerbResponse> {
  const { kind, http, query, request, parts } = context
  const { verb, name, namespace } = request
  if (name === undefined || (verb !== 'get' && verb !== 'update' && verb !== 'patch')) throw methodNotAllowed()
  const key = compact({ name, namespace: namespace || undefined })
  const options = writeOptions(verb === 'patch' ? 'PatchOptions' : 'UpdateOptions', query, http)
  const at = replicasAt(context)
  for (let attempt = 1; ; attempt += 1) {
    const stored = await readObject(parts.store, kind, key)
    if (!stored) throw notFound(kind, name)
    const current = scaleOf(context, stored.object)
    if (verb === 'get') {
      const { specReplicasPath } = kind.subresources.scale!
      const isSaid = numberAt(stored.object, specReplicasPath) !== undefined
      if (!isSaid && isCustom(kind)) throw noReplicas(specReplicasPath)
      return { status: 200, object: current }
    }
    const before = asObject(current, ownersOfScale(stored.object.metadata.managedFields, at))
    const after = scaled(context, before, options)
    const replicas = replicasOf(after, name)
    const { uid, resourceVersion } = after.metadata
    if (uid) checkPreconditions(kind, stored.object, { uid })
    if (resourceVersion && resourceVersion !== stored.object.metadata.resourceVersion) throw conflict(kind, name)
    const next = jsonClone(stored.object)
    setAt(next, pathOf(kind.subresources.scale!.specReplicasPath), replicas)
    const { managedFields } = next.metadata
    const owners = ownersAfterScale(managedFields, after.metadata.managedFields, { at, apiVersion: apiVersionOf(kind) })
    if (owners.length > 0) next.metadata.managedFields = owners
    else delete next.metadata.managedFields
    const result = await commitChange(context, { stored, next, dryRun: options.dryRun })
    if (!result.stale) return { status: 200, object: scaleOf(context, result.object), warnings: result.warnings }
    if (attempt >= TRIES) throw conflict(kind, name)
  }
}

/** Where each version of the kind has its replicas. */
function replicasAt({ kind, parts }: RequestContext): ReplicasAt {
  const versions = versionConverter(parts.registry, kind)
  return (apiVersion) => {
    const path = versions(apiVersion)?.kind.subresources.scale?.specReplicasPath
    return path === undefined ? undefined : pathOf(path).map((field) => `f:${field}` as const)
  }
}

function asObject(scale: JsonObject, managedFields: ManagedFieldsEntry[]): UnknownObject {
  const object = jsonClone(scale) as unknown as UnknownObject
  if (managedFields.length > 0) object.metadata.managedFields = managedFields
  return object
}

/** The Scale as a request leaves it, with its owners. */
function scaled(context: RequestContext, before: UnknownObject, options: WriteOptions): UnknownObject {
  const { http, request, parts } = context
  const contentType = contentTypeOf(http)
  const by = { kind: SCALE, manager: options.fieldManager, subresource: 'scale', now: parts.clock.now() }
  if (request.verb === 'patch' && contentType === APPLY) {
    requireManager(options)
    const config = { metadata: {}, ...decodeObject(http, APPLY).value } as unknown as UnknownObject
    return applyObject({ ...by, live: before, config, force: options.force })
  }
  const wanted = request.verb === 'update' ? decodeObject(http).value : patched(context, before)
  const next = {
    ...wanted,
    metadata: isObject(wanted['metadata']) ? wanted['metadata'] : {},
  } as unknown as UnknownObject
  // None is as good as absent to Go.
  next['spec'] = replicasOf(next, request.name!) === 0 ? {} : wanted['spec']
  trackUpdate({ ...by, live: before, next })
  return next
}

function patched({ http }: RequestContext, current: UnknownObject): JsonObject {
  const contentType = contentTypeOf(http)
  const { value } = decodeBody(http, contentType)
  if (contentType === 'application/json-patch+json') {
    const result = applyJsonPatch(current, value)
    if (!isObject(result)) throw badRequest('the patch does not leave an object')
    return result
  }
  // A Scale has no list, so merging it strategically is merging it.
  if (!isObject(value)) throw badRequest('a merge patch must be an object')
  return jsonClone(applyMergePatch(current as unknown as JsonObject, value)) as JsonObject
}

function replicasOf(wanted: UnknownObject, name: string): number {
  const spec = isObject(wanted['spec']) ? wanted['spec'] : {}
  const replicas = spec['replicas'] ?? 0
  if (typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0 && replicas < 2 ** 31) return replicas
  const error = invalid('spec.replicas', replicas, 'must be greater than or equal to 0')
  throw invalidObject({ group: 'autoscaling', kind: 'Scale' }, name, [error])
}

/** An object as its Scale. */
function scaleOf({ kind }: RequestContext, object: UnknownObject): JsonObject {
  const paths = kind.subresources.scale!
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const replicas = numberAt(object, paths.specReplicasPath)
  const selector = selectorOf(object, paths.labelSelectorPath)
  return jsonClone({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas ? { replicas } : {},
    status: compact({
      replicas: numberAt(object, paths.statusReplicasPath) ?? 0,
      selector,
    }),
  })
}

function noReplicas(path: string): ApiError {
  const message = `the spec replicas field ${JSON.stringify(path)} does not exist`
  return new ApiError('InternalError', `Internal error occurred: ${message}`, { causes: [{ message } as ApiCause] })
}

/** The selector as text: custom kinds keep it as text, built-in kinds have it in their spec. */
function selectorOf(object: UnknownObject, path: string | undefined): string | undefined {
  const text = path === undefined ? undefined : valueAt(object, pathOf(path))
  if (typeof text === 'string') return text
  const spec = isObject(object['spec']) ? object['spec'] : {}
  if (!isObject(spec['selector'])) return undefined
  // A replication controller's is a plain map of labels.
  if (object.kind === 'ReplicationController') return selectorText({ matchLabels: spec['selector'] as Labels })
  return selectorText(spec['selector'])
}

function pathOf(jsonPath: string): string[] {
  return jsonPath.split('.').filter((part) => part !== '')
}

function numberAt(object: UnknownObject, jsonPath: string): number | undefined {
  const value = valueAt(object, pathOf(jsonPath))
  return typeof value === 'number' ? value : undefined
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  let at: unknown = object
  for (const part of path) at = isObject(at) ? at[part] : undefined
  return at
}

function setAt(object: JsonObject, path: readonly string[], value: number): void {
  let at = object
  for (const part of path.slice(0, -1)) {
    if (!isObject(at[part])) at[part] = {}
    at = at[part] as JsonObject
  }
  at[path.at(-1)!] = value
}
