/**
 * The closed list of failures. Each class says what happens next:
 *
 *   ApiError   the API's own answer; becomes a Status on the wire, Conflict requeues quietly
 *   Waiting    something is not there yet; condition False, requeue after a while, no error metric
 *   Stalled    a person must change something; condition Stalled=True, no retry until an input changes
 *   (others)   the world failed, or a bug; back off with jitter, log with cause
 *
 * `invariant` throws for what cannot happen; it is never caught to continue.
 */

/** Reasons of Kubernetes Status answers, with the HTTP code each one has. */
export const API_REASONS = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const

/** One of the reasons a Kubernetes API gives for refusing. */
export type ApiReason = keyof typeof API_REASONS

/** One field of an Invalid or Conflict answer, in Kubernetes' words. */
export interface ApiCause {
  readonly reason: string
  readonly message: string
  readonly field?: string
}

/** What a Status says about its object. */
export interface ApiErrorDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly ApiCause[]
  readonly retryAfterSeconds?: number
}

/** The API's own answer: NotFound, Conflict, Invalid with its causes, and so on. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly reason: ApiReason
  readonly code: number
  readonly details: ApiErrorDetails

  /** `code`: where Kubernetes answers with another one than the reason's. */
  constructor(
    reason: ApiReason,
    message: string,
    details: ApiErrorDetails = {},
    options?: ErrorOptions & { readonly code?: number },
  ) {
    super(message, options)
    this.reason = reason
    this.code = options?.code ?? API_REASONS[reason]
    this.details = details
  }
}

/** Something is not there yet; come back after `retryAfterMs`. */
export class Waiting extends Error {
  override readonly name = 'Waiting'
  readonly reason: string
  readonly retryAfterMs: number

  constructor(reason: string, message: string, retryAfterMs: number) {
    super(message)
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

/** A person must change something; retrying does not help. */
export class Stalled extends Error {
  override readonly name = 'Stalled'
  readonly reason: string

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** Throws when something that cannot happen did. */
export function invariant(holds: unknown, message: string): asserts holds {
  if (!holds) throw new Error(`invariant violated: ${message}`)
}

/** The single place that looks at a caught value. */
export function toError(caught: unknown): Error {
  return caught instanceof Error ? caught : new Error(String(caught))
}

/** True for an ApiError with one of these reasons. */
export function isApiError(caught: unknown, ...reasons: readonly ApiReason[]): caught is ApiError {
  return caught instanceof ApiError && (reasons.length === 0 || reasons.includes(caught.reason))
}
