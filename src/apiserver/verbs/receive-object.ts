import type { ApiError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { defaultObject, pruneObject } from '../../kinds/validation/validate-object.ts'
import { normalizeEmbedded } from '../../kinds/validation/embedded-objects.ts'
import { fieldErrorText } from '../../kinds/validation/field-error.ts'
import type { RequestContext } from '../server/context.ts'
import type { DuplicateKeys } from '../http/decode-body.ts'
import type { FieldValidation } from '../http/request-options.ts'
import { badRequest } from '../http/api-errors.ts'
import { isCustom } from '../server/registry.ts'

/** Objects that come from outside: shape, address, unknown fields, defaults. */

/** An object that is ready for the rules of its verb. */
export interface ReceivedObject {
  readonly object: UnknownObject
  readonly warnings: readonly string[]
}

/** What a body said that its kind does not know. */
export interface StrictDecoding {
  readonly repeated: DuplicateKeys
  readonly validation: FieldValidation
  /** Makes the refusal; its sentence differs between verbs. */
  refuse?(problem: string): ApiError
  /** Makes the refusal of fields that are not in the schema, whatever the validation; without it they are pruned. */
  refuseUnknown?(object: UnknownObject, paths: readonly string[]): ApiError
  /** False for configurations to apply: what the client did not say, it does not own. */
  readonly defaults?: boolean
}

/** Checks the shape of a body, drops unknown fields (saying so as asked) and fills in defaults. */
export function decodeAndDefault(kind: Kind, value: JsonObject, strictness: StrictDecoding): ReceivedObject {
  const object = requireObjectShape(kind, value)
  const embedded = normalizeEmbedded(object, kind.schema)
  if (embedded.wrong) throw cannotBeHandled(kind, fieldErrorText(embedded.wrong))
  const dropped = [...pruneObject(kind, object), ...embedded.dropped]
  if (dropped.length > 0 && strictness.refuseUnknown) throw strictness.refuseUnknown(object, dropped)
  const warnings = strictWarnings(kind, dropped, strictness)
  if (strictness.defaults !== false) defaultObject(kind, object)
  return { object, warnings }
}

/** The body as an object of its kind; apiVersion and kind must be right. */
function requireObjectShape(kind: Kind, value: JsonObject): UnknownObject {
  const apiVersion = apiVersionOf(kind)
  if (!isCustom(kind)) {
    // Built-in kinds are decoded into the type of the path, so a body without apiVersion and kind is complete.
    value['kind'] ??= kind.kind
    value['apiVersion'] ??= apiVersion
  }
  for (const field of ['kind', 'apiVersion'] as const) {
    if (typeof value[field] === 'string' && value[field] !== '') continue
    const shown = JSON.stringify(value).slice(0, 200)
    throw badRequest(`Object '${field === 'kind' ? 'Kind' : 'apiVersion'}' is missing in '${shown}'`)
  }
  if (value['kind'] !== kind.kind) {
    throw badRequest(
      `the kind in the data (${JSON.stringify(value['kind'])}) does not match the expected kind (${JSON.stringify(kind.kind)})`,
    )
  }
  if (value['apiVersion'] !== apiVersion) {
    throw badRequest(
      `the API version in the data (${String(value['apiVersion'])}) does not match the expected API version (${apiVersion})`,
    )
  }
  value['metadata'] ??= {}
  if (!isObject(value['metadata'])) throw badRequest('metadata must be an object')
  checkTexts(value['metadata'])
  return value as unknown as UnknownObject
}

function strictWarnings(kind: Kind, dropped: readonly string[], strictness: StrictDecoding): string[] {
  if (strictness.validation === 'Ignore') return []
  const { repeated } = strictness
  const { places } = repeated
  // Custom resources are read before they are pruned; for others both happen in one pass over the text.
  const offsetOf = isCustom(kind) ? () => Infinity : repeated.offsetOf
  const unknown = dropped.map((path) => ({
    text: `unknown field ${JSON.stringify(path)}`,
    offset: dropped.length + places.length > 1 ? offsetOf(path) : 0,
  }))
  const problems = [...unknown, ...places].sort((a, b) => (a.offset < b.offset ? -1 : a.offset > b.offset ? 1 : 0))
  const texts = problems.map(({ text }) => text)
  if (texts.length === 0 || strictness.validation === 'Warn') return texts
  const problem = `strict decoding error: ${strictDecodingMessage(repeated, texts)}`
  throw strictness.refuse?.(problem) ?? cannotBeHandled(kind, problem)
}

function cannotBeHandled({ kind, version }: Kind, problem: string): ApiError {
  return badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${problem}`)
}

/** The problems of a body as a refusal lists them. */
export function strictDecodingMessage({ preface, places }: DuplicateKeys, texts: readonly string[]): string {
  if (preface === undefined || places.length === 0) return texts.join(', ')
  const repeated = [preface, ...places.map(({ text }) => text)].join('\n  ')
  return [repeated, ...texts.slice(places.length)].join(', ')
}

// The rest of the server reads these before validation has looked at them.
function checkTexts(metadata: JsonObject): void {
  for (const field of ['name', 'namespace', 'generateName', 'uid', 'resourceVersion'] as const) {
    const value = metadata[field]
    if (value === null) delete metadata[field]
    else if (value !== undefined && typeof value !== 'string') {
      throw badRequest(`cannot read metadata.${field}: want a string, got ${JSON.stringify(value).slice(0, 100)}`)
    }
  }
  for (const field of ['labels', 'annotations'] as const) {
    const map = metadata[field]
    // Go reads null as the empty text.
    if (isObject(map)) for (const [key, value] of Object.entries(map)) if (value === null) map[key] = ''
    if (map === null) delete metadata[field]
    else if (map !== undefined && (!isObject(map) || Object.values(map).some((value) => typeof value !== 'string'))) {
      throw badRequest(`cannot read metadata.${field}: want a map of strings`)
    }
  }
  for (const field of ['finalizers', 'ownerReferences', 'managedFields'] as const) {
    const list = metadata[field]
    if (list === null) delete metadata[field]
    else if (list !== undefined && !Array.isArray(list)) throw badRequest(`cannot read metadata.${field}: want a list`)
  }
}

/** Gives the object the namespace and name of the path, or refuses when it says otherwise. */
export function requireMatchingName({ request, kind }: RequestContext, object: UnknownObject): void {
  const { metadata } = object
  if (kind.scope === 'Namespaced') {
    metadata.namespace ||= request.namespace ?? ''
    if (metadata.namespace !== (request.namespace ?? '')) {
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
    }
  }
  if (request.name === undefined) return
  metadata.name ||= request.name
  if (metadata.name !== request.name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${request.name})`)
  }
}
