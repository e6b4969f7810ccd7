/** Cases as they were recorded, one JSON object a line. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** A recorded question; `expect` is what the other system answered. */
export interface RecordedCase {
  readonly id: string
  readonly expect?: unknown
  readonly [field: string]: unknown
}

/** The answer to a case, by family. */
export type Families = Readonly<Record<string, (input: RecordedCase) => unknown>>

/** Reads the cases of a file beside this one. */
export function readCases(file: string): RecordedCase[] {
  return gunzipSync(readFileSync(new URL(file, import.meta.url)))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedCase)
}
