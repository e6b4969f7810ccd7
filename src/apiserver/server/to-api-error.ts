import { ApiError, isApiError, toError } from '../../core/errors.ts'
import type { HttpRequest } from '../../core/http.ts'
import type { Logger } from '../../core/log.ts'

/**
 * The response for an error. An error that is not meant for the caller is logged in full and answered as an internal
 * error.
 */
export function toApiError(caught: unknown, request: HttpRequest, log: Logger): ApiError {
  if (isApiError(caught)) return caught
  const error = toError(caught)
  log.error({ err: error, method: request.method, path: request.path.slice(0, 500) }, 'request failed')
  return new ApiError('InternalError', `Internal error occurred: ${error.message}`, {}, { cause: error })
}
