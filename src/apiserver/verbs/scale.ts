import { isObject, jsonClone } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { selectorText } from '../../core/selector.ts'
import type { Labels } from '../../core/selector.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { invalid, invalidObject } from '../../kinds/walk/field-error.ts'
import { trackUpdate } from '../apply/field-manager.ts'
import type { Answer } from '../answer.ts'
import { commitChange } from '../change.ts'
import type { Context } from '../context.ts'
import { contentTypeOf, decodeBody, decodeObject } from '../decode.ts'
import { readObject } from '../objects.ts'
import { checkPreconditions, writeOptions } from '../options.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import { applyMergePatch } from '../patch/merge-patch.ts'
import { badRequest, conflict, methodNotAllowed, notFound } from '../refusals.ts'
import { versionsOf } from '../view-store.ts'

const TRIES = 20

/** GET, PUT and PATCH of the scale subresource: replicas of any kind in the words of autoscaling/v1. */
export async function scale(context: Context): Promise<Answer> {
  const { kind, http, query, request, parts } = context
  const { verb, name, namespace } = request
  if (name === undefined || (verb !== 'get' && verb !== 'update' && verb !== 'patch')) throw methodNotAllowed()
  const key = { name, ...(namespace ? { namespace } : {}) }
  const options = writeOptions(verb === 'patch' ? 'PatchOptions' : 'UpdateOptions', query, http)
  for (let attempt = 1; ; attempt += 1) {
    const stored = await readObject(parts.store, kind, key)
    if (!stored) throw notFound(kind, name)
    const current = scaleOf(context, stored.object)
    if (verb === 'get') return { status: 200, object: current }
    const wanted = verb === 'update' ? decodeObject(http).value : patched(context, current)
    const replicas = replicasOf(wanted, name)
    const metadata = isObject(wanted['metadata']) ? wanted['metadata'] : {}
    const { uid, resourceVersion } = metadata
    if (typeof uid === 'string' && uid !== '') checkPreconditions(kind, stored.object, { uid })
    if (resourceVersion && resourceVersion !== stored.object.metadata.resourceVersion) throw conflict(kind, name)
    const next = jsonClone(stored.object)
    setAt(next, pathOf(kind.subresources.scale!.specReplicasPath), replicas)
    const result = await commitChange(context, {
      stored,
      next,
      dryRun: options.dryRun,
      track: (live, changed) =>
        trackUpdate({
          kind,
          versions: versionsOf(parts.registry, kind),
          live,
          next: changed,
          manager: options.fieldManager,
          subresource: 'scale',
          now: parts.clock.now(),
        }),
    })
    if (!result.stale) return { status: 200, object: scaleOf(context, result.object), warnings: result.warnings }
    if (attempt >= TRIES) throw conflict(kind, name)
  }
}

function patched({ http }: Context, current: JsonObject): JsonObject {
  const contentType = contentTypeOf(http)
  const { value } = decodeBody(http, contentType)
  if (contentType === 'application/json-patch+json') {
    const result = applyJsonPatch(current, value)
    if (!isObject(result)) throw badRequest('the patch does not leave an object')
    return result
  }
  // A Scale has no list, so merging it strategically, or applying it, is merging it.
  if (!isObject(value)) throw badRequest('a merge patch must be an object')
  return jsonClone(applyMergePatch(current, value)) as JsonObject
}

function replicasOf(wanted: JsonObject, name: string): number {
  const spec = isObject(wanted['spec']) ? wanted['spec'] : {}
  const replicas = spec['replicas'] ?? 0
  if (typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0 && replicas < 2 ** 31) return replicas
  const error = invalid('spec.replicas', replicas, 'must be greater than or equal to 0')
  throw invalidObject({ group: 'autoscaling', kind: 'Scale' }, name, [error])
}

/** An object as its Scale. */
function scaleOf({ kind }: Context, object: UnknownObject): JsonObject {
  const paths = kind.subresources.scale!
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const replicas = numberAt(object, paths.specReplicasPath)
  const selector = selectorOf(object, paths.labelSelectorPath)
  return jsonClone({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas ? { replicas } : {},
    status: {
      replicas: numberAt(object, paths.statusReplicasPath) ?? 0,
      ...(selector === undefined ? {} : { selector }),
    },
  })
}

/** The selector as text: custom kinds keep it as such, built-in ones have it in their spec. */
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
