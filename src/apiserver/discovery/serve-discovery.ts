import { hex, sha256, utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { ApiError } from '../../core/errors.ts'
import { bytesBody } from '../../core/http.ts'
import type { HttpRequest, HttpResponse } from '../../core/http.ts'
import { responseHeaders, respond, respondText } from '../http/respond.ts'
import { negotiate, parseAccept } from '../http/negotiate.ts'
import { methodNotAllowed, pathNotFound } from '../http/api-errors.ts'
import type { Registry } from '../server/registry.ts'
import type { RequestInfo } from '../http/request-info.ts'
import { AGGREGATED_VERSIONS, aggregatedDiscovery } from './aggregated.ts'
import type { OpenApi } from './openapi.ts'
import { SWAGGER_PROTOBUF } from './swagger-protobuf.ts'
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './plain.ts'

/** Non-resource paths: discovery, OpenAPI, version, health. */

/** Checks of /readyz besides `ping`: the stored objects, and the other parts of the process. */
type ReadinessCheck = 'store' | 'parts'

/** What the server says about itself. */
export interface ServerInfo {
  readonly registry: Registry
  readonly openApi: OpenApi
  /** The answer of /version. */
  readonly version: object
  /** Why a check of /readyz fails; undefined when it passes. */
  readonly problems: Readonly<Record<ReadinessCheck, () => string | undefined>>
  /** Discovery document and keys of the service account issuer. Absent when no tokens are issued. */
  readonly issuer: { readonly configuration: object; readonly keys: object } | undefined
}

/** Answers a request to a non-resource path. */
export function serveDiscovery(about: ServerInfo, request: HttpRequest, info: RequestInfo): HttpResponse {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
  const [first, second, third] = info.segments
  switch (first) {
    case undefined:
      return respond({ status: 200, object: { paths: rootPaths(about.registry) } })
    case 'healthz':
    case 'livez':
    case 'readyz':
      return health(about, info)
    case 'metrics':
      if (third !== undefined || (second !== undefined && second !== 'slis')) throw pathNotFound()
      return respondText(200, second === undefined ? metricsText(about) : healthMetrics(about))
    case 'version':
      return plain(request, info, about.version)
    case 'api':
      if (second === undefined) return discovery(about, request, info, true)
      return plain(request, info, apiResourceList(about.registry, '', second))
    case 'apis':
      if (second === undefined) return discovery(about, request, info, false)
      if (third === undefined) return plain(request, info, apiGroup(about.registry, second))
      return plain(request, info, apiResourceList(about.registry, second, third))
    case 'openapi':
      return openApi(about, request, info)
    case '.well-known':
      if (second !== 'openid-configuration' || third !== undefined) throw pathNotFound()
      return issuerText(about.issuer?.configuration, 'application/json')
    case 'openid':
      if (second !== 'v1' || third !== 'jwks' || info.segments.length > 3) throw pathNotFound()
      return issuerText(about.issuer?.keys, 'application/jwk-set+json')
    default:
      throw pathNotFound()
  }
}

function plain(request: HttpRequest, info: RequestInfo, object: object | undefined): HttpResponse {
  if (!object) throw pathNotFound()
  return respond({ status: 200, object }, negotiate(request, info.query))
}

function discovery(about: ServerInfo, request: HttpRequest, info: RequestInfo, isCore: boolean): HttpResponse {
  for (const { parameters } of parseAccept(request.headers['accept'] ?? '')) {
    const version = AGGREGATED_VERSIONS.find((known) => known === parameters['v'])
    const wanted = parameters['g'] === 'apidiscovery.k8s.io' && parameters['as'] === 'APIGroupDiscoveryList'
    if (!wanted || !version) continue
    const text = JSON.stringify(aggregatedDiscovery(about.registry, version, isCore))
    const contentType = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
    return cacheable(request, text, { 'content-type': contentType, vary: 'Accept', 'cache-control': 'public' })
  }
  return plain(request, info, isCore ? apiVersions(about.registry) : apiGroupList(about.registry))
}

function openApi(about: ServerInfo, request: HttpRequest, info: RequestInfo): HttpResponse {
  const [, version, ...rest] = info.segments
  if (version === 'v2' && rest.length === 0) {
    const accepted = parseAccept(request.headers['accept'] ?? '').map(({ type }) => type)
    if (accepted.some((type) => ['application/json', '*/*', 'application/*'].includes(type))) {
      return cacheable(request, JSON.stringify(about.openApi.swagger()), { 'content-type': 'application/json' })
    }
    const protobuf = accepted.find((type) => type.startsWith(PROTOBUF_NAME) && type.endsWith('+protobuf'))
    if (protobuf !== undefined)
      return cacheable(request, about.openApi.protobuf(), { 'content-type': SWAGGER_PROTOBUF })
    const all = `application/json, ${SWAGGER_PROTOBUF}`
    throw new ApiError('NotAcceptable', `only the following media types are accepted: ${all}`)
  }
  if (version !== 'v3') throw pathNotFound()
  if (rest.length === 0) {
    return cacheable(request, JSON.stringify(about.openApi.index()), { 'content-type': 'application/json' })
  }
  const found = about.openApi.document(rest.join('/'))
  if (!found) throw pathNotFound()
  // Under its hash a document never changes, so that clients keep it for ever.
  const isHashed = info.query.get('hash') === found.hash
  return cacheable(
    request,
    JSON.stringify(found.document),
    compact({
      'content-type': 'application/json',
      'cache-control': isHashed ? 'public, immutable' : undefined,
    }),
  )
}

// Older clients write its version with an `@`.
const PROTOBUF_NAME = 'application/com.github.proto-openapi.spec.v2'

function cacheable(
  request: HttpRequest,
  text: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
): HttpResponse {
  const etag = `"${hex(sha256(text)).toUpperCase()}"`
  const all = { ...responseHeaders(headers['content-type']!), ...headers, etag }
  if (request.headers['if-none-match'] === etag) return { status: 304, headers: all, body: bytesBody(new Uint8Array()) }
  return { status: 200, headers: all, body: bytesBody(typeof text === 'string' ? utf8(text) : text) }
}

function issuerText(object: object | undefined, contentType: string): HttpResponse {
  if (!object) throw pathNotFound()
  const headers = { ...responseHeaders(contentType), 'cache-control': 'public, max-age=3600' }
  return { status: 200, headers, body: bytesBody(utf8(JSON.stringify(object))) }
}

/** What this server knows about itself; a hub's own figures are on its metrics page. */
function metricsText({ registry, version }: ServerInfo): string {
  const { gitVersion } = version as { readonly gitVersion: string }
  return [
    '# HELP flotilla_api_info The version whose behaviour is served.',
    '# TYPE flotilla_api_info gauge',
    `flotilla_api_info{version=${JSON.stringify(gitVersion)}} 1`,
    '# HELP flotilla_api_kinds How many kinds are served.',
    '# TYPE flotilla_api_kinds gauge',
    `flotilla_api_kinds ${registry.all().length}`,
    '',
  ].join('\n')
}

const HEALTH = ['healthz', 'livez', 'readyz'] as const
const CHECKS = ['ping', 'store', 'parts'] as const

/** Why a check of a health endpoint (livez, readyz, healthz) fails; undefined when it passes. */
function healthProblem(about: ServerInfo, question: string | undefined, check: string): string | undefined {
  return question === 'readyz' && (check === 'store' || check === 'parts') ? about.problems[check]() : undefined
}

function health(about: ServerInfo, info: RequestInfo): HttpResponse {
  const [name, check, ...more] = info.segments
  if (more.length > 0 || (check !== undefined && !CHECKS.some((known) => known === check))) throw pathNotFound()
  const asked = check === undefined ? CHECKS : [check]
  const found = asked.map((one) => ({ one, problem: healthProblem(about, name, one) }))
  const checks = found.map(({ one, problem }) =>
    problem === undefined ? `[+]${one} ok` : `[-]${one} failed: ${problem}`,
  )
  if (found.some(({ problem }) => problem !== undefined))
    return respondText(500, `${checks.join('\n')}\n${name} check failed\n`)
  return respondText(200, info.query.has('verbose') ? `${checks.join('\n')}\n${name} check passed\n` : 'ok')
}

/** The same as figures, under Kubernetes' name for them. */
function healthMetrics(about: ServerInfo): string {
  const isWell = (check: string, question: string) => healthProblem(about, question, check) === undefined
  return [
    '# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck.',
    '# TYPE kubernetes_healthcheck gauge',
    ...CHECKS.flatMap((check) =>
      HEALTH.map(
        (question) => `kubernetes_healthcheck{name="${check}",type="${question}"} ${isWell(check, question) ? 1 : 0}`,
      ),
    ),
    '',
  ].join('\n')
}

const OTHER_PATHS = [
  '/.well-known/openid-configuration',
  '/apis',
  '/healthz',
  '/livez',
  '/metrics',
  '/metrics/slis',
  '/openapi/v2',
  '/openapi/v3',
  '/openid/v1/jwks',
  '/readyz',
  '/version',
]

function rootPaths(registry: Registry): string[] {
  const groups = [...registry.groups()].flatMap(([group, versions]) =>
    group === ''
      ? ['/api', ...versions.map((version) => `/api/${version}`)]
      : [`/apis/${group}`, ...versions.map((version) => `/apis/${group}/${version}`)],
  )
  return [...groups, ...OTHER_PATHS].sort()
}
