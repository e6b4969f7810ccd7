import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import type { Caller, Handler, HttpRequest, HttpResponse } from '../../core/http.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { VERSION } from '../../core/version.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { Store } from '../../store/store.ts'
import { admitAll, chainAdmission } from './admission.ts'
import type { Admission, Mutation } from './admission.ts'
import { respond, respondError, withWarning } from '../http/respond.ts'
import type { VerbResponse } from '../http/respond.ts'
import type { RequestContext, ServerParts } from './context.ts'
import { createOpenApi } from '../discovery/openapi.ts'
import { serveDiscovery } from '../discovery/serve-discovery.ts'
import type { ServerInfo } from '../discovery/serve-discovery.ts'
import { runCollector } from '../gc/collector.ts'
import { startCustomKinds } from '../custom-kinds/serve-custom-kinds.ts'
import { createFairQueue } from '../http/fair-queue.ts'
import { startTenants } from '../namespaces/tenants.ts'
import { startKubernetesService } from './kubernetes-service.ts'
import type { FairLimits } from '../http/fair-queue.ts'
import { impersonate } from '../rbac/impersonate.ts'
import { startNamespaceDefaults } from '../namespaces/namespace-defaults.ts'
import type { NamespaceDefaults } from '../namespaces/namespace-defaults.ts'
import { startEventExpiry } from '../gc/event-expiry.ts'
import { startNamespaceLifecycle } from '../namespaces/namespace-lifecycle.ts'
import { ensureSystemNamespaces } from '../namespaces/system-namespaces.ts'
import { bindPod, evictPod } from '../workloads/pod-bind-and-evict.ts'
import { priorityAdmission } from '../workloads/pod-priority.ts'
import { runtimeClassAdmission } from '../workloads/pod-runtime-class.ts'
import { serviceAccountAdmission } from '../workloads/pod-service-account.ts'
import { startPolicies } from '../policies/start-policies.ts'
import { startQuotas } from '../quota/start-quotas.ts'
import { startOpenWatches } from '../rbac/open-watches.ts'
import { startRbac } from '../rbac/rbac.ts'
import { methodNotAllowed, forbiddenForCaller } from '../http/api-errors.ts'
import { refuseProjectedWrite } from './projections.ts'
import { createRegistry } from './registry.ts'
import type { Registry } from './registry.ts'
import { authorizationAttributes, checkTimeout, requestInfo } from '../http/request-info.ts'
import type { RequestInfo } from '../http/request-info.ts'
import { createRequestContext } from './resource-context.ts'
import { isReview, serveReview } from '../reviews/serve-review.ts'
import type { TokenKeys } from '../tokens/jwt.ts'
import { createAuthenticator } from '../tokens/authenticate.ts'
import type { UserTokens } from '../tokens/authenticate.ts'
import { createServiceAccountTokens } from '../tokens/service-account-tokens.ts'
import { requestToken } from '../reviews/token-request.ts'
import { toApiError } from './to-api-error.ts'
import { auditedHandler, noteCommits } from './audit-notes.ts'
import type { AnswerRequest, KnownRequest } from './audit-notes.ts'
import { serveAudit } from './serve-audit.ts'
import { createExports } from './serve-export.ts'
import type { ApiExport } from './serve-export.ts'
import { createConvertingStores } from '../storage/converting-store.ts'
import { create } from '../verbs/create.ts'
import { deleteCollection } from '../verbs/delete-collection.ts'
import { remove } from '../verbs/delete.ts'
import { get } from '../verbs/get.ts'
import { list } from '../verbs/list.ts'
import { patch } from '../verbs/patch.ts'
import { scale } from '../verbs/scale.ts'
import { update } from '../verbs/update.ts'
import { watch } from '../verbs/watch.ts'

/** A Kubernetes API over a store, without sockets: a listener or a simulation carries the requests. */

/** What the server needs from the world. */
export interface ApiServerOptions {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly kinds: readonly Kind[]
  readonly log: Logger
  /** Kinds with objects that are computed from stored objects. */
  readonly views?: readonly ApiView[]
  readonly exports?: readonly ApiExport[]
  /** Shown by /version; the Kubernetes version whose behaviour is served comes first. */
  readonly version?: string
  readonly admit?: Admission
  /**
   * Ed25519 keys (PEM) for service account tokens; the first key signs. If omitted, tokens are not issued or accepted.
   */
  readonly tokenKeys?: TokenKeys
  /** Tokens of users that another system issued. If omitted, none are accepted. */
  readonly userTokens?: UserTokens
  /** Gives every namespace a default service account and, with the PEM of the API's CA, `kube-root-ca.crt`. */
  readonly namespaceDefaults?: NamespaceDefaults
  /** Why other parts of the process are not ready, for /readyz. Defaults to always ready. */
  readonly notReady?: () => string | undefined
  /** How many requests of each class of callers are served at once. */
  readonly limits?: FairLimits
  /** Whether Kubernetes' controllers have their roles. Defaults to true. */
  readonly controllerRoles?: boolean
}

/** A kind with objects that are computed, and the store that answers for the kind. */
export interface ApiView {
  readonly kind: Kind
  /** True if objects of the kind are also stored: a CustomResourceDefinition defines the kind. */
  readonly isStoredToo?: boolean
  over(store: Store): Store
}

/** A running API server. */
export interface ApiServer {
  readonly handle: Handler
  /** The caller that a header `Authorization` proves, for listeners that refuse others before they read a body. */
  authenticate(authorization: string): Promise<Caller | undefined>
  /** Ends open watches and background work. The store stays open: the caller closes it. */
  close(): Promise<void>
}

/** The Kubernetes version whose behaviour is served. */
const KUBERNETES_VERSION = { major: '1', minor: '36' } as const

/** Starts an API server. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const { store, log } = options
  const version = gitVersionOf(options.version)
  const { views = [] } = options
  const registry = createRegistry([
    ...options.kinds,
    ...views.flatMap(({ kind, isStoredToo }) => (isStoredToo ? [] : [kind])),
  ])
  const closing = new AbortController()
  const { parts, rbac, policies, quotas, kindsKnown } = startAdmission(options, registry, closing.signal)
  const { authorizer } = rbac
  const tokens = options.tokenKeys && createServiceAccountTokens(parts, options.tokenKeys)
  const authenticator = createAuthenticator(tokens, options.userTokens)
  const watches = startOpenWatches(parts, closing.signal)
  rbac.onChange(watches.reconsider)
  const storeOf = createViewStores(views, createConvertingStores(store))
  const served = { parts, storeOf, closing: closing.signal }
  const customKinds = startCustomKinds(parts, registry, closing.signal)
  const tenants = startTenants(parts, closing.signal)
  const queue = createFairQueue(options.limits, tenants.tenantOf)
  const serveExport = createExports(options.exports ?? [])
  let problem: string | undefined = 'starting'
  const ready = Promise.all([
    ensureSystemNamespaces(parts),
    rbac.ready,
    customKinds.ready,
    policies.ready,
    quotas.ready,
  ]).then(
    () => (problem = undefined),
    (error: unknown) => (problem = toError(error).message),
  )
  void ready.then(kindsKnown)
  const lifecycle = startNamespaceLifecycle(parts, closing.signal)
  const collector = runCollector(parts, closing.signal)
  const expiry = startEventExpiry(parts, closing.signal)
  const apiService = startKubernetesService(parts, closing.signal)
  const defaults = ready.then(() => startNamespaceDefaults(parts, options.namespaceDefaults, closing.signal))
  const about: ServerInfo = {
    registry,
    openApi: createOpenApi(registry, version),
    version: versionInfo(version),
    problems: { store: () => problem, parts: options.notReady ?? (() => undefined) },
    issuer: tokens?.discovery,
  }

  const answerRequest: AnswerRequest = async (known, signal, auditId) => {
    const { request } = known
    try {
      await ready
      const proven = (known.caller = await authenticator.prove(request, known.caller))
      return await queue.run(proven, signal, async () => {
        const info = (known.info = requestInfo(request))
        checkTimeout(info)
        const acting = (known.caller = await impersonate(request, proven, authorizer))
        await authorize(info, request, acting)
        if (info.segments[0] === 'audit') return await serveAudit(store, request, info)
        if (!info.resource) return serveDiscovery(about, request, info)
        const { resource } = info
        const exported = await serveExport(info, acting, signal)
        if (exported) return exported
        const asked = { http: request, caller: acting, info, resource, signal }
        const created = notingCommits(createRequestContext(served, asked), known)
        const context = await keepChecked({ ...created, auditId }, info, proven)
        const deprecation = context.kind.custom?.deprecation
        if (deprecation === undefined) return await reply(context)
        const refuse = (caught: unknown) => respondError(toApiError(caught, request, log))
        return withWarning(await reply(context).catch(refuse), deprecation)
      })
    } catch (error) {
      return respondError(toApiError(error, request, log))
    }
  }

  /** A watch ends when its caller loses the right, or the token that proved the caller. */
  async function keepChecked(context: RequestContext, info: RequestInfo, proven: Caller): Promise<RequestContext> {
    if (context.request.verb !== 'watch') return context
    const { http, endsWith } = context
    const token = await authenticator.renewal(http, proven)
    const check = async () => {
      if (token && !(await token.isValid())) return false
      const acting = await impersonate(http, proven, authorizer)
      return (await authorizer.authorize(authorizationAttributes(info, http, acting))).allowed
    }
    const { signal, close } = watches.open({ check, expires: token?.expires })
    return { ...context, endsWith: [...endsWith, signal], onEnd: close }
  }

  async function authorize(info: RequestInfo, request: HttpRequest, caller: Caller): Promise<void> {
    const attempt = authorizationAttributes(info, request, caller)
    const { allowed, reason } = await authorizer.authorize(attempt)
    if (!allowed) throw forbiddenForCaller(attempt, reason)
  }

  async function reply(context: RequestContext): Promise<HttpResponse> {
    if (context.request.verb === 'watch') return await watch(context)
    return respond(await answer(context), context.accept)
  }

  async function answer(context: RequestContext): Promise<VerbResponse> {
    if (isReview(context.kind))
      return await serveReview(context, { authorizer, tokens, userTokens: options.userTokens })
    if (context.request.subresource === 'token' && tokens) return await requestToken(context, tokens)
    await refuseProjectedWrite(context)
    const served = await serve(context)
    apiService.served(context.request)
    return served
  }

  return {
    handle: auditedHandler(answerRequest, { store, clock: options.clock, log }),
    authenticate: authenticator.authenticate,
    async close() {
      closing.abort()
      const followers = [rbac, watches, customKinds, policies, quotas, tenants].map(({ done }) => done)
      await Promise.all([ready, ...followers, apiService.done(), lifecycle, collector, expiry, defaults])
    },
  }
}

/**
 * Starts the parts that decide about writes: quotas, roles and policies. `kindsKnown` tells the policies that all
 * custom kinds are served.
 */
function startAdmission(options: ApiServerOptions, registry: Registry, signal: AbortSignal) {
  const { store, clock, ids, log, controllerRoles = true } = options
  const quotas = startQuotas({ store, clock, log, registry }, signal)
  // Policies need the authorizer of the roles, and a refusal by a policy comes before the check for escalation.
  let admitted: Admission = admitAll
  let changed: Mutation = admitAll
  const mutation = chainAdmission([
    quotas.mutation,
    // Without the namespace defaults, no controller creates the service accounts.
    options.namespaceDefaults ? serviceAccountAdmission({ store, registry, clock, ids }) : admitAll,
    priorityAdmission({ store, registry }),
    runtimeClassAdmission({ store, registry }),
    (request) => changed(request),
  ])
  const bare = { store, clock, ids, log, registry, mutation, quota: quotas.gate }
  const rbac = startRbac({ ...bare, controllerRoles }, (request) => admitted(request), signal)
  const known = Promise.withResolvers<void>()
  const next = options.admit ?? admitAll
  const policies = startPolicies(bare, { authorizer: rbac.authorizer, next, kindsKnown: known.promise }, signal)
  admitted = policies.admission
  changed = policies.mutation
  const parts: ServerParts = { ...bare, admission: chainAdmission([quotas.admission, rbac.admission]) }
  return { parts, rbac, policies, quotas, kindsKnown: () => known.resolve() }
}

/** The store that answers for a kind. */
function createViewStores(views: readonly ApiView[], kindStore: (kind: Kind) => Store): (kind: Kind) => Store {
  const addressOf = ({ group, plural }: Kind): string => `${plural}.${group}`
  const viewAt = new Map(views.map((view) => [addressOf(view.kind), view]))
  const known = new WeakMap<Kind, Store>()
  return (kind) => {
    const view = viewAt.get(addressOf(kind))
    if (!view) return kindStore(kind)
    const store = known.get(kind) ?? view.over(kindStore(kind))
    known.set(kind, store)
    return store
  }
}

/** Reads commit nothing, and keep the context as it is. */
function notingCommits(context: RequestContext, known: KnownRequest): RequestContext {
  if (['get', 'list', 'watch'].includes(context.request.verb)) return context
  return { ...context, parts: { ...context.parts, store: noteCommits(context.parts.store, known) } }
}

function serve(context: RequestContext): Promise<VerbResponse> {
  if (context.request.subresource === 'scale') return scale(context)
  if (context.request.subresource === 'binding') return bindPod(context)
  if (context.request.subresource === 'eviction') return evictPod(context)
  switch (context.request.verb) {
    case 'get':
      return get(context)
    case 'list':
      return list(context)
    case 'create':
      return create(context)
    case 'update':
      return update(context)
    case 'patch':
      return patch(context)
    case 'delete':
      return remove(context)
    case 'deletecollection':
      return deleteCollection(context)
    case 'watch':
      throw methodNotAllowed()
  }
}

/** The version as `kubectl version` shows it. */
export function gitVersionOf(version: string = VERSION): string {
  return `v${KUBERNETES_VERSION.major}.${KUBERNETES_VERSION.minor}.0+flotilla-${version}`
}

/** The answer of /version. */
export function versionInfo(gitVersion: string): object {
  return {
    ...KUBERNETES_VERSION,
    emulationMajor: KUBERNETES_VERSION.major,
    emulationMinor: KUBERNETES_VERSION.minor,
    minCompatibilityMajor: KUBERNETES_VERSION.major,
    minCompatibilityMinor: '35',
    gitVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: '',
    platform: '',
  }
}
