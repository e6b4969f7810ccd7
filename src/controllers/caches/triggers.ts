/** Looking again at exactly what a change concerns: triggers that compare an object before and after. */
import type { Change } from '../../client/cache.ts'
import type { Informer } from '../../client/informer.ts'
import type { Controller, Watch } from '../../engine/controller.ts'
import { watchOf } from '../../engine/controller.ts'
import type { KubeObject } from '../../kinds/meta.ts'

/** Which keys of a controller a change of another kind concerns. */
export interface Trigger {
  /** Waits for the cache without hearing its changes. */
  readonly watch: Watch
  subscribe(enqueue: (key: string) => void): () => void
}

/** A trigger on a kind; `keysFor` sees the object before and after, so that irrelevant changes cost nothing. */
export function triggerOn<T extends KubeObject>(
  informer: Informer<T>,
  keysFor: (change: Change<T>) => Iterable<string>,
): Trigger {
  return {
    watch: watchOf(informer, () => []),
    subscribe: (enqueue) =>
      informer.onChange((change) => {
        for (const key of keysFor(change)) enqueue(key)
      }),
  }
}

/** A controller that also listens to triggers while it runs. */
export function withTriggers(controller: Controller, triggers: readonly Trigger[]): Controller {
  return {
    ...controller,
    run: async (signal) => {
      const stops = triggers.map((trigger) => trigger.subscribe(controller.enqueue))
      try {
        await controller.run(signal)
      } finally {
        for (const stop of stops) stop()
      }
    },
  }
}
