/** What ends with each signal. */
const endings = new WeakMap<AbortSignal, Set<AbortController>>()

/**
 * Aborts a controller with a signal, until the answer is called. For signals that outlive thousands of controllers: a
 * signal looks through all its listeners for one that goes, and AbortSignal.any makes a dozen objects for each.
 */
export function abortWith(signal: AbortSignal, controller: AbortController): () => void {
  if (signal.aborted) controller.abort(signal.reason)
  const ending = endings.get(signal) ?? new Set()
  if (!endings.has(signal)) {
    endings.set(signal, ending)
    signal.addEventListener('abort', () => abortAll(ending, signal), { once: true })
  }
  ending.add(controller)
  return () => ending.delete(controller)
}

function abortAll(controllers: Set<AbortController>, signal: AbortSignal): void {
  for (const controller of controllers) controller.abort(signal.reason)
  controllers.clear()
}
