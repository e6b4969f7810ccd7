import type { LogRow } from './sqlite-schema.ts'

/**
 * The rows that were read or written last, bounded by their bytes. The store is the only writer of its file, so a row
 * here is the present one: what an update reads, checks and replaces is asked of SQLite once at most.
 */
export class RowCache {
  readonly #maxBytes: number
  /** The order of this map is how long ago a row was used, longest first. */
  readonly #rows = new Map<string, LogRow>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(key: string): LogRow | undefined {
    const row = this.#rows.get(key)
    if (!row) return undefined
    this.#rows.delete(key)
    this.#rows.set(key, row)
    return row
  }

  set(row: LogRow): void {
    this.delete(row.key)
    if (sizeOf(row) > this.#maxBytes / 4) return
    this.#rows.set(row.key, row)
    this.#bytes += sizeOf(row)
    for (const key of this.#rows.keys()) {
      if (this.#bytes <= this.#maxBytes) return
      this.delete(key)
    }
  }

  delete(key: string): void {
    const row = this.#rows.get(key)
    if (!row) return
    this.#rows.delete(key)
    this.#bytes -= sizeOf(row)
  }
}

function sizeOf({ key, value }: LogRow): number {
  return key.length + value.length
}
