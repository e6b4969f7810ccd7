/** Where each line of the output came from: the template file and line that wrote it. */
import type { SourceDocument } from './template-output.ts'

/** Gathers what the engine traces. */
export class Provenance {
  readonly #origins = new Map<string, string[]>()
  readonly #texts = new Map<string, string>()
  readonly #cursors = new Map<string, number>()

  /** Receives a piece of a file's output; hand it to the render as `trace`. */
  readonly trace = (file: string, piece: string, origin: string): void => {
    const lines = this.#origins.get(file) ?? ['']
    this.#origins.set(file, lines)
    this.#texts.set(file, (this.#texts.get(file) ?? '') + piece.replaceAll('<no value>', ''))
    const [path, line] = /^(.*):(\d+):\d+$/.exec(origin)?.slice(1) ?? [origin, '']
    let offset = 0
    for (const [at, text] of piece.split('\n').entries()) {
      if (at > 0) {
        lines.push('')
        offset += 1
      }
      // The first thing on a line that can be seen decides; text spans several lines of its template.
      if (text.trim() !== '' && lines.at(-1) === '')
        lines[lines.length - 1] = `${path}:${Number(line) + (this.#isText(piece) ? offset : 0)}`
    }
  }

  #isText(piece: string): boolean {
    return piece.includes('\n')
  }

  /** The lines of a document with their origins; documents of one file are to be asked in their order. */
  explain({ path, content }: SourceDocument): { readonly origin: string; readonly text: string }[] {
    const whole = this.#texts.get(path) ?? ''
    const from = Math.max(0, whole.indexOf(content, this.#cursors.get(path) ?? 0))
    this.#cursors.set(path, from + 1)
    const first = whole.slice(0, from).split('\n').length - 1
    const origins = this.#origins.get(path) ?? []
    return content.split('\n').map((text, at) => ({ origin: origins[first + at] || path, text }))
  }
}
