/** Why a source has no new artifact: a permanent word, a sentence for people, and whether trying again may help. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
  readonly reason: string
  /** False: a person must change something first. */
  readonly retry: boolean

  constructor(reason: string, message: string, options: ErrorOptions & { readonly retry?: boolean } = {}) {
    super(message, options)
    this.reason = reason
    this.retry = options.retry ?? false
  }
}
