import { compact } from '../../core/compact.ts'
import { parseDuration } from '../../core/time/duration.ts'
import type { Caller, HttpRequest } from '../../core/http.ts'
import { badRequest, methodNotAllowed } from './api-errors.ts'
import type { AuthorizationAttributes } from './api-errors.ts'

/** What a request asks for, read from its method and path alone. */

/** The verbs of resources, as authorizers know them. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** A request for a resource. */
export interface ResourceRequest {
  readonly verb: Verb
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
}

/** A request, taken apart. */
export interface RequestInfo {
  readonly path: string
  readonly query: URLSearchParams
  /** Segments of the path, decoded. */
  readonly segments: readonly string[]
  readonly resource?: ResourceRequest
}

/** Takes a request apart; a path that cannot be decoded is a 400. */
export function requestInfo(request: HttpRequest): RequestInfo {
  const mark = request.path.indexOf('?')
  const path = mark < 0 ? request.path : request.path.slice(0, mark)
  const query = new URLSearchParams(mark < 0 ? '' : request.path.slice(mark + 1))
  const segments = path
    .split('/')
    .filter((segment) => segment !== '')
    .map(decode)
  const rest = resourceSegments(segments)
  if (!rest) return { path, query, segments }
  return { path, query, segments, resource: resourceOf(request.method, query, rest) }
}

/** A request as authorizers see it: reading one object by a field selector is about that object. */
export function authorizationAttributes(
  { resource, path, query }: RequestInfo,
  { method }: HttpRequest,
  caller: Caller,
): AuthorizationAttributes {
  if (!resource) return { caller, verb: method.toLowerCase().replace('head', 'get'), path }
  const isMany = ['list', 'watch', 'deletecollection'].includes(resource.verb)
  const selected = isMany ? /^metadata\.name==?([^,=!]+)$/.exec(query.get('fieldSelector') ?? '')?.[1] : undefined
  const name = resource.name ?? selected
  // A namespace is in itself, so that a role inside it can be about it.
  const isNamespace = resource.group === '' && resource.plural === 'namespaces'
  const namespace = isNamespace ? resource.name : resource.namespace
  return {
    caller,
    verb: resource.verb,
    path,
    resource: compact({
      ...resource,
      namespace,
      name,
    }),
  }
}

/**
 * Refuses a time that is none; how long a request may take is the server's own business. Watches have their own
 * parameter.
 */
export function checkTimeout({ resource, query }: RequestInfo): void {
  const timeout = query.get('timeout')
  if (!timeout || resource?.verb === 'watch' || parseDuration(timeout) !== undefined) return
  const what = /^[+-]?[\d.]+$/.test(timeout) ? 'missing unit in duration' : 'invalid duration'
  throw badRequest(`invalid timeout specified in the request URL - time: ${what} ${JSON.stringify(timeout)}`)
}

interface Rest {
  readonly group: string
  readonly version: string
  readonly segments: readonly string[]
}

function resourceSegments(segments: readonly string[]): Rest | undefined {
  if (segments[0] === 'api' && segments.length > 2) {
    return { group: '', version: segments[1]!, segments: segments.slice(2) }
  }
  if (segments[0] === 'apis' && segments.length > 3) {
    return { group: segments[1]!, version: segments[2]!, segments: segments.slice(3) }
  }
  return undefined
}

function resourceOf(method: string, query: URLSearchParams, rest: Rest): ResourceRequest {
  // `/watch/` before the resource is the old form of `?watch=true`.
  const oldWatch = rest.segments[0] === 'watch' && rest.segments.length > 1
  const segments = oldWatch ? rest.segments.slice(1) : rest.segments
  const inNamespace = segments[0] === 'namespaces' && segments.length > 2 && !isNamespaceSubresource(segments[2]!)
  const [plural, name, ...below] = inNamespace ? segments.slice(2) : segments
  const subresource = below.length > 0 ? below.join('/') : undefined
  const watching = oldWatch || isTrue(query.get('watch'))
  return compact({
    verb: verbOf(method, name !== undefined, watching),
    group: rest.group,
    version: rest.version,
    plural: plural!,
    namespace: inNamespace ? segments[1]! : undefined,
    name,
    subresource,
  })
}

function isNamespaceSubresource(segment: string): boolean {
  return segment === 'status' || segment === 'finalize'
}

function verbOf(method: string, named: boolean, watching: boolean): Verb {
  switch (method) {
    case 'GET':
    case 'HEAD':
      return watching ? 'watch' : named ? 'get' : 'list'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return named ? 'delete' : 'deletecollection'
    default:
      throw methodNotAllowed()
  }
}

/** Go's reading of a boolean parameter; a parameter without a value is true, as Kubernetes has it. */
export function isTrue(value: string | null): boolean {
  if (value === null) return false
  return !['0', 'f', 'false', 'no'].includes(value.toLowerCase())
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw badRequest(`the path has a malformed escape: ${JSON.stringify(segment)}`)
  }
}
