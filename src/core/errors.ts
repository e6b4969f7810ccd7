/**
 * The closed list of failures. Each class says what happens next:
 *
 *   ApiError   the API's own answer; becomes a Status on the wire, Conflict requeues quietly
 *   Waiting    a prerequisite is missing; condition False, requeue after a while, no error metric
 *   Stalled    a person must change an input; condition Stalled=True, no retry until an input changes
 *   (rest)     a failure of the environment, or a bug; back off with jitter, log with cause
 *
 * An error is data: `message` is the cause, `where` the object or field with the mistake, `todo` what the reader can
 * do. Code that needs one of these parts reads the member; it never cuts the message apart.
 *
 * `invariant` throws for what cannot happen; it is never caught to continue.
 */
import { compact } from './compact.ts'

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

export type ApiReason = keyof typeof API_REASONS

/** A field of an Invalid or Conflict answer, in Kubernetes' words. */
export interface ApiCause {
  readonly reason: string
  readonly message: string
  readonly field?: string
}

/** Details of a Status about its object. */
export interface ApiErrorDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly ApiCause[]
  readonly retryAfterSeconds?: number
}

/** The parts of an error besides its message. Both are for people, and code may print them on lines of their own. */
export interface ErrorHints {
  /** The object, file or field that the error is about: `rollout "pos-app-g14"`, `spec.rings[2].gates[0]`. */
  readonly where?: string
  /** What the reader can do: `list rollouts with "flotilla get rollouts -A"`. */
  readonly todo?: string
}

/** Reads the hints of a caught error of any class that carries them, or of the options of one. */
export function errorHints(from: unknown): ErrorHints {
  const { where, todo }: { readonly where?: unknown; readonly todo?: unknown } = Object(from)
  return compact({
    where: typeof where === 'string' ? where : undefined,
    todo: typeof todo === 'string' ? todo : undefined,
  })
}

/** The API's own answer: NotFound, Conflict, Invalid with its causes, and so on. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly reason: ApiReason
  readonly code: number
  readonly details: ApiErrorDetails
  declare readonly where?: string
  declare readonly todo?: string

  /** `code`: where Kubernetes answers with another code than the reason's. */
  constructor(
    reason: ApiReason,
    message: string,
    details: ApiErrorDetails = {},
    options?: ErrorOptions & ErrorHints & { readonly code?: number },
  ) {
    super(message, options)
    this.reason = reason
    this.code = options?.code ?? API_REASONS[reason]
    this.details = details
    Object.assign(this, errorHints(options))
  }
}

/** A prerequisite is missing; the caller retries after `retryAfterMs`. */
export class Waiting extends Error {
  override readonly name = 'Waiting'
  readonly reason: string
  readonly retryAfterMs: number
  declare readonly where?: string
  declare readonly todo?: string

  constructor(reason: string, message: string, retryAfterMs: number, hints?: ErrorHints) {
    super(message)
    this.reason = reason
    this.retryAfterMs = retryAfterMs
    Object.assign(this, errorHints(hints))
  }
}

/** A person must change an input; retrying does not help. */
export class Stalled extends Error {
  override readonly name = 'Stalled'
  readonly reason: string
  declare readonly where?: string
  declare readonly todo?: string

  constructor(reason: string, message: string, options?: ErrorOptions & ErrorHints) {
    super(message, options)
    this.reason = reason
    Object.assign(this, errorHints(options))
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
