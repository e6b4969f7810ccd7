/** What Helm itself says is wrong; the message is what `helm template` prints after `Error: `. */

/** A chart that cannot be loaded or rendered, in Helm's words. */
export class HelmError extends Error {
  override readonly name = 'HelmError'
  /** Whether templates were run, after which helm advises to look at the invalid YAML. */
  readonly rendered: boolean

  constructor(message: string, options: { readonly cause?: unknown; readonly rendered?: boolean } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.rendered = options.rendered ?? false
  }
}
