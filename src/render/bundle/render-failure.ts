import type { RenderProblem } from '../render-result.ts'

/** Says that who watches stopped a render. */
export const OUT_OF_TIME = 'rendering took longer than it may'

/** Content that cannot be rendered; where it is as far as that is known. */
export class RenderFailure extends Error {
  override readonly name = 'RenderFailure'
  readonly file: string | undefined

  constructor(message: string, options: ErrorOptions & { readonly file?: string } = {}) {
    super(message, options)
    this.file = options.file
  }

  /** As one problem of a result. */
  problem(): RenderProblem {
    const isNamed = this.file === undefined || this.message.includes(this.file)
    return { message: isNamed ? this.message : `${this.file}: ${this.message}` }
  }
}
