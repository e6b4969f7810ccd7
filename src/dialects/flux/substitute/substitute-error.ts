/** A text that cannot be substituted, in Flux's words. */
export class SubstituteError extends Error {
  override readonly name = 'SubstituteError'
}
