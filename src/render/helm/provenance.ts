/** Where each line of the output came from: the template file and line that wrote it, and the values named there. */
import type { TracedPiece } from './engine/engine.ts'
import type { SourceDocument } from './template-output.ts'
import type { ValueOrigin, ValueOrigins } from './values/value-origins.ts'

/** A line of the output. */
export interface ExplainedLine {
  /** `file:line` of the template. */
  readonly origin: string
  readonly text: string
  /** Values that the template names for this line, by their path from the top chart, and where they came from. */
  readonly values: readonly { readonly path: readonly string[]; readonly origin: ValueOrigin }[]
}

interface Line {
  origin: string
  readonly reads: (readonly string[])[]
}

/** Gathers what the engine traces. */
export class Provenance {
  readonly #lines = new Map<string, Line[]>()
  readonly #texts = new Map<string, string>()
  readonly #cursors = new Map<string, number>()

  /** Receives a piece of a file's output; hand it to the render as `trace`. */
  readonly trace = ({ file, text: piece, origin, reads }: TracedPiece): void => {
    const lines = this.#lines.get(file) ?? [{ origin: '', reads: [] }]
    this.#lines.set(file, lines)
    this.#texts.set(file, (this.#texts.get(file) ?? '') + piece.replaceAll('<no value>', ''))
    const [path, line] = /^(.*):(\d+):\d+$/.exec(origin)?.slice(1) ?? [origin, '']
    const spansLines = piece.includes('\n')
    for (const [offset, text] of piece.split('\n').entries()) {
      if (offset > 0) lines.push({ origin: '', reads: [] })
      if (text.trim() === '') continue
      const last = lines.at(-1)!
      // The first thing on a line that can be seen decides; text spans several lines of its template.
      if (last.origin === '') last.origin = `${path}:${Number(line) + (spansLines ? offset : 0)}`
      last.reads.push(...reads)
    }
  }

  /** The lines of a document with their origins; documents of one file are to be asked in their order. */
  explain({ path, content }: SourceDocument, origins?: ValueOrigins): ExplainedLine[] {
    const whole = this.#texts.get(path) ?? ''
    const from = Math.max(0, whole.indexOf(content, this.#cursors.get(path) ?? 0))
    this.#cursors.set(path, from + 1)
    const first = whole.slice(0, from).split('\n').length - 1
    const lines = this.#lines.get(path) ?? []
    return content.split('\n').map((text, at) => {
      const line = lines[first + at]
      return { origin: line?.origin || path, text, values: origins ? valuesOf(path, line?.reads ?? [], origins) : [] }
    })
  }
}

function valuesOf(file: string, reads: readonly (readonly string[])[], origins: ValueOrigins): ExplainedLine['values'] {
  const paths = new Map(reads.map((names) => [names.join('.'), origins.pathFrom(file, names)]))
  return [...paths.values()].flatMap((path) => {
    const origin = origins.of(path)
    return origin ? [{ path, origin }] : []
  })
}
