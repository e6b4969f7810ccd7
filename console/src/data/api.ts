/** Requests to the hub: the Kubernetes API under the user's own rights, and the console's own endpoints. */

/** A refusal or failure, with the API's own words. */
export class ApiFailure extends Error {
  readonly code: number
  readonly reason: string

  constructor(code: number, reason: string, message: string) {
    super(message)
    this.code = code
    this.reason = reason
  }
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: unknown
  readonly contentType?: string
  /** Recorded in the audit log with the change. */
  readonly reason?: string | undefined
  readonly signal?: AbortSignal
}

export interface Answer<T> {
  readonly value: T
  /** ID of the request in the audit log. */
  readonly auditId: string | undefined
}

const listeners = new Set<() => void>()

/** Calls back when the hub says that no one is signed in. */
export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Sends a request; a refusal is thrown as ApiFailure. */
export async function send<T>(path: string, options: RequestOptions = {}): Promise<Answer<T>> {
  const { method = 'GET', body, contentType = 'application/json', reason, signal } = options
  const headers: Record<string, string> = { accept: 'application/json' }
  if (method !== 'GET') headers['x-flotilla-console'] = '1'
  if (reason !== undefined && reason.trim() !== '') headers['x-flotilla-reason'] = encodeURIComponent(reason.trim())
  if (body !== undefined) headers['content-type'] = contentType
  const response = await fetch(path, {
    method,
    headers,
    credentials: 'same-origin',
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new ApiFailure(0, 'Unreachable', 'the hub does not answer')
  })
  const text = await response.text()
  const value = parse(text)
  if (response.ok) return { value: value as T, auditId: response.headers.get('audit-id') ?? undefined }
  if (response.status === 401) for (const listener of listeners) listener()
  const { message, reason: why } = (value ?? {}) as { message?: string; reason?: string }
  throw new ApiFailure(response.status, why ?? 'Unknown', message ?? `the hub answered with ${response.status}`)
}

/** Reads a value. */
export async function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send<T>(path, { ...(signal && { signal }) })).value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
