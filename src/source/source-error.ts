/** A failed fetch: a stable reason, a sentence for users, and whether a retry may succeed. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
  readonly reason: string
  /** If false, a user must change the Source before a retry can succeed. */
  readonly retry: boolean

  constructor(reason: string, message: string, options: ErrorOptions & { readonly retry?: boolean } = {}) {
    super(message, options)
    this.reason = reason
    this.retry = options.retry ?? false
  }
}
