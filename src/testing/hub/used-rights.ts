/** Which rights requests use, and which rights rules grant: for tests that compare the two in both directions. */
import { authorizationAttributes, requestInfo } from '../../apiserver/http/request-info.ts'
import type { HttpRequest } from '../../core/http.ts'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'

/** Rights such as `update bundles/status.flotilla.dev`. */
export interface UsedRights {
  readonly used: Set<string>
  /** Requests that were answered 403, with their right. */
  readonly denied: string[]
}

/** What a right ends with, for rights that a role grants in one namespace. */
type Scope = (resource: { readonly group: string; readonly namespace?: string }) => string

const everywhere: Scope = () => ''

/** A function that notes the right of a request and its answer. */
export function rightsNoter({ used, denied }: UsedRights, scope: Scope = everywhere) {
  return (request: HttpRequest, status: number): void => {
    const { verb, resource } = authorizationAttributes(requestInfo(request), request, { user: '', groups: [] })
    if (!resource) return void used.add(`${verb} ${request.path}`)
    const below = resource.subresource === undefined ? '' : `/${resource.subresource}`
    const object = `${resource.plural}${below}.${resource.group}${scope(resource)}`
    used.add(`${verb} ${object}`)
    // An apply that creates its object needs the right to create, too.
    if (verb === 'patch' && status === 201) used.add(`create ${object}`)
    if (status === 403) denied.push(`${verb} ${object} (${request.path})`)
  }
}

/** Each right of some rules, one by one. */
export function grantedRights(rules: readonly PolicyRule[], scope = ''): Set<string> {
  return new Set(
    rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}${scope}`)),
      ),
    ),
  )
}
