/** Requests to the hub: the Kubernetes API under the user's own rights, and the console's own endpoints. */
import { ApiFailure, failureOf, parse } from './api-failure.ts'

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

/** Sends a request; a refusal is thrown as ApiFailure. */
export async function send<T>(path: string, options: RequestOptions = {}): Promise<Answer<T>> {
  const response = await respond(path, options)
  const text = await response.text()
  if (!response.ok) throw failureOf(response, text)
  return { value: parse(text) as T, auditId: response.headers.get('audit-id') ?? undefined }
}

async function respond(path: string, options: RequestOptions): Promise<Response> {
  const { method = 'GET', body, contentType = 'application/json', reason, signal } = options
  const headers: Record<string, string> = { accept: 'application/json' }
  if (method !== 'GET') headers['x-flotilla-console'] = '1'
  if (reason !== undefined && reason.trim() !== '') headers['x-flotilla-reason'] = encodeURIComponent(reason.trim())
  if (body !== undefined) headers['content-type'] = contentType
  return await fetch(path, {
    method,
    headers,
    credentials: 'same-origin',
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new ApiFailure(0, 'Unreachable', 'the hub does not answer')
  })
}

/** Reads a text that is not JSON as a whole: lines of JSON, or numbers of the hub. */
export async function readText(path: string, { method = 'GET', signal }: RequestOptions = {}): Promise<string> {
  const response = await respond(path, { method, ...(signal && { signal }) })
  const text = await response.text()
  if (!response.ok) throw failureOf(response, text)
  return text
}

/** Reads a value. */
export async function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send<T>(path, { ...(signal && { signal }) })).value
}
