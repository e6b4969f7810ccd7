import type { Clock } from '../../core/time/clock.ts'
import type { Caller, Handler, HttpRequest, HttpResponse } from '../../core/http.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import type { Store } from '../../store/store.ts'
import { admitAll } from './admission.ts'
import { respond, respondError } from '../http/respond.ts'
import { gitVersionOf, versionInfo } from './api-server.ts'
import { toApiError } from './to-api-error.ts'
import type { ApiView } from './api-server.ts'
import type { Authorizer } from '../rbac/authorizer.ts'
import { createOpenApi } from '../discovery/openapi.ts'
import { serveDiscovery } from '../discovery/serve-discovery.ts'
import type { ServerInfo } from '../discovery/serve-discovery.ts'
import { methodNotAllowed, forbiddenForCaller } from '../http/api-errors.ts'
import { NO_QUOTAS } from '../quota/charge-quota.ts'
import { refuseProjectedWrite } from './projections.ts'
import { createRegistry } from './registry.ts'
import { createExports } from './serve-export.ts'
import type { ApiExport } from './serve-export.ts'
import { authorizationAttributes, requestInfo } from '../http/request-info.ts'
import { createRequestContext } from './resource-context.ts'
import { get } from '../verbs/get.ts'
import { list } from '../verbs/list.ts'
import { watch } from '../verbs/watch.ts'

/**
 * Views alone, beside an API server that has the rest: discovery, get, list and watch, and nothing is ever
 * written.
 */

/** What it is made of. */
export interface ReadServerOptions {
  readonly views: readonly ApiView[]
  readonly exports?: readonly ApiExport[]
  /** What the views are worked out from; asked for when the first request needs it. */
  readonly store: () => Promise<Store>
  readonly authorizer: Authorizer
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
}

/** A running one. */
export interface ReadServer {
  readonly handle: Handler
  /** Ends open watches. */
  close(): void
}

/** Starts to serve views. */
export function createReadServer({ views, exports = [], store, authorizer, ...ports }: ReadServerOptions): ReadServer {
  const closing = new AbortController()
  const serveExport = createExports(exports)
  const registry = createRegistry(views.map(({ kind }) => kind))
  const version = gitVersionOf()
  const about: ServerInfo = {
    registry,
    openApi: createOpenApi(registry, version),
    version: versionInfo(version),
    problems: { store: () => undefined, parts: () => undefined },
    issuer: undefined,
  }
  const open = once(async () => {
    const base = await store()
    const stores = new Map(views.map(({ kind, over }) => [kind, over(base)]))
    const parts = { ...ports, registry, store: base, mutation: admitAll, admission: admitAll, quota: NO_QUOTAS }
    return { parts, storeOf: (kind: ApiView['kind']) => stores.get(kind) ?? base, closing: closing.signal }
  })

  async function answer(http: HttpRequest, caller: Caller, signal: AbortSignal): Promise<HttpResponse> {
    const info = requestInfo(http)
    const attempt = authorizationAttributes(info, http, caller)
    const { allowed, reason } = await authorizer.authorize(attempt)
    if (!allowed) throw forbiddenForCaller(attempt, reason)
    const { resource } = info
    if (!resource) return serveDiscovery(about, http, info)
    const exported = await serveExport(info, caller, signal)
    if (exported) return exported
    const context = createRequestContext(await open(), { http, caller, info, resource, signal })
    switch (resource.verb) {
      case 'get':
        return respond(await get(context), context.accept)
      case 'list':
        return respond(await list(context), context.accept)
      case 'watch':
        return await watch(context)
      default:
        await refuseProjectedWrite(context)
        throw methodNotAllowed()
    }
  }

  return {
    handle: (http, caller, signal) =>
      answer(http, caller, signal).catch((caught: unknown) => respondError(toApiError(caught, http, ports.log))),
    close: () => closing.abort(),
  }
}

/** Calls once, and again only when it failed. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((caught: unknown) => {
      made = undefined
      throw caught
    })
    return made
  }
}
