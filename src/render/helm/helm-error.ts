/** What Helm itself says is wrong; the message is what `helm template` prints after `Error: `. */
import type { Hook } from './manifests.ts'

/** A chart that cannot be loaded or rendered, in Helm's words. */
export class HelmError extends Error {
  override readonly name = 'HelmError'
  /** Whether templates were run, after which helm advises to look at the invalid YAML. */
  readonly rendered: boolean
  /** What came out of the templates, when only their YAML is wrong. */
  readonly files: ReadonlyMap<string, string>
  /** Hooks that were found in them before. */
  readonly hooks: readonly Hook[]

  constructor(
    message: string,
    options: {
      readonly cause?: unknown
      readonly rendered?: boolean
      readonly files?: ReadonlyMap<string, string>
      readonly hooks?: readonly Hook[]
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.rendered = options.rendered ?? false
    this.files = options.files ?? new Map()
    this.hooks = options.hooks ?? []
  }
}
