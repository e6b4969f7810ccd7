/** Lists that the caller may not be allowed to read. A refusal is kept, so that a command never shows it as "none". */
import { isApiError } from '../../core/errors.ts'

/** The objects of a kind, or the reason why the caller cannot see them. */
export interface Readable<T> {
  readonly items: readonly T[]
  /** The kind that the hub refused to list, for example `clusters`. */
  readonly refused?: string
}

/** Reads a list. A refusal of the hub becomes `refused`; a hub without the kind has no objects of it. */
export async function readIfAllowed<T>(what: string, reading: Promise<readonly T[]>): Promise<Readable<T>> {
  try {
    return { items: await reading }
  } catch (caught) {
    if (isApiError(caught, 'Forbidden')) return { items: [], refused: what }
    if (isApiError(caught, 'NotFound')) return { items: [] }
    throw caught
  }
}
