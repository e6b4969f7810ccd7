/** Errors of an ApplicationSet, in the words of Argo CD where it has some. */

/** An ApplicationSet that gives no Applications because of an error. */
export class ApplicationSetError extends Error {
  override readonly name = 'ApplicationSetError'
}

/** Puts words in front of the message of an ApplicationSetError. */
export function withContext<T>(context: string, run: () => T): T {
  try {
    return run()
  } catch (caught) {
    if (!(caught instanceof ApplicationSetError)) throw caught
    throw new ApplicationSetError(`${context}: ${caught.message}`, { cause: caught })
  }
}
