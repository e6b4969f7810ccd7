/** The shape of a route, and how a request finds its route. */
import type { Caller, HttpRequest, HttpResponse } from '../../core/http.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { ROUTES } from '../../wire/link/frames.ts'
import type { RequestClass } from '../../wire/link/load-shedding.ts'

/** A request whose path has been taken apart. */
export interface GatewayRequest {
  readonly method: string
  readonly path: string
  /** The path below a route that ends with a slash: the digest of `/agent/v1/blob/sha256:…`. */
  readonly name: string
  readonly parameters: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly caller: Caller
  readonly signal: AbortSignal
}

type Answer = HttpResponse | Promise<HttpResponse>

/** A route for every caller. It also answers while the gateway starts. */
export interface PublicRoute {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly caller: 'Anyone'
  /** What a request takes from the share of callers without a certificate. */
  readonly cost: number
  readonly handle: (request: GatewayRequest) => Answer
}

/**
 * A route whose body is signed by the identity key of a cluster; good without a client certificate. Its handler sheds
 * load, after it has verified the signature.
 */
export interface SignedRoute {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly caller: 'IdentityKey'
  readonly handle: (request: GatewayRequest) => Answer
}

/** A route for clusters that a client certificate has proven. */
export interface ClusterRoute {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly caller: 'Cluster'
  readonly class: RequestClass
  readonly handle: (cluster: Cluster, request: GatewayRequest) => Answer
  /** The answer for a decommissioned cluster that has not yet read its last document. Absent: refused. */
  readonly handleDecommissioned?: (cluster: Cluster, request: GatewayRequest) => Answer
}

export type Route = PublicRoute | SignedRoute | ClusterRoute

/**
 * A row for each path of the wire. A path of `ROUTES` without a row does not compile.
 *
 *     trust: { method: 'GET', path: ROUTES.trust, caller: 'Anyone', handle: trust },
 */
export type RouteTable = { readonly [name in keyof typeof ROUTES]: Route & { readonly path: (typeof ROUTES)[name] } }

/** The route of a request, or undefined. A path that ends with a slash matches everything below it. */
export function findRoute(table: RouteTable, method: string, path: string): Route | undefined {
  return Object.values(table).find(
    (route) =>
      route.method === method && (route.path.endsWith('/') ? path.startsWith(route.path) : path === route.path),
  )
}

export function parseRequest(request: HttpRequest, caller: Caller, signal: AbortSignal): GatewayRequest {
  const [path = '', query = ''] = request.path.split('?', 2)
  const prefix = Object.values(ROUTES).find((route) => route.endsWith('/') && path.startsWith(route))
  return {
    method: request.method,
    path,
    name: prefix === undefined ? '' : path.slice(prefix.length),
    parameters: new URLSearchParams(query),
    headers: request.headers,
    body: request.body ?? new Uint8Array(),
    caller,
    signal,
  }
}
