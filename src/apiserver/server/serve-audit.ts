import { ApiError } from '../../core/errors.ts'
import type { HttpRequest, HttpResponse } from '../../core/http.ts'
import type { Store } from '../../store/store.ts'
import { respond } from '../http/respond.ts'
import { methodNotAllowed, pathNotFound } from '../http/api-errors.ts'
import type { RequestInfo } from '../http/request-info.ts'

const PAGE = 500
const MAX_PAGE = 5000

/**
 * GET /audit?after=SEQUENCE&limit=N: records of the audit chain as they were written, so that a reader can check every
 * hash. GET /audit/head: sequence and hash of the last record, or of record N with `?at=N`; never its line. Both are
 * non-resource URLs: RBAC's nonResourceURLs allow reading them, and no role allows writing them.
 */
export async function serveAudit(store: Store, request: HttpRequest, info: RequestInfo): Promise<HttpResponse> {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
  if (info.path === '/audit/head' && store.auditHead) {
    const at = numberOf(info.query, 'at', 0)
    const [found] = at === 0 ? [await store.auditHead()] : await store.audit(at - 1, 1)
    if (!found || (at > 0 && found.sequence !== at)) throw pathNotFound()
    const { sequence, hash } = found
    return respond({
      status: 200,
      object: { kind: 'AuditHead', apiVersion: 'view.flotilla.dev/v1alpha1', sequence, hash },
    })
  }
  if (info.segments.length > 1) throw pathNotFound()
  const after = numberOf(info.query, 'after', 0)
  const limit = Math.min(MAX_PAGE, numberOf(info.query, 'limit', PAGE))
  const items = await store.audit(after, limit)
  return respond({ status: 200, object: { kind: 'AuditRecordList', apiVersion: 'view.flotilla.dev/v1alpha1', items } })
}

function numberOf(query: URLSearchParams, name: string, otherwise: number): number {
  const text = query.get(name)
  if (text === null || text === '') return otherwise
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value
  throw new ApiError('BadRequest', `${name} must be a whole number, got ${JSON.stringify(text.slice(0, 50))}`)
}
