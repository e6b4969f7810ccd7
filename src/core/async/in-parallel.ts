/**
 * Does something with every item, at most `limit` at a time; after a failure nothing new begins, and the first failure
 * is thrown.
 */
export async function inParallel<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]()
  let failed = false
  let failure: unknown
  const worker = async (): Promise<void> => {
    for (let next = left.next(); !failed && !next.done; next = left.next()) {
      try {
        await work(next.value)
      } catch (caught) {
        if (!failed) failure = caught
        failed = true
      }
    }
  }
  await Promise.all(Array.from({ length: limit }, worker))
  if (failed) throw failure
}
