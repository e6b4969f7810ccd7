/**
 * Triggers: how a change of an object becomes keys in a controller's queue. A controller's own kind needs none; each
 * other kind that a reconcile function reads has one.
 */
import type { Change } from '../client/cache.ts'
import type { Informer } from '../client/informer.ts'
import type { KubeObject } from '../kinds/meta.ts'

/**
 * A source of keys for a controller, besides the changes of its own kind.
 *
 * @example
 * const triggers = [
 *   // A Bundle's content depends on its Overrides.
 *   triggerOnObject(caches.overrides, ({ metadata, spec }) => [`${metadata.namespace}/${spec.bundle}`]),
 *   // Only a new artifact concerns Bundles; the other fields of a Source's status change with every poll.
 *   triggerOn(caches.sources, ({ key, before, after }) =>
 *     before?.status?.artifact?.digest === after?.status?.artifact?.digest ? [] : bundlesOfSource(key),
 *   ),
 * ]
 */
export interface Trigger {
  /** The cache that must be complete before the controller's first pass. */
  readonly informer?: Pick<Informer<KubeObject>, 'whenSynced'>
  /** Begins to feed keys to the queue; returns how to stop. */
  subscribe(enqueue: (key: string) => void): () => void
}

/**
 * A trigger on the changes of a kind; `keysFor` compares the object before and after, so that most changes cost no
 * pass.
 */
export function triggerOn<T extends KubeObject>(
  informer: Informer<T>,
  keysFor: (change: Change<T>) => Iterable<string>,
): Trigger {
  return {
    informer,
    subscribe: (enqueue) =>
      informer.onChange((change) => {
        for (const key of keysFor(change)) enqueue(key)
      }),
  }
}

/** A trigger on the objects of a kind, whatever changed; `keysFor` is called with the object before and after. */
export function triggerOnObject<T extends KubeObject>(
  informer: Informer<T>,
  keysFor: (object: T) => Iterable<string>,
): Trigger {
  return triggerOn(informer, function* ({ before, after }) {
    if (before) yield* keysFor(before)
    if (after) yield* keysFor(after)
  })
}
