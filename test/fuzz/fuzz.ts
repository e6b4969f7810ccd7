/** Runs readers of foreign bytes over mutated corpora for a time. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { mutated } from './mutations.ts'
import type { Reader } from './readers.ts'

export interface FuzzTime {
  readonly ms: number
  readonly runs: number
}

/** Fails when a reader throws an error that is not one of its refusals. The seed of a failure is in its message. */
export async function fuzz({ corpus, read, refusals }: Reader, { ms, runs }: FuzzTime): Promise<void> {
  for (const seed of corpus) await attempt(() => read(Buffer.from(seed)), refusals)
  await fc.assert(
    fc.asyncProperty(mutated(corpus), async (bytes) => {
      await attempt(() => read(bytes), refusals)
    }),
    { numRuns: runs, interruptAfterTimeLimit: ms, markInterruptAsFailure: false },
  )
}

async function attempt(read: () => unknown, refusals: Reader['refusals']): Promise<void> {
  try {
    await read()
  } catch (caught) {
    const isRefusal = refusals.some((refusal) => caught instanceof refusal)
    assert.ok(isRefusal, `unexpected ${caught instanceof Error ? (caught.stack ?? caught.message) : String(caught)}`)
  }
}
