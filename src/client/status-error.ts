/** Kubernetes' Status answers as ApiErrors. */
import { compact } from '../core/compact.ts'
import { API_REASONS, ApiError } from '../core/errors.ts'
import type { ApiCause, ApiErrorDetails, ApiReason } from '../core/errors.ts'
import { isObject } from '../core/json.ts'

/** The ApiError of a Status object, whatever of it is there. */
export function statusToError(status: unknown, httpStatus: number, fallback: string): ApiError {
  const fields = isObject(status) ? status : {}
  const code = typeof fields['code'] === 'number' ? fields['code'] : httpStatus
  const message = typeof fields['message'] === 'string' && fields['message'] !== '' ? fields['message'] : fallback
  return new ApiError(reasonOf(fields['reason'], code), message, detailsOf(fields['details']))
}

/** The reason for an HTTP code when the answer itself gives none. */
function reasonForStatusCode(code: number): ApiReason {
  const exact = REASON_OF_CODE[code]
  if (exact) return exact
  if (code === 502) return 'ServiceUnavailable'
  return code >= 500 ? 'InternalError' : 'BadRequest'
}

// 409 is ambiguous; without a reason, Conflict is the one that makes a caller look again.
const REASON_OF_CODE: Readonly<Record<number, ApiReason>> = {
  ...Object.fromEntries(Object.entries(API_REASONS).map(([reason, code]) => [code, reason as ApiReason])),
  409: 'Conflict',
}

function reasonOf(reason: unknown, code: number): ApiReason {
  if (typeof reason === 'string') {
    if (Object.hasOwn(API_REASONS, reason)) return reason as ApiReason
    if (reason === 'Gone') return 'Expired'
    if (reason === 'ServerTimeout') return 'Timeout'
  }
  return reasonForStatusCode(code)
}

function detailsOf(details: unknown): ApiErrorDetails {
  if (!isObject(details)) return {}
  const causes = Array.isArray(details['causes']) ? details['causes'].filter(isObject) : undefined
  return compact({
    ...textField(details, 'name'),
    ...textField(details, 'group'),
    ...textField(details, 'kind'),
    ...textField(details, 'uid'),
    causes: causes ? causes.map(causeOf) : undefined,
    retryAfterSeconds: typeof details['retryAfterSeconds'] === 'number' ? details['retryAfterSeconds'] : undefined,
  })
}

function causeOf(cause: Record<string, unknown>): ApiCause {
  return { reason: text(cause['reason']), message: text(cause['message']), ...textField(cause, 'field') }
}

function textField(from: Record<string, unknown>, name: string): Record<string, string> {
  const value = from[name]
  return typeof value === 'string' && value !== '' ? { [name]: value } : {}
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
