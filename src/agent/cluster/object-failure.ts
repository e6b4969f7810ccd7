/** Failures of an object, with the cluster's own words. */
import { ApiError, isApiError } from '../../core/errors.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { isSecret, redactSecretValues } from '../../kinds/redact-secret.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'

/** An object that cannot be written or read; the message goes into the bundle's report. */
export class ObjectFailure extends Error {
  override readonly name: string = 'ObjectFailure'
  readonly object: ObjectId

  constructor(object: ObjectId, message: string, options?: ErrorOptions) {
    super(message, options)
    this.object = object
  }
}

/**
 * The bundle's Project refuses a write or a lookup. A Project freezes and removes nothing, so an operation waits for
 * the Project, and no failure policy acts on the refusal.
 */
export class ProjectRefused extends ObjectFailure {
  override readonly name = 'ProjectRefused'
}

// The API's sentence: User "x" cannot patch resource "configmaps" in API group "" in the namespace "shop"
const DENIED =
  /User "(?<user>[^"]*)" cannot (?<verb>\S+) resource "(?<resource>[^"]*)" in API group "(?<group>[^"]*)"(?: in the namespace "(?<namespace>[^"]*)")?/

/** A denied call as one sentence with verb, resource and subject; undefined for other refusals. */
export function describeDenied(message: string): string | undefined {
  const found = DENIED.exec(message)?.groups
  if (!found) return undefined
  const resource = found['group'] ? `${found['resource']}.${found['group']}` : found['resource']
  const where = found['namespace'] ? ` in namespace ${found['namespace']}` : ''
  return `denied: ${found['user']} may not ${found['verb']} ${resource}${where}`
}

/** The cluster's refusal as the object's failure; errors that are not the object's fault stay what they are. */
export function toObjectFailure(id: ObjectId, caught: unknown): unknown {
  if (!(caught instanceof ApiError)) return caught
  // The cluster is overloaded or away.
  if (['ServiceUnavailable', 'TooManyRequests', 'Timeout', 'InternalError'].includes(caught.reason)) return caught
  const denied = caught.reason === 'Forbidden' ? describeDenied(caught.message) : undefined
  return new ObjectFailure(id, `${describeObject(id)}: ${denied ?? caught.message}`, { cause: caught })
}

const IMMUTABLE_MESSAGE =
  /immutable|may not be changed|cannot be changed|updates to .* are forbidden|Forbidden: updates to/i

/** True for a write that the cluster refused because a field is immutable. Only the message tells. */
export function isImmutable(caught: unknown): boolean {
  if (!isApiError(caught, 'Invalid')) return false
  return [caught.message, ...(caught.details.causes ?? []).map((cause) => cause.message)].some((text) =>
    IMMUTABLE_MESSAGE.test(text),
  )
}

/** The cluster may repeat a Secret's values in its message, which goes into reports and logs. */
export function redactFailure(caught: unknown, object: UnknownObject): unknown {
  if (!(caught instanceof ApiError) || !isSecret(object)) return caught
  const { causes: _causes, ...details } = caught.details
  return new ApiError(caught.reason, redactSecretValues(caught.message, object), details)
}
