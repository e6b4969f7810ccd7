import { compact } from '../../core/compact.ts'
import type { RenderProblem } from '../render-result.ts'

/** The message of a render that its budget stopped. */
export const OUT_OF_TIME = 'rendering took longer than it may'

/** Content that cannot be rendered, with its location if known. */
export class RenderFailure extends Error {
  override readonly name = 'RenderFailure'
  readonly file: string | undefined
  /** Names of Secrets that are refused, because the repository contains their values. */
  readonly plaintext: readonly string[] | undefined

  constructor(
    message: string,
    options: ErrorOptions & { readonly file?: string; readonly plaintext?: readonly string[] } = {},
  ) {
    super(message, options)
    this.file = options.file
    this.plaintext = options.plaintext
  }

  /** Converts the failure to a problem of a render result. */
  problem(): RenderProblem {
    const isNamed = this.file === undefined || this.message.includes(this.file)
    return compact({
      message: isNamed ? this.message : `${this.file}: ${this.message}`,
      plaintext: this.plaintext,
    })
  }
}
