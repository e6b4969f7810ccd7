import { ApiError } from '../../core/errors.ts'
import type { Caller } from '../../core/http.ts'
import type { ResourceType } from '../../kinds/meta.ts'

/** The refusals of a Kubernetes API in its own sentences; people's scripts compare them. */

type Named = Pick<ResourceType, 'group' | 'plural'>

/** `bundles.flotilla.dev`, or `configmaps` for the core group. */
export function qualifiedResource(type: Named): string {
  return type.group === '' ? type.plural : `${type.plural}.${type.group}`
}

function detailsOf(type: Named, name: string) {
  return { name, group: type.group, kind: type.plural }
}

/** 404 for an object. */
export function notFound(type: Named, name: string): ApiError {
  return new ApiError('NotFound', `${qualifiedResource(type)} ${quote(name)} not found`, detailsOf(type, name))
}

/** 404 for a path. */
export function pathNotFound(): ApiError {
  return new ApiError('NotFound', 'the server could not find the requested resource')
}

/** 409 for a name that is taken. */
export function alreadyExists(type: Named, name: string): ApiError {
  const message = `${qualifiedResource(type)} ${quote(name)} already exists`
  return new ApiError('AlreadyExists', message, detailsOf(type, name))
}

/** 409 with the sentence clients look for. */
export function conflict(type: Named, name: string, why = MODIFIED): ApiError {
  const message = `Operation cannot be fulfilled on ${qualifiedResource(type)} ${quote(name)}: ${why}`
  return new ApiError('Conflict', message, detailsOf(type, name))
}

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

/** 400. */
export function badRequest(message: string): ApiError {
  return new ApiError('BadRequest', message)
}

/** 405. */
export function methodNotAllowed(
  message = 'the server does not allow this method on the requested resource',
): ApiError {
  return new ApiError('MethodNotAllowed', message)
}

/** 403 for an object, with the reason. */
export function forbidden(type: Named, name: string, why: string): ApiError {
  const object = name === '' ? qualifiedResource(type) : `${qualifiedResource(type)} ${quote(name)}`
  return new ApiError('Forbidden', `${object} is forbidden: ${why}`, detailsOf(type, name))
}

/** The attempted action, in the terms of an authorizer. */
export interface AuthorizationAttributes {
  readonly caller: Caller
  readonly verb: string
  readonly resource?: {
    readonly group: string
    readonly plural: string
    readonly subresource?: string | undefined
    readonly namespace?: string | undefined
    readonly name?: string | undefined
  }
  /** Path of a non-resource request, for example /version. */
  readonly path: string
}

/** The sentence of an authorizer's no. */
export function forbiddenForCaller(
  { caller, verb, resource, path }: AuthorizationAttributes,
  reason?: string,
): ApiError {
  const because = reason ? `: ${reason}` : ''
  if (!resource) {
    const why = `User ${quote(caller.user)} cannot ${verb} path ${quote(path)}`
    return new ApiError('Forbidden', `forbidden: ${why}${because}`)
  }
  const { group, plural, subresource, namespace, name = '' } = resource
  const what = subresource ? `${plural}/${subresource}` : plural
  const where = namespace ? `in the namespace ${quote(namespace)}` : 'at the cluster scope'
  const why = `User ${quote(caller.user)} cannot ${verb} resource ${quote(what)} in API group ${quote(group)} ${where}`
  return forbidden({ group, plural }, name, why + because)
}

function quote(text: string): string {
  return JSON.stringify(text)
}
