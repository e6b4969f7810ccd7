/** What the hub answers when it does not do what was asked. */

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

const listeners = new Set<() => void>()

/** Calls back when the hub says that no one is signed in. */
export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The failure of an answer; tells that the session ended if so. */
export function failureOf({ status }: Response, text: string): ApiFailure {
  if (status === 401) for (const listener of listeners) listener()
  const { message, reason } = (parse(text) ?? {}) as { message?: string; reason?: string }
  return new ApiFailure(status, reason ?? 'Unknown', message ?? `the hub answered with ${status}`)
}

/** The JSON of a text; undefined if it is none. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
