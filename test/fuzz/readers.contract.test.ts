/** Ten seconds at most for each reader of foreign bytes (CVE-2024-12401 and its like); readers.deep.test.ts takes longer. */
import { test } from 'node:test'
import { fuzz } from './fuzz.ts'
import { READERS } from './readers.ts'

for (const [name, reader] of Object.entries(READERS)) {
  test(`fuzz: ${name}`, async () => await fuzz(reader, { ms: 6_000, runs: 3_000 }))
}
