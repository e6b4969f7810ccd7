/** What went wrong in a build, in the words that users of kustomize know. */

/** A kustomization that cannot be built. */
export class KustomizeError extends Error {
  override readonly name: string = 'KustomizeError'
}

/** A node of another kind than a path or a patch expects. */
export class NodeKindError extends KustomizeError {
  override readonly name = 'NodeKindError'
  readonly actual: string

  constructor(message: string, actual: string) {
    super(message)
    this.actual = actual
  }
}

/** The same error with a sentence in front, as Go programs wrap them. */
export function wrapError(caught: unknown, prefix: string): Error {
  const message = `${prefix}: ${messageOf(caught)}`
  if (caught instanceof NodeKindError) return new NodeKindError(message, caught.actual)
  return new KustomizeError(message, { cause: caught })
}

/** Runs a step; what it throws gets the sentence in front. */
export function inContext<T>(prefix: string | (() => string), step: () => T): T {
  try {
    return step()
  } catch (caught) {
    throw wrapError(caught, typeof prefix === 'string' ? prefix : prefix())
  }
}

/** The message of an error; for YAML errors the message of Go's library. */
export function messageOf(caught: unknown): string {
  if (!(caught instanceof Error)) return String(caught)
  const { goMessage } = caught as { goMessage?: unknown }
  return typeof goMessage === 'string' ? goMessage : caught.message
}
