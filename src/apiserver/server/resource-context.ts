import type { Caller, HttpRequest } from '../../core/http.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { Store } from '../../store/store.ts'
import type { RequestContext, ServerParts } from './context.ts'
import { refuseTerminating } from '../custom-kinds/serve-custom-kinds.ts'
import { negotiate } from '../http/negotiate.ts'
import { methodNotAllowed, pathNotFound } from '../http/api-errors.ts'
import type { RequestInfo, ResourceRequest } from '../http/request-info.ts'
import { isNamedWrite, isProjected } from './projections.ts'
import { verbsOf } from './registry.ts'
import { servesSubresource } from './subresources.ts'

/** What a server serves its kinds from. */
export interface ServedKinds {
  readonly parts: ServerParts
  storeOf(kind: Kind): Store
  readonly closing: AbortSignal
}

/** An authorized request for objects. */
export interface AuthorizedRequest {
  readonly http: HttpRequest
  readonly caller: Caller
  readonly info: RequestInfo
  readonly resource: ResourceRequest
  readonly signal: AbortSignal
}

/**
 * The context of a request; refuses kinds, verbs and subresources that are not served, and addresses of another scope.
 */
export function createRequestContext(
  { parts, storeOf, closing }: ServedKinds,
  asked: AuthorizedRequest,
): RequestContext {
  const { http, caller, info, resource, signal } = asked
  const { registry } = parts
  const { group, version, plural, subresource, namespace, name, verb } = resource
  const kind = registry.find(group, version, plural)
  if (!kind) throw pathNotFound()
  if (subresource !== undefined && !servesSubresource(kind, subresource)) throw pathNotFound()
  if (kind.verbs && !kind.verbs.includes('get') && name !== undefined) throw pathNotFound()
  const store = storeOf(kind)
  const isServed = verbsOf(kind).includes(verb) || (isProjected(store) && isNamedWrite(resource))
  if (subresource === undefined && !isServed) throw methodNotAllowed()
  if (verb === 'create' && subresource === undefined) refuseTerminating(kind)
  // Namespaced objects are addressed in their namespace, others without one; only reads may span namespaces.
  if (kind.scope === 'Cluster' && namespace !== undefined) throw pathNotFound()
  const isRead = verb === 'list' || verb === 'watch'
  if (kind.scope === 'Namespaced' && namespace === undefined && (name !== undefined || !isRead)) {
    throw name === undefined ? methodNotAllowed() : pathNotFound()
  }
  return {
    parts: store === parts.store ? parts : { ...parts, store },
    http,
    caller,
    signal,
    endsWith: [closing, registry.lifeOf(kind) ?? closing],
    query: info.query,
    request: resource,
    kind,
    accept: negotiate(http, info.query),
  }
}
