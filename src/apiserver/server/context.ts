import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Caller, HttpRequest } from '../../core/http.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { formatMicroTime } from '../../core/time/time.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Store } from '../../store/store.ts'
import { MAX_USER_AGENT } from './audit-notes.ts'
import type { Admission, Mutation } from './admission.ts'
import type { Negotiated } from '../http/negotiate.ts'
import type { QuotaCharger } from '../quota/charge-quota.ts'
import type { Registry } from './registry.ts'
import type { ResourceRequest } from '../http/request-info.ts'

/** What verbs work with: the server's parts and one request for a known kind. */

/** The parts of the server every verb may use. */
export interface ServerParts {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly registry: Registry
  readonly mutation: Mutation
  readonly admission: Admission
  readonly quota: QuotaCharger
}

/** A request for objects of a kind, by an authorized caller. */
export interface RequestContext {
  readonly parts: ServerParts
  readonly http: HttpRequest
  readonly caller: Caller
  /** Its client's. */
  readonly signal: AbortSignal
  /** What outlives its answer, a watch, ends with these, too: the server and the kind. */
  readonly endsWith: readonly AbortSignal[]
  /** Called when a watch has ended. */
  readonly onEnd?: () => void
  readonly query: URLSearchParams
  readonly request: ResourceRequest
  readonly kind: Kind
  readonly accept: Negotiated
  /** Id of the request in its answer and its audit records; absent for writes of the server itself. */
  readonly auditId?: string
}

/** The line of the audit chain for a change of an object. */
export function auditLine(context: RequestContext, object: UnknownObject, verb: string = context.request.verb): string {
  const { caller, request, kind, http, parts } = context
  const { name, namespace, uid } = object.metadata
  return JSON.stringify(
    compact({
      time: formatMicroTime(parts.clock.now()),
      auditId: context.auditId,
      user: caller.user,
      groups: caller.groups,
      impersonator: caller.impersonator,
      address: caller.address,
      verb,
      group: kind.group,
      resource: request.subresource ? `${kind.plural}/${request.subresource}` : kind.plural,
      ...compact({ namespace: namespace || undefined }),
      name,
      uid,
      ...compact({
        userAgent: http.headers['user-agent'] ? http.headers['user-agent'].slice(0, MAX_USER_AGENT) : undefined,
      }),
    }),
  )
}
