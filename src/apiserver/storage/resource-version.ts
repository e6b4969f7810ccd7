import { base64url, fromBase64, fromUtf8, utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { ApiError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import type { Store } from '../../store/store.ts'
import { badRequest } from '../http/api-errors.ts'

/** resourceVersions and continue tokens of requests. */

/** The number of a resourceVersion parameter; undefined when it is not given. */
export function parseRevision(text: string): number | undefined {
  if (text === '') return undefined
  const revision = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(revision)) return revision
  throw badRequest(`resourceVersion: Invalid value: ${JSON.stringify(text)}: must be a number this server gave out`)
}

/** The resourceVersion of an object as a client sends it back, in the form that a read of the object has. */
export function objectVersion(store: Pick<Store, 'objectRevision'>, text: string | undefined): string | undefined {
  if (text === undefined || !store.objectRevision || !/^[1-9]\d{0,15}$/.test(text)) return text
  return String(store.objectRevision(Number(text)))
}

/** Refuses a version this store has not reached. */
export function checkNotFuture(store: Store, text: string): number | undefined {
  const revision = parseRevision(text)
  if (revision !== undefined && revision > store.revision()) {
    throw new ApiError('Timeout', `Too large resource version: ${revision}, current: ${store.revision()}`, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    })
  }
  return revision
}

/** Where a list goes on; without a revision it goes on in the newest state. */
export interface Continue {
  readonly revision?: number
  readonly after: string
}

/** The text of a continue token. */
export function formatContinue({ revision, after }: Continue): string {
  return base64url(utf8(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision ?? -1, start: after })))
}

/** Reads a continue token; its start must lie below the prefix that is listed. */
export function parseContinue(token: string, prefix: string): Continue {
  let parsed: unknown
  try {
    parsed = JSON.parse(fromUtf8(fromBase64(token)))
  } catch {
    throw invalidToken()
  }
  if (!isObject(parsed)) throw invalidToken()
  const { v, rv, start } = parsed
  if (v !== 'meta.k8s.io/v1' || typeof start !== 'string' || !Number.isSafeInteger(rv)) throw invalidToken()
  if (!start.startsWith(prefix)) throw invalidToken()
  return compact({ after: start, revision: Number(rv) >= 0 ? Number(rv) : undefined })
}

function invalidToken(): ApiError {
  return badRequest('continue key is not valid: it belongs to another list or was changed')
}
