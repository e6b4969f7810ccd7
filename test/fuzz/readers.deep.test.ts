/** Two minutes for each reader of foreign bytes. */
import { test } from 'node:test'
import { fuzz } from './fuzz.ts'
import { READERS } from './readers.ts'

for (const [name, reader] of Object.entries(READERS)) {
  test(`fuzz, long: ${name}`, async () => await fuzz(reader, { ms: 120_000, runs: 10_000_000 }))
}
