/** A reference of a source that leads nowhere, in Flux's words. */
export class SourceRefError extends Error {
  override readonly name = 'SourceRefError'
}
