import type { RenderProblem } from '../render-result.ts'

/** The message of a render that its budget stopped. */
export const OUT_OF_TIME = 'rendering took longer than it may'

/** Content that cannot be rendered, with its location if known. */
export class RenderFailure extends Error {
  override readonly name = 'RenderFailure'
  readonly file: string | undefined

  constructor(message: string, options: ErrorOptions & { readonly file?: string } = {}) {
    super(message, options)
    this.file = options.file
  }

  /** Converts the failure to a problem of a render result. */
  problem(): RenderProblem {
    const isNamed = this.file === undefined || this.message.includes(this.file)
    return { message: isNamed ? this.message : `${this.file}: ${this.message}` }
  }
}
